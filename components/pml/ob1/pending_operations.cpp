// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/pending_operations.h"

#include "components/pml/ob1/flow_control.h"

namespace patchbay::pml::ob1 {

namespace {

void fail_receives(CommState& state, int source, int code) noexcept {
    while (RecvRequest* request = state.take_posted(source)) {
        fill_empty_status(request->status);
        request->error = code;
        request->complete();
    }
}

} // namespace

void PendingOperations::fail(CommState& state, int code) const noexcept {
    fail_receives(state, MPI_ANY_SOURCE, code);
    for (int rank = 0; state.has_table() && rank < state.comm.remote_size; ++rank) {
        fail_receives(state, rank, code);
    }
    _sends.fail_queued(state.comm, code);
    while (Unexpected* message = state.earliest()) {
        state.remove(*message);
        _backlog.reject(*message->from, message->match.type, message->request, code, state.session);
        _flow.release(*message);
    }
}

} // namespace patchbay::pml::ob1
