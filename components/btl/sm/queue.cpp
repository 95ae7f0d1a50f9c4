// SPDX-License-Identifier: BSD-3-Clause
// Packets through the receive queue of their receiver.
#include "components/btl/sm/module.h"
#include "core/base/out_of_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace patchbay::btl::sm {

namespace {
// What one receiver may hold, so that one that does not poll leaves the others their share.
constexpr unsigned most_cells = 8;
constexpr unsigned most_blocks = 4;
// Packets delivered from the queue in one poll.
constexpr int packets_per_poll = 64;
// Polls after which a packet to a process that holds no block is sent although the limit of memory is reached: the
// processes that hold the memory may compute for long, and others wait for this packet.
constexpr unsigned polls_until_growth = 32;
} // namespace

SendCode SmModule::send_queued(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
    std::size_t payload_size) noexcept {
    Cells::Taken taken;
    const bool in_block = header_size + payload_size > Cell::room;
    if (SendCode code = take_cell(to, in_block ? payload_size : 0, taken); code != SendCode::ok) {
        return code;
    }
    Cell& cell = *taken.cell;
    cell.header_size = std::uint8_t(header_size);
    cell.payload_size = std::uint32_t(payload_size);
    copy_short(cell.data, header, header_size);
    common::copy_any(cell.payload(), payload, payload_size);
    push(to, taken);
    return SendCode::ok;
}

Module::Reservation SmModule::reserve_queued(
    SmEndpoint& to, std::size_t header_size, std::size_t payload_size) noexcept {
    const std::size_t size = std::min(payload_size, _limits.packet);
    const bool in_block = header_size + size > Cell::room;
    if (SendCode code = take_cell(to, in_block ? size : 0, to.reserved); code != SendCode::ok) {
        return {code, {}};
    }
    to.reserved.cell->header_size = std::uint8_t(header_size);
    return {SendCode::ok, {to.reserved.cell->payload(), size}};
}

void SmModule::commit_queued(
    SmEndpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
    const Cells::Taken taken = std::exchange(to.reserved, {});
    taken.cell->payload_size = std::uint32_t(payload_size);
    copy_short(taken.cell->data, header, header_size);
    push(to, taken);
}

SendCode SmModule::take_cell(SmEndpoint& to, std::size_t in_block, Cells::Taken& taken) noexcept {
    using Code = Cells::Taken::Code;
    taken = try_to_take(to, in_block);
    if (taken.code == Code::none_free) {
        // Receivers see the wish, or what they have returned before that is seen here. The wish remains until a poll
        // after which nothing was refused: a cell that comes back is for any of the packets that wait.
        _port->wants_cells.store(1, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        _refused = true;
        _attention = true;
        if (_cells->reclaim()) {
            taken = try_to_take(to, in_block);
        }
    }
    if (taken.cell == nullptr) {
        const bool none_free = taken.code == Code::none_free;
        taken = {};
        _starving = _starving || (none_free && in_block != 0 && to.blocks_out == 0);
        return none_free ? SendCode::full : SendCode::failed;
    }
    ++(in_block != 0 ? to.blocks_out : to.cells_out);
    taken.cell->kind = Cell::Kind::packet;
    taken.cell->from = _node.slot();
    taken.cell->to = to.slot;
    return SendCode::ok;
}

Cells::Taken SmModule::try_to_take(SmEndpoint& to, std::size_t in_block) noexcept {
    if (in_block == 0) {
        const bool room = to.cells_out < most_cells || (_cells->reclaim() && to.cells_out < most_cells);
        return room ? _cells->take(0, false) : Cells::Taken{};
    }
    if (to.blocks_out >= most_blocks && !(_cells->reclaim() && to.blocks_out < most_blocks)) {
        return {};
    }
    const bool grow = to.blocks_out == 0 && _patience >= polls_until_growth;
    const Cells::Taken taken = _cells->take(in_block, grow);
    if (grow && taken.cell != nullptr) {
        _patience = 0;
    }
    return taken;
}

void SmModule::push(SmEndpoint& to, const Cells::Taken& taken) noexcept {
    to.port.arrived.add(*taken.cell, taken.address);
    to.control.bell.notify();
    count_towards_ring(to); // behind this packet: a ring begins after what is in the queue
}

void SmModule::on_returned(const Cell& cell) noexcept {
    // null: an earlier library generation sent it.
    SmEndpoint* to = cell.to < _endpoints.size() ? _endpoints[cell.to].get() : nullptr;
    if (to != nullptr) {
        std::uint16_t& out = cell.has_block() ? to->blocks_out : to->cells_out;
        out = std::uint16_t(out - (out > 0));
    }
}

int SmModule::poll_slowly() noexcept {
    int events = deliver_queue();
    if (_starving) {
        _starving = false; // unless the same packet is tried, and refused, again
        ++_patience;
        events = std::max(events, 1); // to be polled again soon, rather than slept
    } else {
        _patience = 0;
    }
    if (!std::exchange(_refused, false)) {
        _port->wants_cells.store(0, std::memory_order_relaxed);
    }
    _attention = _port->pending != 0 || _port->unordered != 0 || _starving ||
        _port->wants_cells.load(std::memory_order_relaxed) != 0;
    return events;
}

int SmModule::deliver_queue() noexcept {
    int delivered = 0;
    for (int taken = 0; taken < packets_per_poll; ++taken) {
        if (_port->pending == 0 && _port->unordered == 0) {
            if (_port->arrived.empty()) {
                break;
            }
            _port->unordered = _port->arrived.take_all();
        }
        if (!put_in_order()) {
            break;
        }
        const SharedAddress address = _port->pending;
        auto* cell = reinterpret_cast<Cell*>(_node.heap().at(address));
        if (cell == nullptr || !deliver_cell(*cell, address, delivered)) {
            break;
        }
    }
    return delivered;
}

// Once: it is tried again in every poll.
void SmModule::report_unmapped(const Error& error) noexcept {
    if (!std::exchange(_mapping_reported, true)) {
        report("a packet that has arrived cannot be received yet", error);
    }
}

// The last cell that was added comes first in the list. false: a cell cannot be mapped; a later poll goes on.
bool SmModule::put_in_order() noexcept {
    while (_port->unordered != 0) {
        auto* cell = reinterpret_cast<Cell*>(_node.heap().at(_port->unordered));
        if (cell == nullptr) {
            unless_out_of_memory(false, [&] {
                if (auto mapped = _node.heap().map_block(_port->unordered); !mapped) {
                    report_unmapped(mapped.error());
                }
                return true;
            });
            return false;
        }
        const SharedAddress following = cell->next;
        cell->next = _port->pending;
        _port->pending = std::exchange(_port->unordered, following);
    }
    return true;
}

// false: no memory; the cell remains the next one.
bool SmModule::deliver_cell(Cell& cell, SharedAddress address, int& delivered) noexcept {
    SmEndpoint* from = unless_out_of_memory(static_cast<SmEndpoint*>(nullptr), [&]() -> SmEndpoint* {
        Result<SmEndpoint*> found = find_endpoint(cell.from);
        if (found) {
            return *found;
        }
        report_unmapped(found.error());
        return nullptr;
    });
    if (from == nullptr) {
        return false;
    }
    SharedAddress ring = 0;
    std::memcpy(&ring, cell.data, sizeof ring);
    if (cell.kind == Cell::Kind::ring_opened && !accept_ring(*from, ring)) {
        return false;
    }
    _port->pending = cell.next;
    if (cell.kind == Cell::Kind::packet) {
        ++delivered;
        _receiver(_context, *from, cell.data, cell.header_size, cell.payload(), cell.payload_size);
    } else if (cell.kind == Cell::Kind::ring_closed) {
        drop_ring(*from);
    }
    from->port.returned.add(cell, address);
    if (from->port.wants_cells.load(std::memory_order_seq_cst) != 0) {
        from->control.bell.notify();
    }
    return true;
}

} // namespace patchbay::btl::sm
