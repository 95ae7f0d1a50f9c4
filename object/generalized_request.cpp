// SPDX-License-Identifier: BSD-3-Clause
#include "object/generalized_request.h"

#include "core/progress/progress.h"
#include "object/origins.h"

namespace patchbay {

GeneralizedRequest::GeneralizedRequest(Progress& waits, MPI_Grequest_query_function* query,
    MPI_Grequest_free_function* free, MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept
    : _query(query),
      _free(free),
      _cancel(cancel),
      _extra_state(extra_state) {
    progress = &waits;
    calls_back = true;
    set_active();
}

int GeneralizedRequest::cancel() noexcept {
    return _cancel == nullptr ? MPI_SUCCESS : _cancel(_extra_state, is_complete() ? 1 : 0);
}

int GeneralizedRequest::finish(MPI_Status* result) noexcept {
    return _query == nullptr ? MPI_SUCCESS : _query(_extra_state, result);
}

void GeneralizedRequest::prepare_release() noexcept {
    if (Origins* const origins = Origins::active()) {
        origins->remove(to_handle<Request>(this));
    }
}

// As soon as the request is complete, another thread may wait for it and release it.
int GeneralizedRequest::mark_complete() noexcept {
    Progress& waits = *progress;
    const int code = complete_outside();
    waits.wake();
    return code;
}

int GeneralizedRequest::retire() noexcept {
    prepare_release();
    const int code = _free == nullptr ? MPI_SUCCESS : _free(_extra_state);
    delete this;
    return code;
}

} // namespace patchbay
