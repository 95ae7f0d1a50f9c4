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
    if (SendCode code = take_cell(to, in_block ? payload_size : 0, taken); code != SendCode::ok) [[unlikely]] {
        return code;
    }
    Cell& cell = *taken.cell;
    cell.header_size = std::uint8_t(header_size);
    cell.payload_size = std::uint32_t(payload_size);
    copy_short(cell.data, header, header_size);
    if (in_block) {
        to.payload_copy.copy(cell.payload(), static_cast<const std::byte*>(payload), payload_size);
    } else {
        copy_short(cell.data + header_size, payload, payload_size);
    }
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
    std::byte* room = to.reserved.cell->payload();
    return {SendCode::ok, {in_block ? place_to_pack(to, room, size) : room, size}};
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
    taken = in_block == 0 && to.cells_out < most_cells ? _cells->take_free() : Cells::Taken{};
    if (taken.cell == nullptr) {
        taken = try_to_take(to, in_block);
    }
    if (taken.code == Code::none_free) {
        // Receivers see the request, or what they have returned before that is seen here. The request remains until a
        // poll after which nothing was refused: a cell that comes back is for any of the packets that wait.
        _port->wants_cells.store(1, std::memory_order_seq_cst);
        _wants_cells = true;
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
        return none_free ? SendCode::full : SendCode::no_memory;
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
    // Only when need be, because the line is one that receivers write to.
    if (!std::exchange(_refused, false) && std::exchange(_wants_cells, false)) [[unlikely]] {
        _port->wants_cells.store(0, std::memory_order_relaxed);
    }
    if (_cells->beyond_limit()) {
        _cells->reclaim(); // what comes back goes back to the heap, also if this process sends nothing more
    }
    _attention = _port->pending != 0 || _port->unordered != 0 || _cells->beyond_limit() || _wants_cells;
    return events;
}

// Returns the packets delivered, and counts those that the receiver has not taken, and cells that have to wait for
// memory: the process must not sleep while there are such.
int SmModule::deliver_queue() noexcept {
    int delivered = 0;
    int waiting = 0;
    _stuck = false;
    SharedAddress* link = &_port->pending; // all cells before it wait for memory
    while (delivered < packets_per_poll) {
        if (*link == 0) {
            *link = next_cells();
        }
        Cell* cell = *link == 0 ? nullptr : cell_at(*link);
        if (cell == nullptr) {
            break;
        }
        const SharedAddress address = *link;
        const SharedAddress following = cell->next;
        if ((waiting == 0 || !_held.test(cell->from)) && deliver_cell(*cell, address)) [[likely]] {
            *link = following;
            ++delivered;
        } else {
            _held.set(cell->from); // all later cells of this sender stay with it
            link = &cell->next;
            ++waiting;
        }
    }
    if (waiting > 0) [[unlikely]] {
        _held.reset();
    }
    return delivered + waiting + int(_stuck);
}

// The cells that were added last, in order; 0: none, or some cannot be mapped, which a later poll tries again. The last
// one that was added comes first in the list.
SharedAddress SmModule::next_cells() noexcept {
    if (_port->unordered == 0) {
        if (_port->arrived.empty()) {
            return 0;
        }
        _port->unordered = _port->arrived.take_all();
    }
    while (_port->unordered != 0) {
        Cell* cell = cell_at(_port->unordered);
        if (cell == nullptr) {
            return 0;
        }
        const SharedAddress following = cell->next;
        cell->next = _port->ordered;
        _port->ordered = std::exchange(_port->unordered, following);
    }
    return std::exchange(_port->ordered, 0);
}

Cell* SmModule::cannot_map(SharedAddress address) noexcept {
    _stuck = true;
    unless_out_of_memory(false, [&] {
        if (auto mapped = _heap.map_block(address); !mapped) {
            report_unmapped(mapped.error());
        }
        return true;
    });
    return nullptr;
}

void SmModule::report_unmapped(const Error& error) noexcept {
    unless_out_of_memory(false, [&] {
        _unmapped.error("btl/sm: a packet that has arrived cannot be received yet: " + error.text);
        return true;
    });
}

SmEndpoint* SmModule::first_contact(const Cell& cell) noexcept {
    return unless_out_of_memory(static_cast<SmEndpoint*>(nullptr), [&]() -> SmEndpoint* {
        Result<SmEndpoint*> found = find_endpoint(cell.from);
        if (found) {
            return *found;
        }
        report_unmapped(found.error());
        return nullptr;
    });
}

// false: it has to wait for memory.
bool SmModule::deliver_cell(Cell& cell, SharedAddress address) noexcept {
    SmEndpoint* from = sender_of(cell);
    bool done = from != nullptr;
    if (done && cell.kind == Cell::Kind::packet) [[likely]] {
        done = _receiver(_context, *from, cell.data, cell.header_size, cell.payload(), cell.payload_size);
    } else if (done && cell.kind == Cell::Kind::ring_opened) {
        SharedAddress ring = 0;
        std::memcpy(&ring, cell.data, sizeof ring);
        done = accept_ring(*from, ring);
    } else if (done) {
        drop_ring(*from);
    }
    if (!done) [[unlikely]] {
        return false;
    }
    from->port.returned.add(cell, address);
    if (from->port.wants_cells.load(std::memory_order_seq_cst) != 0) {
        from->control.bell.notify();
    }
    return true;
}

} // namespace patchbay::btl::sm
