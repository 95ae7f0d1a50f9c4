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
// Polls without a returned cell after which a packet to a process that holds none is sent although the limit of memory
// is reached: receivers may compute for long, and others wait for this packet.
constexpr unsigned polls_until_growth = 16;
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
    std::uint16_t& out = in_block != 0 ? to.blocks_out : to.cells_out;
    const unsigned most = in_block != 0 ? most_blocks : most_cells;
    if (out >= most && (!_cells->reclaim() || out >= most)) {
        _port->wants_cells.store(1, std::memory_order_seq_cst);
        return SendCode::full;
    }
    const bool alone = to.blocks_out == 0;
    const Cells::Taken found = _cells->take(in_block, alone && _patience >= polls_until_growth);
    if (found.cell == nullptr) {
        taken = {};
        if (found.code == Cells::Taken::Code::out_of_memory) {
            return SendCode::failed;
        }
        _port->wants_cells.store(1, std::memory_order_seq_cst);
        if (alone) {
            _starving = true;
            _attention = true;
        }
        return SendCode::full;
    }
    if (in_block != 0) {
        _patience = 0;
    }
    ++out;
    taken = found;
    found.cell->kind = Cell::Kind::packet;
    found.cell->from = _node.slot();
    found.cell->to = to.slot;
    return SendCode::ok;
}

void SmModule::push(SmEndpoint& to, const Cells::Taken& taken) noexcept {
    to.port.arrived.add(*taken.cell, taken.address);
    to.control.bell.notify();
    count_towards_ring(to); // behind this packet: a ring begins after what is in the queue
}

void SmModule::on_returned(const Cell& cell) noexcept {
    if (cell.has_block()) {
        _patience = 0;
    }
    _port->wants_cells.store(0, std::memory_order_relaxed);
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
    }
    _attention = _port->pending != 0 || _port->unordered != 0 || _starving;
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
