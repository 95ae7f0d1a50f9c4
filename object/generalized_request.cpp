// SPDX-License-Identifier: BSD-3-Clause
#include "object/generalized_request.h"

#include "core/progress/progress.h"

namespace patchbay {

GeneralizedRequest::GeneralizedRequest(Progress& waits, MPI_Grequest_query_function* query,
    MPI_Grequest_free_function* free, MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept
    : _query(query),
      _free(free),
      _cancel(cancel),
      _extra_state(extra_state) {
    progress = &waits;
    set_state(State::active);
}

int GeneralizedRequest::cancel() noexcept {
    return _cancel == nullptr ? MPI_SUCCESS : _cancel(_extra_state, is_complete() ? 1 : 0);
}

int GeneralizedRequest::finish(MPI_Status* result) noexcept {
    return _query == nullptr ? MPI_SUCCESS : _query(_extra_state, result);
}

// As soon as the state is `complete`, another thread may complete the request and run the free callback; if the handle
// has been released, no other thread can.
int GeneralizedRequest::mark_complete() noexcept {
    Progress& waits = *progress;
    set_state(State::complete);
    const bool handle_is_gone = _first.exchange(First::completion) == First::handle;
    const int code = handle_is_gone ? run_free() : MPI_SUCCESS;
    drop_reference();
    waits.wake();
    return code;
}

int GeneralizedRequest::release() noexcept {
    const bool complete = is_complete() || _first.exchange(First::handle) == First::completion;
    const int code = complete ? run_free() : MPI_SUCCESS;
    drop_reference();
    return code;
}

void GeneralizedRequest::drop_reference() noexcept {
    if (_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete this;
    }
}

} // namespace patchbay
