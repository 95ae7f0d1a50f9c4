// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// A generalized request (MPI-5.0, 13.2). It is allocated with new, and deletes itself when the handle has been released
// and the operation is complete. The free callback runs in the call that completes the request or, after
// MPI_Request_free of an active one, in MPI_Grequest_complete; that call returns the error code of the callback.
class GeneralizedRequest final : public Request {
public:
    GeneralizedRequest(Progress& waits, MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
        MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept;

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override;
    void recycle() noexcept override { release(); }
    int release() noexcept override;
    int finish(MPI_Status* status) noexcept override;

    // Implements MPI_Grequest_complete; any thread may call it. Returns the MPI code of the free callback if this call
    // has run it.
    int mark_complete() noexcept;

private:
    ~GeneralizedRequest() override = default;
    int run_free() noexcept { return _free == nullptr ? MPI_SUCCESS : _free(_extra_state); }
    void drop_reference() noexcept;

    MPI_Grequest_query_function* const _query;
    MPI_Grequest_free_function* const _free;
    MPI_Grequest_cancel_function* const _cancel;
    void* const _extra_state;
    // Which of completion and release of the handle came first, for a request whose handle is released while it is
    // active: the second one runs the free callback.
    enum class First : std::uint8_t { none, completion, handle };
    std::atomic<First> _first{First::none};
    std::atomic<int> _references{2}; // one until completion, one of the handle
};

} // namespace patchbay
