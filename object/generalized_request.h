// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

#include <atomic>

namespace [[gnu::visibility("default")]] patchbay {

// An operation of the program itself (MPI-5.0, 13.2). Made with new; deletes itself when both the handle has been given
// back and the operation is complete.
class GeneralizedRequest final : public Request {
public:
    GeneralizedRequest(Progress& waits, MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
        MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept;

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override;
    void recycle() noexcept override;
    int finish(MPI_Status* status) noexcept override;

    // MPI_Grequest_complete, from any thread.
    void mark_complete() noexcept;

private:
    ~GeneralizedRequest() override = default;
    void let_go() noexcept;

    MPI_Grequest_query_function* const _query;
    MPI_Grequest_free_function* const _free;
    MPI_Grequest_cancel_function* const _cancel;
    void* const _extra_state;
    std::atomic<int> _ends{2}; // completion, handle
};

} // namespace patchbay
