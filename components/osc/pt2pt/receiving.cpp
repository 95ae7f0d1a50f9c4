// SPDX-License-Identifier: BSD-3-Clause
// Control messages from other processes.
#include "components/osc/pt2pt/module.h"
#include "core/runtime/runtime.h"

#include <cstring>
#include <new>

namespace patchbay::osc::pt2pt {

namespace {
// How many messages are handled before other work of the process makes progress.
constexpr int messages_per_poll = 32;
}

int Pt2pt::begin(int count) {
    const Guard guard(_lock);
    const std::size_t bytes = sizeof(Header) + _agreed.inline_bytes;
    _receiver.slots.resize(std::size_t(count));
    for (Slot& slot : _receiver.slots) {
        slot.memory.reset(new std::byte[bytes]);
        const int code = _pml.recv_init(
            slot.memory.get(), MPI_Count(bytes), _byte, MPI_ANY_SOURCE, control_tag, _comm, &slot.request);
        if (code != MPI_SUCCESS) {
            slot.request = nullptr;
            return code;
        }
    }
    for (Slot& slot : _receiver.slots) {
        if (const int code = slot.request->start(); code != MPI_SUCCESS) {
            return code;
        }
    }
    _receiver.ended = false;
    _receiver.post();
    return MPI_SUCCESS;
}

// Messages match the receives in the order in which these were started, and the messages of one process in the order in
// which it has sent them. They may be complete in another order, so that they are handled in the order of the receives.
void Pt2pt::receive() noexcept {
    const Guard guard(_lock);
    try {
        for (int handled = 0; handled < messages_per_poll && !_receiver.ending;) {
            Slot& slot = _receiver.slots[_receiver.next];
            if (slot.request->is_complete()) {
                handle(slot);
                slot.request->end_start();
                if (slot.request->start() != MPI_SUCCESS) {
                    out_of_memory();
                }
                _receiver.next = (_receiver.next + 1) % _receiver.slots.size();
                ++handled;
                continue;
            }
            _receiver.open();
            static_cast<void>(slot.request->attach(_receiver));
            if (!_receiver.close()) {
                return;
            }
        }
    } catch (const std::bad_alloc&) {
        out_of_memory();
    }
    if (_receiver.ending) {
        _receiver.ended = true;
    } else {
        _receiver.post();
    }
}

void Pt2pt::out_of_memory() noexcept {
    _context.runtime().abort(MPI_ERR_NO_MEM, "osc/pt2pt: out of memory for a message of another process");
}

void Pt2pt::handle(const Slot& slot) {
    const Request& request = *slot.request;
    const std::uint64_t bytes = status_bytes(request.status);
    const int source = request.status.MPI_SOURCE;
    if (request.error != MPI_SUCCESS) {
        return; // its sender has failed
    }
    Header header;
    if (bytes < sizeof header || source < 0 || source >= _window.size || source == _window.rank) {
        return;
    }
    std::memcpy(&header, slot.memory.get(), sizeof header);
    if (header.payload == bytes - sizeof header && header.kind < Kind::count && (header.flags & ~all_flags) == 0) {
        handle(peer_of(source), header, slot.memory.get() + sizeof header);
        advance_all();
    }
}

void Pt2pt::handle(Peer& peer, const Header& header, const std::byte* data) {
    if (header.done > peer.done && header.done <= peer.sent) {
        peer.done = header.done;
    }
    switch (header.kind) {
    case Kind::post:
        ++peer.posts;
        return;
    case Kind::acknowledge:
        if (peer.error == MPI_SUCCESS) {
            peer.error = header.error;
        }
        peer.lock_refused = peer.lock_refused || (header.flags & flag_lock_refused) != 0;
        return;
    case Kind::result:
        handle_result(peer, header, data);
        return;
    default:
        handle_numbered(peer, header, data);
    }
}

// Without the lock; other members send nothing to this one any more.
void Pt2pt::end_receiving() noexcept {
    const auto each = [this](const auto& act) {
        for (Slot& slot : _receiver.slots) {
            if (slot.request != nullptr) {
                act(*slot.request);
            }
        }
    };
    {
        const Guard guard(_lock);
        _receiver.ending = true;
        each([](Request& request) {
            if (request.is_active()) {
                request.cancel();
            }
        });
    }
    wait_until(_progress, [&] {
        const Guard guard(_lock);
        bool ended = _receiver.ended;
        each([&](Request& request) { ended = ended && (request.is_complete() || !request.is_active()); });
        return ended;
    });
    each([](Request& request) {
        if (request.is_active()) {
            request.end_start();
        }
        request.recycle();
    });
    _receiver.slots.clear();
}

} // namespace patchbay::osc::pt2pt
