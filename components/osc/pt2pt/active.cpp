// SPDX-License-Identifier: BSD-3-Clause
// Active target: fence, and post, start, complete and wait.
#include "components/osc/pt2pt/module.h"
#include "core/progress/poll_or_yield.h"
#include "frameworks/coll/coll.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <new>

namespace patchbay::osc::pt2pt {

namespace {

// Calls of test() without success, after which it also looks for failed processes.
constexpr int tests_without_watch = 1000;

int no_memory() noexcept {
    return note_cause(MPI_ERR_NO_MEM, "osc/pt2pt: no memory for a synchronization");
}

} // namespace

// When a member enters the barrier, its operations are complete at their targets.
int Pt2pt::fence(int assertion) noexcept {
    static_cast<void>(assertion);
    const int flushed = flush_all();
    const int joined = (*_comm.coll)[coll::Function::barrier].barrier(_comm);
    // Polls of other threads may have handled operations of this epoch, with the lock held. The barrier orders them
    // before this only by way of the other processes, which the thread sanitizer does not see.
    const Guard guard(_lock);
    return first_error(flushed, joined);
}

int Pt2pt::post(std::span<const int> origins, int assertion) noexcept {
    static_cast<void>(assertion);
    int code = MPI_SUCCESS;
    try {
        const Guard guard(_lock);
        _exposed_to.assign(origins.begin(), origins.end());
        _tests = 0;
        for (const int rank : origins) {
            Peer& origin = peer_of(rank);
            if (rank == _window.rank) {
                ++origin.posts;
                continue;
            }
            OutMessage* message = make_message(Kind::post, 0);
            const int sent = message != nullptr ? send(origin, message) : MPI_ERR_NO_MEM;
            // A failed origin is an error of MPI_Win_wait: the others have been told.
            code = code == MPI_SUCCESS && sent != MPI_ERR_PROC_ABORTED ? sent : code;
        }
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    if (std::ranges::find(origins, _window.rank) != origins.end()) {
        _progress.wake(); // a thread of this process that waits in MPI_Win_start
    }
    return code;
}

int Pt2pt::start(std::span<const int> targets, int assertion) noexcept {
    static_cast<void>(assertion);
    std::vector<Awaited> all;
    try {
        const Guard guard(_lock);
        _started.assign(targets.begin(), targets.end());
        for (const int rank : targets) {
            all.push_back(now(peer_of(rank)));
        }
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    const int code = wait_for_peers(
        all, [](const Awaited& target) { return target.peer->posts > 0; }, Until::first_failure);
    const Guard guard(_lock);
    for (const Awaited& target : all) {
        --target.peer->posts; // also one that comes later, where another target has failed
    }
    return code;
}

int Pt2pt::complete() noexcept {
    // In a dynamic window only the target knows whether an operation was in its range.
    const bool dynamic = _window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
    int code = MPI_SUCCESS;
    std::vector<Awaited> all;
    try {
        UniqueLock lock(_lock);
        all.reserve(_started.size());
        for (const int rank : _started) {
            Peer& target = peer_of(rank);
            if (rank == _window.rank) {
                ++target.completes;
                continue;
            }
            int sent = reserve(target, 1, lock);
            sent = sent == MPI_SUCCESS ? send_numbered(target, Kind::complete, dynamic ? flag_acknowledge : 0) : sent;
            code = code == MPI_SUCCESS ? sent : code;
            all.push_back(now(target));
        }
        _started.clear();
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    _progress.wake(); // a thread that waits for this process itself
    const int waited = wait_until_complete(all, dynamic ? Where::at_target : Where::at_origin);
    return first_error(waited, code);
}

int Pt2pt::wait() noexcept {
    std::vector<Awaited> all;
    try {
        const Guard guard(_lock);
        for (const int rank : _exposed_to) {
            all.push_back(now(peer_of(rank)));
        }
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    const int code = wait_for_peers(
        all, [](const Awaited& origin) { return origin.peer->completes > 0; }, Until::first_failure);
    const Guard guard(_lock);
    for (const Awaited& origin : all) {
        --origin.peer->completes; // also one that comes later, where another origin has failed
    }
    _exposed_to.clear();
    return code;
}

int Pt2pt::test(bool* done) noexcept {
    poll_or_yield(_progress);
    const Guard guard(_lock);
    *done = true;
    int code = MPI_SUCCESS;
    bool failed = false;
    ++_tests;
    for (const int rank : _exposed_to) {
        Peer& origin = *_peers[std::size_t(rank)];
        if (origin.completes <= 0 && origin.failed) {
            code = take_error(origin);
            failed = true;
        } else if (origin.completes <= 0) {
            *done = false;
            if (_tests > tests_without_watch) {
                watch(origin);
            }
        }
    }
    *done = *done || failed;
    if (*done) {
        for (const int rank : _exposed_to) {
            --_peers[std::size_t(rank)]->completes;
        }
        _exposed_to.clear();
        return code;
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::pt2pt
