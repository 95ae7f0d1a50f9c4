// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// An operation of the program itself (MPI-5.0, 13.2). Made with new; deletes itself when both the handle has been given
// back and the operation is complete. The free callback runs in the call that completes the request, or, after
// MPI_Request_free of an active one, in MPI_Grequest_complete; that call returns its error code.
class GeneralizedRequest final : public Request {
public:
    GeneralizedRequest(Progress& waits, MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
        MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept;

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override;
    void recycle() noexcept override { release(); }
    int release() noexcept override;
    int finish(MPI_Status* status) noexcept override;

    // MPI_Grequest_complete, from any thread. Returns an MPI code: that of the free callback where this ran it.
    int mark_complete() noexcept;

private:
    ~GeneralizedRequest() override = default;
    int run_free() noexcept { return _free == nullptr ? MPI_SUCCESS : _free(_extra_state); }
    void drop_reference() noexcept;

    MPI_Grequest_query_function* const _query;
    MPI_Grequest_free_function* const _free;
    MPI_Grequest_cancel_function* const _cancel;
    void* const _extra_state;
    // Only of a request whose handle is given back while it is active: the second of the two runs the free callback.
    enum class First : std::uint8_t { none, completion, handle };
    std::atomic<First> _first{First::none};
    std::atomic<int> _references{2}; // completion, handle
};

} // namespace patchbay
