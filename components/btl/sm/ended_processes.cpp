// SPDX-License-Identifier: BSD-3-Clause
// Processes of other jobs that have ended: their endpoints, and their slots with all memory that belongs to them.
//
// A slot is released when its process has ended in good order and no living process may look at its memory any more. A
// process sets its bit for a slot in `contacts` of its port when it makes an endpoint, before the first packet. When
// the process in the slot has ended, and has been forgotten, it takes the bit away, and also its own bit in `contacts`
// of the other one, whose packets it has received by then. Slots between which there is a bit are released together:
// the queue of the one may contain cells of the other. A process that failed keeps its slot.
#include "components/btl/sm/module.h"
#include "core/base/out_of_memory.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace patchbay::btl::sm {

// 0: it has not begun yet.
bool SmModule::may_answer(Endpoint& peer) noexcept {
    const std::uint32_t life = static_cast<SmEndpoint&>(peer).port.life.load(std::memory_order_acquire);
    return life == 0 || life % 2 != 0;
}

// After the end of the library there, an even number of lives, and of the process. Its pid may be that of another
// process now; then the slot waits until that one has ended.
bool SmModule::has_ended(const RankControl& control, const Port& port) const noexcept {
    const std::uint32_t life = port.life.load(std::memory_order_acquire);
    const pid_t pid = control.pid.load(std::memory_order_relaxed);
    const std::uint64_t space = port.pid_space.load(std::memory_order_relaxed);
    return life != 0 && life % 2 == 0 && pid > 0 && control.attached.load(std::memory_order_acquire) == 0 &&
        space != 0 && space == _port->pid_space.load(std::memory_order_relaxed) && kill(pid, 0) != 0 && errno == ESRCH;
}

// Whether nothing comes from the peer any more, and nothing is half sent to it.
bool SmModule::is_over(const SmEndpoint& peer) const noexcept {
    return has_ended(peer.control, peer.port) && peer.reserved.cell == nullptr &&
        peer.reserved_in_ring == SmEndpoint::Reserved::nothing &&
        std::ranges::none_of(
            _inbound, [&](const Inbound& inbound) { return inbound.from == &peer && !inbound.ring.is_empty(); });
}

bool SmModule::has_ended(JobNumber job) noexcept {
    return std::ranges::all_of(_endpoints,
               [&](const auto& endpoint) {
                   return endpoint == nullptr || endpoint->process.job != job || is_over(*endpoint);
               }) &&
        queue_is_empty(); // looked at last: what the processes sent before they ended has been there
}

void SmModule::forget(JobNumber job) noexcept {
    unless_out_of_memory(false, [&] {
        for (const auto& endpoint : _endpoints) {
            if (endpoint != nullptr && endpoint->process.job == job) {
                leave(endpoint->slot, endpoint->port);
            }
        }
        if (std::erase(_held_jobs, job) != 0) {
            _jobs.end_hold(job);
        }
        release_slots();
        return true;
    });
}

// Lets go of what this process has of the one that had the slot, and of what it had sent there.
void SmModule::leave(std::uint32_t slot, Port& port) {
    _cells->reclaim(); // what it has returned counts for this endpoint, and not for a later one with this slot
    if (slot < _endpoints.size() && _endpoints[slot] != nullptr) {
        drop_ring(*_endpoints[slot]);
        _endpoints[slot].reset();
    }
    for (Port::Ring& ring : _port->out) { // also that of an earlier library generation of this process
        if (ring.address != 0 && ring.peer == slot) {
            _heap.free(ring.address);
            ring = {};
        }
    }
    // Under the lock of the segment, because other processes may do the same.
    static_cast<void>(_node.once(port.is_emptied, [&] {
        collect_cells(port);
        return Status();
    }));
    _cells->recover(port.arrived);
    port.clear_contact(_node.slot());
    _port->clear_contact(slot);
}

// Cells that the process had taken from its receive queue, and not delivered, go back there, one by one: a process that
// fails here has lost one of them.
void SmModule::collect_cells(Port& port) noexcept {
    for (SharedAddress* list : {&port.pending, &port.unordered, &port.ordered}) {
        while (Cell* cell = *list == 0 ? nullptr : reinterpret_cast<Cell*>(_heap.at(*list))) {
            const SharedAddress address = std::exchange(*list, cell->next);
            port.arrived.add(*cell, address);
        }
    }
}

// The slots that are allotted; none, if one cannot be mapped now.
std::vector<SmModule::Place> SmModule::places() {
    std::vector<Place> found;
    for (std::uint32_t slot = 0; slot < _node.slots(); ++slot) {
        RankControl* control = _node.find_control(slot);
        if (control == nullptr || control->allotted.load(std::memory_order_acquire) == 0) {
            continue;
        }
        Result<Port*> port = port_of(slot);
        if (!port) {
            return {};
        }
        found.push_back({slot, control, *port, control->key, has_ended(*control, **port)});
    }
    return found;
}

// Processes that have an endpoint to this one, or to which an earlier library generation of this one had an endpoint.
void SmModule::leave_strangers(const std::vector<Place>& all) {
    for (const Place& place : all) {
        const bool is_known = place.slot < _endpoints.size() && _endpoints[place.slot] != nullptr;
        const bool has_contact = _port->has_contact(place.slot) || place.port->has_contact(_node.slot());
        if (place.is_free && !is_known && has_contact && queue_is_empty()) {
            leave(place.slot, *place.port);
        }
    }
}

void SmModule::release_slots() {
    std::vector<Place> all = places();
    leave_strangers(all);
    const auto touch = [](const Place& a, const Place& b) {
        return a.port->has_contact(b.slot) || b.port->has_contact(a.slot);
    };
    const auto keeps_another = [&](const Place& place) {
        return !place.is_free && std::ranges::any_of(all, [&](Place& other) {
            const bool kept = other.is_free && touch(place, other);
            other.is_free = other.is_free && !kept;
            return kept;
        });
    };
    while (std::ranges::any_of(all, keeps_another)) {
    }
    for (const Place& place : all) {
        if (place.is_free) {
            _node.release_if(place.slot, place.key, [&] {
                return std::ranges::none_of(
                    all, [&](const Place& other) { return !other.is_free && other.port->has_contact(place.slot); });
            });
        }
    }
}

} // namespace patchbay::btl::sm
