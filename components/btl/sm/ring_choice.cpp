// SPDX-License-Identifier: BSD-3-Clause
// Which pairs have a ring. The packets of a pair stay in order: the ring is announced through the queue, behind the
// packets that are in the queue; it ends when the receiver has read all that was in it, which the sender announces
// through the queue before it sends the next packet there.
#include "components/btl/sm/module.h"
#include "core/base/out_of_memory.h"

#include <algorithm>
#include <cstring>

namespace patchbay::btl::sm {

namespace {
// A pair whose share of the packets of its sender is one in this many gets a ring.
constexpr std::uint32_t share = 8;
// Windows in which a ring was hardly used, after which it is given back.
constexpr unsigned windows_until_end = 4;

void send_ring_cell(
    SmEndpoint& to, const Cells::Taken& taken, Cell::Kind kind, std::uint32_t from, SharedAddress ring) {
    taken.cell->kind = kind;
    taken.cell->from = from;
    taken.cell->to = to.slot;
    taken.cell->header_size = sizeof ring;
    taken.cell->payload_size = 0;
    std::memcpy(taken.cell->data, &ring, sizeof ring);
    to.port.arrived.add(*taken.cell, taken.address);
    to.control.bell.notify();
    ++to.cells_out;
}

// A place among the rings towards this process; false: there are none left.
bool claim_inbound(Port& port) noexcept {
    std::uint32_t count = port.inbound.load(std::memory_order_relaxed);
    do {
        if (count >= Port::most_rings) {
            return false;
        }
    } while (!port.inbound.compare_exchange_weak(count, count + 1, std::memory_order_relaxed));
    return true;
}
} // namespace

std::size_t SmModule::outbound_rings() const noexcept {
    return std::size_t(
        std::count_if(_port->out.begin(), _port->out.end(), [](const Port::Ring& ring) { return ring.address != 0; }));
}

// The entry of that ring; 0: a free entry.
Port::Ring* SmModule::outbound_entry(SharedAddress address) noexcept {
    const auto found = std::find_if(
        _port->out.begin(), _port->out.end(), [address](const Port::Ring& ring) { return ring.address == address; });
    return found == _port->out.end() ? nullptr : &*found;
}

void SmModule::use_ring(SmEndpoint& to, SharedAddress address, std::byte* memory) noexcept {
    to.out = RingSender({memory, _settings.shape}, _settings.shape);
    to.ring = address;
    to.bulk_committed = 0;
    to.head_before = to.out.head();
    to.idle_windows = 0;
    to.flushed.reset();
}

Status SmModule::open_ring(SmEndpoint& to) {
    Port::Ring* entry = outbound_entry(0);
    if (entry == nullptr || !claim_inbound(to.port)) {
        return Error{Errc::not_available, "no more rings"};
    }
    Status made = unless_out_of_memory([&] { return make_ring(to, *entry); });
    if (!made) {
        to.port.inbound.fetch_sub(1, std::memory_order_relaxed);
    }
    return made;
}

Status SmModule::make_ring(SmEndpoint& to, Port::Ring& entry) {
    Result<SharedBlock> ring = _heap.alloc(_settings.shape.bytes(), _node.slot(), SharedHeap::Backing::sparse);
    if (!ring) {
        return ring.error();
    }
    Status taken = _heap.commit(ring->address, 0, _settings.shape.head_bytes());
    const Cells::Taken cell = taken ? _cells->take(0, false) : Cells::Taken{};
    if (cell.cell == nullptr) {
        _heap.free(ring->address);
        return taken ? Status(Error{Errc::out_of_memory, "no cell to announce a ring with"}) : taken;
    }
    entry = {ring->address, to.slot, 0};
    send_ring_cell(to, cell, Cell::Kind::ring_opened, _node.slot(), ring->address);
    use_ring(to, ring->address, ring->bytes.data());
    return {};
}

// A packet has gone through the queue.
void SmModule::count_towards_ring(SmEndpoint& to) noexcept {
    if (_settings.rings == 0) {
        return;
    }
    ++to.recent;
    if (++_window >= share * _settings.ring_after) {
        end_window();
    }
    if (to.recent < _settings.ring_after) [[likely]] {
        return;
    }
    to.recent = 0;
    if (outbound_rings() >= _settings.rings) {
        _wants_ring = true;
        return;
    }
    // Without memory for a ring the queue goes on to do.
    static_cast<void>(open_ring(to));
}

void SmModule::end_window() noexcept {
    _window = 0;
    SmEndpoint* weakest = nullptr;
    std::uint32_t fewest = ~std::uint32_t(0);
    for (const auto& endpoint : _endpoints) {
        if (endpoint == nullptr) {
            continue;
        }
        endpoint->recent = 0;
        if (endpoint->out.is_open() && endpoint->reserved_in_ring == SmEndpoint::Reserved::nothing) {
            const std::uint32_t sent = endpoint->out.head() - endpoint->head_before;
            if (!endpoint->flushed && sent < fewest) {
                weakest = endpoint.get();
                fewest = sent;
            }
            look_at_ring(*endpoint);
        }
    }
    if (std::exchange(_wants_ring, false) && weakest != nullptr && !weakest->flushed && weakest->out.is_open() &&
        fewest < _settings.ring_after / 2 + 1) {
        begin_close(*weakest);
    }
}

void SmModule::look_at_ring(SmEndpoint& to) noexcept {
    const std::uint32_t sent = to.out.head() - to.head_before;
    to.head_before = to.out.head();
    if (to.flushed) {
        if (*to.flushed != to.out.head()) {
            to.flushed.reset(); // in use again
        } else if (to.out.is_empty()) {
            finish_close(to);
        }
        return;
    }
    to.idle_windows = std::uint8_t(sent > _settings.ring_after / 4 ? 0 : to.idle_windows + 1);
    if (to.idle_windows >= windows_until_end) {
        begin_close(to);
    }
}

// What the receiver has read it publishes only now and then, so it is asked to.
void SmModule::begin_close(SmEndpoint& to) noexcept {
    if (to.out.push_flush()) {
        to.flushed = to.head_before = to.out.head();
        to.idle_windows = 0;
        to.control.bell.notify();
    }
}

void SmModule::finish_close(SmEndpoint& to) noexcept {
    const Cells::Taken cell = _cells->take(0, false);
    if (cell.cell == nullptr) {
        return; // the next window tries again
    }
    *outbound_entry(to.ring) = {};
    send_ring_cell(to, cell, Cell::Kind::ring_closed, _node.slot(), to.ring);
    to.out = RingSender();
    to.ring = 0;
    to.flushed.reset();
}

// false: no memory.
bool SmModule::accept_ring(SmEndpoint& from, SharedAddress address) noexcept {
    std::byte* memory = _heap.at(address);
    const auto entry =
        std::find_if(_port->in.begin(), _port->in.end(), [](const Port::Ring& ring) { return ring.address == 0; });
    if (memory == nullptr || entry == _port->in.end()) {
        return false;
    }
    *entry = {address, from.slot, 0};
    _inbound.push_back( // has room
        {RingReceiver({memory, _settings.shape}, _settings.shape, from.control.bell), &from, address});
    return true;
}

void SmModule::drop_ring(SmEndpoint& from) noexcept {
    const auto found =
        std::find_if(_inbound.begin(), _inbound.end(), [&](const Inbound& inbound) { return inbound.from == &from; });
    if (found == _inbound.end()) {
        return;
    }
    const SharedAddress address = found->address;
    _inbound.erase(found);
    for (Port::Ring& ring : _port->in) {
        if (ring.address == address) {
            ring = {};
        }
    }
    _heap.free(address);
    _port->inbound.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace patchbay::btl::sm
