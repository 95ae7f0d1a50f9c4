// SPDX-License-Identifier: BSD-3-Clause
// What ends when another process has failed, or has ended.
#include "components/pml/ob1/module.h"

#include "core/runtime/runtime.h"

namespace patchbay::pml::ob1 {

void Ob1::end_with(ProcessId failed) noexcept {
    Peer* peer = _peers.find(failed);
    if (peer == nullptr) {
        _runtime.abort(MPI_ERR_NO_MEM, "pml/ob1: out of memory for the end of a process");
    }
    _peers.note_failed(*peer);
    _backlog.drop(*peer);
    fail_sends(*peer);
    _rendezvous.fail(*peer);
    fail_receives(failed);
}

void Ob1::fail_sends(const Peer& peer) noexcept {
    _sends.for_each([&](SendRequest& send) {
        if (send.peer == &peer && !send.is_complete()) {
            _sends.fail(send);
        }
    });
}

// The posted receives from this process on all communicators. Those from MPI_ANY_SOURCE stay: another process may send
// the message.
void Ob1::fail_receives(ProcessId process) noexcept {
    _matching.for_each([process](CommState& state) {
        const int source = state.has_table() ? state.comm.remote_group->rank_of(process) : MPI_UNDEFINED;
        while (RecvRequest* request = source == MPI_UNDEFINED ? nullptr : state.take_posted(source)) {
            fill_status(request->status, source, request->tag, 0);
            request->error = MPI_ERR_PROC_ABORTED;
            request->complete();
        }
    });
}

// A message of one of these processes that waits for its communicator refers to its Peer.
bool Ob1::may_forget(JobNumber job) noexcept {
    return _peers.all_of(job, [](const Peer& peer) { return peer.streams.empty() && peer.unexpected_bytes == 0; });
}

void Ob1::forget(JobNumber job) noexcept {
    _peers.erase(job, [this](Peer& peer) { _backlog.drop(peer); });
}

} // namespace patchbay::pml::ob1
