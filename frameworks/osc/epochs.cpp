// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/epochs.h"

#include "core/base/format_into.h"
#include "include/mpi.h"
#include "object/error_cause.h"

#include <mutex>
#include <utility>

namespace patchbay::osc {

namespace {

int refuse(std::string_view why) noexcept {
    return note_cause(MPI_ERR_RMA_SYNC, why);
}

int refuse_rank(std::string_view before, int target, std::string_view after) noexcept {
    char text[256];
    return refuse(format_into(text, "{}{}{}", before, target, after));
}

} // namespace

Epochs::Epochs(int size, int rank, ThreadLevelUpgrade& threads)
    : _lock(threads),
      _targets(std::make_unique<std::atomic<std::uint8_t>[]>(std::size_t(size))),
      _rank(rank) {}

int Epochs::refuse_access(int target) const noexcept {
    return refuse_rank("no access epoch to rank ", target,
        " is open: call MPI_Win_fence, MPI_Win_start with that rank in the group, MPI_Win_lock or MPI_Win_lock_all "
        "before");
}

int Epochs::refuse_request(int target) const noexcept {
    return refuse_rank("rank ", target,
        " is not locked: operations with a request need a passive target epoch (MPI_Win_lock or MPI_Win_lock_all)");
}

int Epochs::refuse_flush(int target) const noexcept {
    return refuse_rank(
        "rank ", target, " is not locked: flush calls need a passive target epoch (MPI_Win_lock or MPI_Win_lock_all)");
}

// Access epochs of one process on a window must not overlap, but for locks of different members (MPI-5.0, 12.5).
int Epochs::refuse_begin_access(const char* what) const noexcept {
    const std::uint8_t everyone = _everyone.load(std::memory_order_relaxed);
    const char* open = _has_started    ? "MPI_Win_start has opened is not complete: call MPI_Win_complete"
        : (everyone & locked_all) != 0 ? "MPI_Win_lock_all has opened is not complete: call MPI_Win_unlock_all"
                                       : "the last MPI_Win_fence has opened is not complete: call MPI_Win_fence";
    char text[200];
    return refuse(format_into(text, "{}, but the access epoch that {} before", what, open));
}

int Epochs::check_locks_allowed() const noexcept {
    return _no_locks.load(std::memory_order_relaxed)
        ? refuse("the window has info key no_locks with value true, so that it must not be locked")
        : MPI_SUCCESS;
}

// The epoch of a fence that no operation has followed does not exist once another epoch begins.
void Epochs::end_unused_fence() noexcept {
    if (_everyone.load(std::memory_order_relaxed) == fence_unused) {
        _everyone.store(0, std::memory_order_relaxed);
    }
}

int Epochs::begin_fence(int assertion) noexcept {
    const std::lock_guard hold(_lock);
    const std::uint8_t everyone = _everyone.load(std::memory_order_relaxed);
    if (_has_started) {
        return refuse("the epoch of MPI_Win_start is open: call MPI_Win_complete before MPI_Win_fence");
    }
    if (_posted.load(std::memory_order_relaxed)) {
        return refuse("the epoch of MPI_Win_post is open: call MPI_Win_wait before MPI_Win_fence");
    }
    if (_locks > 0 || (everyone & locked_all) != 0) {
        return refuse("a lock is held: unlock all members before MPI_Win_fence");
    }
    if ((assertion & MPI_MODE_NOPRECEDE) != 0 && (everyone & fence_used) != 0) {
        return note_cause(MPI_ERR_ASSERT,
            "assert contains MPI_MODE_NOPRECEDE, but operations have been issued since the last MPI_Win_fence");
    }
    _everyone.store(0, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

void Epochs::end_fence(int assertion) noexcept {
    const std::lock_guard hold(_lock);
    _everyone.store((assertion & MPI_MODE_NOSUCCEED) != 0 ? 0 : fence_unused, std::memory_order_relaxed);
}

int Epochs::start(std::vector<int> targets) noexcept {
    const std::lock_guard hold(_lock);
    if (const int code = check_begin_access("MPI_Win_start opens an access epoch"); code != MPI_SUCCESS) {
        return code;
    }
    if (_locks > 0) {
        return refuse("a lock is held: unlock all members before MPI_Win_start");
    }
    end_unused_fence();
    _started = std::move(targets);
    _has_started = true;
    for (const int target : _started) {
        _targets[target].store(started, std::memory_order_relaxed);
    }
    return MPI_SUCCESS;
}

int Epochs::complete() noexcept {
    const std::lock_guard hold(_lock);
    if (!_has_started) {
        return refuse("MPI_Win_start has not been called: there is no access epoch that MPI_Win_complete could end");
    }
    for (const int target : _started) {
        _targets[target].store(0, std::memory_order_relaxed);
    }
    _started.clear();
    _has_started = false;
    return MPI_SUCCESS;
}

int Epochs::post() noexcept {
    const std::lock_guard hold(_lock);
    const std::uint8_t everyone = _everyone.load(std::memory_order_relaxed);
    if (_posted.load(std::memory_order_relaxed)) {
        return refuse("the exposure epoch of the last MPI_Win_post is open: call MPI_Win_wait before the next one");
    }
    if ((everyone & fence_used) != 0) {
        return refuse("the epoch of the last MPI_Win_fence is open: call MPI_Win_fence before MPI_Win_post");
    }
    if ((everyone & locked_all) != 0 || (_targets[_rank].load(std::memory_order_relaxed) & locked) != 0) {
        return refuse("this process has locked its own memory, which must not be exposed at the same time");
    }
    end_unused_fence();
    _posted.store(true, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

int Epochs::refuse_wait() const noexcept {
    return refuse("MPI_Win_post has not been called: there is no exposure epoch to wait for");
}

int Epochs::wait() noexcept {
    const std::lock_guard hold(_lock);
    if (!_posted.load(std::memory_order_relaxed)) {
        return refuse_wait();
    }
    _posted.store(false, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

int Epochs::lock(int target) noexcept {
    const std::lock_guard hold(_lock);
    if (const int code = check_locks_allowed(); code != MPI_SUCCESS) {
        return code;
    }
    if (const int code = check_begin_access("MPI_Win_lock opens an access epoch"); code != MPI_SUCCESS) {
        return code;
    }
    if (_targets[target].load(std::memory_order_relaxed) != 0) {
        return refuse_rank("this process has locked rank ", target, " already");
    }
    if (target == _rank && _posted.load(std::memory_order_relaxed)) {
        return refuse("this process has exposed its memory by MPI_Win_post, and must not lock it before MPI_Win_wait");
    }
    end_unused_fence();
    ++_locks;
    _targets[target].store(locked, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

int Epochs::unlock(int target) noexcept {
    const std::lock_guard hold(_lock);
    if ((_targets[target].load(std::memory_order_relaxed) & locked) == 0) {
        const bool all = (_everyone.load(std::memory_order_relaxed) & locked_all) != 0;
        return refuse_rank("MPI_Win_lock has not locked rank ", target,
            all ? ": the locks of MPI_Win_lock_all are released by MPI_Win_unlock_all" : "");
    }
    --_locks;
    _targets[target].store(0, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

int Epochs::lock_all() noexcept {
    const std::lock_guard hold(_lock);
    if (const int code = check_locks_allowed(); code != MPI_SUCCESS) {
        return code;
    }
    if (const int code = check_begin_access("MPI_Win_lock_all opens an access epoch"); code != MPI_SUCCESS) {
        return code;
    }
    if (_locks > 0) {
        return refuse("MPI_Win_lock has locked a member: unlock all members before MPI_Win_lock_all");
    }
    if (_posted.load(std::memory_order_relaxed)) {
        return refuse("this process has exposed its memory by MPI_Win_post, and must not lock it before MPI_Win_wait");
    }
    _everyone.store(locked_all, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

int Epochs::unlock_all() noexcept {
    const std::lock_guard hold(_lock);
    if ((_everyone.load(std::memory_order_relaxed) & locked_all) == 0) {
        return refuse("MPI_Win_lock_all has not been called");
    }
    _everyone.store(0, std::memory_order_relaxed);
    return MPI_SUCCESS;
}

int Epochs::check_flush_all() const noexcept {
    const std::lock_guard hold(_lock);
    return _locks > 0 || (_everyone.load(std::memory_order_relaxed) & locked_all) != 0
        ? MPI_SUCCESS
        : refuse("no member is locked: flush calls need a passive target epoch (MPI_Win_lock or MPI_Win_lock_all)");
}

std::string_view Epochs::open_epoch() const noexcept {
    const std::lock_guard hold(_lock);
    const std::uint8_t everyone = _everyone.load(std::memory_order_relaxed);
    return _has_started                           ? "MPI_Win_start has not been followed by MPI_Win_complete"
        : _posted.load(std::memory_order_relaxed) ? "MPI_Win_post has not been followed by MPI_Win_wait"
        : _locks > 0                              ? "a member that MPI_Win_lock has locked is not unlocked"
        : (everyone & locked_all) != 0            ? "MPI_Win_lock_all has not been followed by MPI_Win_unlock_all"
        : (everyone & fence_used) != 0            ? "operations have been issued since the last MPI_Win_fence"
                                                  : "";
}

} // namespace patchbay::osc
