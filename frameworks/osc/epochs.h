// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace osc {

// The access and exposure epochs of this process on one window (MPI-5.0, 12.5), by whose rules each synchronization
// call is checked before the module gets it. Nothing here communicates: what other members do is not known. A rule that
// is broken ends in MPI_ERR_RMA_SYNC, with the cause stored (object/error_cause.h), and changes nothing.
//
// A fence without MPI_MODE_NOSUCCEED opens an epoch only if an operation follows (12.5.1). So lock(), start() and
// post() are allowed after it, unless an operation has been issued since.
//
// Thread-safe. The functions that end an epoch end it before they return, so that of two threads that end the same
// epoch one gets the error.
class Epochs {
public:
    // Throws std::bad_alloc. `rank` is that of this process.
    Epochs(int size, int rank, ThreadLevelUpgrade& threads);

    // Whether an operation on that member may be issued now. For every operation, before the module gets it.
    [[gnu::always_inline]] bool may_access(int target) noexcept {
        const unsigned open =
            _targets[target].load(std::memory_order_relaxed) | _everyone.load(std::memory_order_relaxed);
        if (open == fence_unused) [[unlikely]] {
            _everyone.store(fence_used, std::memory_order_relaxed);
        }
        return open != 0;
    }
    // Whether an operation with a request, or a flush, may be issued: a lock is held.
    [[gnu::always_inline]] bool is_locked(int target) const noexcept {
        return ((_targets[target].load(std::memory_order_relaxed) | _everyone.load(std::memory_order_relaxed)) &
                   (locked | locked_all)) != 0;
    }
    // Stores why one of these is false, and returns MPI_ERR_RMA_SYNC.
    [[gnu::cold]] int refuse_access(int target) const noexcept;
    [[gnu::cold]] int refuse_request(int target) const noexcept;
    [[gnu::cold]] int refuse_flush(int target) const noexcept;

    // All of these return an MPI code. Called before the module gets the call, but for end_fence() and the functions
    // that take an epoch back: these follow it.
    //
    // The fence ends the epoch that the last one has opened. MPI_ERR_ASSERT: MPI_MODE_NOPRECEDE, but operations have
    // been issued.
    int begin_fence(int assertion) noexcept;
    void end_fence(int assertion) noexcept;

    int start(std::vector<int> targets) noexcept;
    int complete() noexcept;
    int post() noexcept;
    int wait() noexcept; // MPI_Win_wait, or MPI_Win_test that was successful
    bool is_posted() const noexcept { return _posted.load(std::memory_order_relaxed); }
    int refuse_wait() const noexcept;

    int lock(int target) noexcept;
    int unlock(int target) noexcept;
    int lock_all() noexcept;
    int unlock_all() noexcept;
    int check_flush_all() const noexcept;
    // With info key no_locks, no lock may be asked for.
    void forbid_locks(bool forbidden) noexcept { _no_locks.store(forbidden, std::memory_order_relaxed); }

    // Why the window cannot be freed now; empty: no epoch is open.
    std::string_view open_epoch() const noexcept;

private:
    // Of a member, and of all.
    static constexpr std::uint8_t started = 1, locked = 2;
    static constexpr std::uint8_t locked_all = 4, fence_unused = 8, fence_used = 16;

    int check_begin_access(const char* what) const noexcept {
        const bool open = _has_started || (_everyone.load(std::memory_order_relaxed) & (locked_all | fence_used)) != 0;
        return open ? refuse_begin_access(what) : 0;
    }
    [[gnu::cold]] int refuse_begin_access(const char* what) const noexcept;
    int check_locks_allowed() const noexcept;
    void end_unused_fence() noexcept;

    mutable ProgressLock _lock; // held by the functions that change what follows
    std::unique_ptr<std::atomic<std::uint8_t>[]> _targets;
    std::atomic<std::uint8_t> _everyone{0};
    std::atomic<bool> _posted{false};
    std::atomic<bool> _no_locks{false};
    bool _has_started = false;
    std::vector<int> _started; // the group of start()
    int _locks = 0;            // how many members are locked one by one
    const int _rank;
};

} // namespace osc
} // namespace patchbay
