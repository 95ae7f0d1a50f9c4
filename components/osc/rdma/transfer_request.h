// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/one_sided.h"
#include "object/request.h"

#include <atomic>

namespace patchbay::osc::rdma {

// The request of MPI_Rput or MPI_Rget: complete when the operations of a btl are that it consists of. Each of them that
// is pending calls `done` of this object once.
class TransferRequest final : public Request, public btl::Completion {
public:
    TransferRequest(Progress& waits, Communicator& communicator) noexcept;

    // Around the start of each operation.
    void open() noexcept { _count.fetch_add(1, std::memory_order_relaxed); }
    // The operation is not pending.
    void close(int error) noexcept;
    // The operations that were not started have failed with this MPI code.
    void fail(int code) noexcept { _code.store(code, std::memory_order_relaxed); }
    // No more operations follow. Called by the thread that has started them, before the program has the request.
    void end_of_starts() noexcept;

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override { return MPI_SUCCESS; }    // an operation on a window cannot be cancelled
    std::string_view cause() const noexcept override;

private:
    int retire() noexcept override;
    void note(int failure) noexcept;
    int result() const noexcept;

    Ref<Communicator> _comm; // an error is reported on it
    std::atomic<std::uint32_t> _count{1};
    std::atomic<int> _failure{0}; // an errno
    std::atomic<int> _code{MPI_SUCCESS};
};

} // namespace patchbay::osc::rdma
