// SPDX-License-Identifier: BSD-3-Clause
// Epochs: fence, groups, locks, flushes.
#include "components/osc/rdma/module.h"

#include "components/common/run_operation.h"
#include "components/osc/rdma/errors.h"
#include "core/base/out_of_memory.h"

#include <atomic>

namespace patchbay::osc::rdma {

namespace {
// The first error counts; the steps that follow are carried out nevertheless.
int first_of(int code, int next) noexcept {
    return code == MPI_SUCCESS ? next : code;
}
} // namespace

int RdmaModule::fence(int assertion) noexcept {
    const bool no_operations_before = (assertion & MPI_MODE_NOPRECEDE) != 0;
    if (no_operations_before && (assertion & MPI_MODE_NOSUCCEED) != 0) {
        return sync(); // all members say so
    }
    const int code = no_operations_before ? MPI_SUCCESS : flush_all();
    return first_of(code, _barrier.wait());
}

int RdmaModule::post(std::span<const int> origins, int assertion) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _origins.assign(origins.begin(), origins.end());
        return _exposure.post(origins, (assertion & MPI_MODE_NOCHECK) == 0);
    });
}

int RdmaModule::start(std::span<const int> targets, int assertion) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _targets.assign(targets.begin(), targets.end());
        return _exposure.start(targets, (assertion & MPI_MODE_NOCHECK) == 0);
    });
}

int RdmaModule::complete() noexcept {
    int code = MPI_SUCCESS;
    for (const int target : _targets) {
        code = first_of(code, flush(target));
    }
    return first_of(code, _exposure.complete(_targets));
}

int RdmaModule::wait() noexcept {
    return _exposure.wait(_origins);
}

int RdmaModule::test(bool* done) noexcept {
    _progress.poll();
    return _exposure.test(_origins, done);
}

int RdmaModule::take_lock(int rank, bool exclusive) noexcept {
    const int code = _window_lock.acquire(rank, exclusive);
    if (code == MPI_SUCCESS) {
        _members[rank].hold.store(exclusive ? Hold::exclusive : Hold::shared, std::memory_order_release);
    }
    return code;
}

int RdmaModule::drop_lock(int rank) noexcept {
    const Hold held = _members[rank].hold.exchange(Hold::none, std::memory_order_acq_rel);
    if (held == Hold::shared || held == Hold::exclusive) {
        return _window_lock.release(rank, held == Hold::exclusive);
    }
    return MPI_SUCCESS;
}

int RdmaModule::lock(bool exclusive, int rank, int assertion) noexcept {
    if ((assertion & MPI_MODE_NOCHECK) != 0) {
        _members[rank].hold.store(
            exclusive ? Hold::exclusive_unchecked : Hold::nothing_to_release, std::memory_order_release);
        return MPI_SUCCESS;
    }
    return take_lock(rank, exclusive);
}

int RdmaModule::unlock(int rank) noexcept {
    const int code = flush(rank);
    return first_of(code, drop_lock(rank));
}

// In the order of ranks in all members, and before the first operation: a member that waits holds locks of lower ranks
// only. If each operation took the lock of its target, members could wait for each other in a circle: one that has the
// lock of A waits at B behind an exclusive request, which waits for the holder of B, which waits at A.
int RdmaModule::lock_all(int assertion) noexcept {
    if ((assertion & MPI_MODE_NOCHECK) != 0) {
        return MPI_SUCCESS;
    }
    for (int member = 0; member < _window.size; ++member) {
        if (const int code = take_lock(member, false); code != MPI_SUCCESS) {
            while (member > 0) {
                drop_lock(--member);
            }
            return code;
        }
    }
    return MPI_SUCCESS;
}

int RdmaModule::unlock_all() noexcept {
    int code = flush_all();
    for (int member = 0; member < _window.size; ++member) {
        if (_members[member].hold.load(std::memory_order_relaxed) != Hold::none) {
            code = first_of(code, drop_lock(member));
        }
    }
    return code;
}

// Stores to mapped memory are ordered by the fence, so that a load of this process that follows cannot be ahead of
// them. A flush of the btl is such a fence, too.
int RdmaModule::flush(int rank) noexcept {
    Peer& peer = _members[rank];
    const std::uint64_t started = peer.started.load(std::memory_order_acquire);
    if (peer.flushed.load(std::memory_order_acquire) == started) [[likely]] {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return MPI_SUCCESS;
    }
    const int error = common::run_operation(
        _progress, [&](btl::Completion* end) { return peer.one_sided->flush(*peer.endpoint, end); });
    std::uint64_t flushed = peer.flushed.load(std::memory_order_relaxed);
    while (flushed < started && !peer.flushed.compare_exchange_weak(flushed, started, std::memory_order_acq_rel)) {
    }
    return report_failure(error, rank);
}

int RdmaModule::flush_all() noexcept {
    int code = MPI_SUCCESS;
    for (int member = 0; _members.need_flush() && member < _window.size; ++member) {
        const Peer& peer = _members[member];
        if (peer.started.load(std::memory_order_relaxed) != peer.flushed.load(std::memory_order_relaxed)) {
            code = first_of(code, flush(member));
        }
    }
    return first_of(code, sync());
}

int RdmaModule::sync() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::rdma
