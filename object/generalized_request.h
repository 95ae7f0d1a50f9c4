// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

namespace [[gnu::visibility("default")]] patchbay {

// A generalized request (MPI-5.0, 13.2). It is allocated with new, and deletes itself when the handle has been released
// and the operation is complete. The free callback runs then: in the call that completes the request or, after
// MPI_Request_free of an active one, in MPI_Grequest_complete; that call returns the error code of the callback.
class GeneralizedRequest final : public Request {
public:
    GeneralizedRequest(Progress& waits, MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
        MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept;

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override;
    int finish(MPI_Status* status) noexcept override;
    void prepare_release() noexcept override;

    // Implements MPI_Grequest_complete; any thread may call it. Returns the MPI code of the free callback if this call
    // has run it.
    int mark_complete() noexcept;

private:
    ~GeneralizedRequest() override = default;
    int retire() noexcept override;

    MPI_Grequest_query_function* const _query;
    MPI_Grequest_free_function* const _free;
    MPI_Grequest_cancel_function* const _cancel;
    void* const _extra_state;
};

} // namespace patchbay
