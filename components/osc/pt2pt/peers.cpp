// SPDX-License-Identifier: BSD-3-Clause
// The other processes of a window, and their failure.
#include "components/osc/pt2pt/module.h"
#include "object/error_cause.h"

#include <new>

namespace patchbay::osc::pt2pt {

Peer& Pt2pt::peer_of(int rank) {
    std::unique_ptr<Peer>& peer = _peers[std::size_t(rank)];
    if (!peer) {
        peer = std::make_unique<Peer>(*this, rank, _progress, [](ReadyItem& item) noexcept {
            auto& ended = static_cast<Watch&>(item);
            ended.module.watch_ended(ended);
        });
    }
    return *peer;
}

Peer* Pt2pt::find_peer(int rank) noexcept {
    try {
        return &peer_of(rank);
    } catch (const std::bad_alloc&) {
        note_cause(MPI_ERR_NO_MEM, "osc/pt2pt: no memory for a process of the window");
        return nullptr;
    }
}

// A receive from MPI_ANY_SOURCE does not end when a process fails; this one does.
void Pt2pt::watch(Peer& peer) noexcept {
    Watch& watch = peer.watch;
    if (peer.failed || watch.request != nullptr || peer.rank == _window.rank) {
        return;
    }
    if (_pml.irecv(nullptr, 0, _byte, peer.rank, watch_tag, _comm, &watch.request) != MPI_SUCCESS) {
        watch.request = nullptr; // the failure of the peer stays unknown until a message to it fails
        return;
    }
    ++_under_way;
    watch.open();
    static_cast<void>(watch.request->attach(watch));
    if (watch.close()) {
        watch.post(); // the caller looks at the peer
    }
}

// This process itself needs no watch, and may have the lock without having a Peer.
void Pt2pt::watch_lock_users() noexcept {
    _locks.for_each_user([this](int rank) {
        if (rank != _window.rank) {
            watch(*_peers[std::size_t(rank)]);
        }
    });
}

void Pt2pt::watch_ended(Watch& watch) noexcept {
    const Guard guard(_lock);
    const bool failed = watch.request->error != MPI_SUCCESS;
    watch.request->recycle();
    watch.request = nullptr;
    if (failed) {
        fail(watch.peer);
    }
    --_under_way;
}

// Ends what waits for this process. Messages to and from it end by themselves.
void Pt2pt::fail(Peer& peer) noexcept {
    if (peer.failed) {
        return;
    }
    peer.failed = true;
    peer.error = MPI_ERR_PROC_ABORTED;
    for (Operation* operation = peer.operations.first(); operation != nullptr;) {
        Operation* next = decltype(peer.operations)::next(*operation);
        if (operation->awaits_result) {
            operation->awaits_result = false;
            operation->error = MPI_ERR_PROC_ABORTED;
            if (operation->attached) {
                operation->count_down();
            } else {
                end_operation(*operation);
            }
        }
        operation = next;
    }
    try {
        fail_in_lock(peer.rank);
        advance_all();
    } catch (const std::bad_alloc&) {
        out_of_memory();
    }
}

int Pt2pt::report_refused_lock() noexcept {
    return note_cause(MPI_ERR_PROC_ABORTED,
        "a process has failed that has the lock of the target, or waits for it in front of this one");
}

// The error of an operation is returned once; that of a failed process by each call, and that of a refused lock by each
// call until it would be given back.
int Pt2pt::take_error(Peer& peer) noexcept {
    if (peer.failed) {
        return note_cause(MPI_ERR_PROC_ABORTED, "a process of the window has failed");
    }
    const int code = std::exchange(peer.error, MPI_SUCCESS);
    if (peer.lock_refused) {
        return report_refused_lock();
    }
    if (code == MPI_ERR_RMA_RANGE) {
        return note_cause(code, "the target reports that an operation accesses memory that is not exposed there");
    }
    return code == MPI_SUCCESS ? code : note_cause(code, "the target reports that an operation has failed");
}

} // namespace patchbay::osc::pt2pt
