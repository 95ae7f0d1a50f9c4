// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "core/progress/ready_list.h"

#include <atomic>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// What follows when a number of operations is complete: a counter that each of them decrements when it completes. The
// one that brings it to zero links the continuation into the ready list, and the next poll calls `run`. Nothing else
// happens in the context of the operation that completes, which may hold locks.
//
//     continuation.open();                       // the caller has one count
//     pml->irecv(..., &first);
//     first->attach(continuation);               // one count more, unless the request is complete already
//     pml->isend(..., &second);
//     second->attach(continuation);
//     if (continuation.close()) {                // gives the caller's count back
//         ...                                    // all are complete; `run` is not called for this round
//     }                                          // otherwise a poll calls `run`, perhaps on another thread, and
//                                                // perhaps before close() returns
//
// Between open() and close() nothing else can bring the counter to zero. Several continuations are independent of each
// other. After close() has returned false the continuation must exist until `run` is called.
//
// Any thread that uses the library may call these functions. One that begins to use it beside another thread calls
// Progress::enable_threads() first: until then the other one does not use atomic operations.
class Continuation : public ReadyItem {
public:
    Continuation(Progress& progress, Run run) noexcept
        : ReadyItem{run, nullptr},
          _progress(progress) {}
    Continuation(const Continuation&) = delete;
    Continuation& operator=(const Continuation&) = delete;

    // Called while no operation refers to this continuation: before the first one, or in `run`.
    void open() noexcept { _count.store(1, std::memory_order_relaxed); }
    // Called once after each open(); the thread that called open() may leave it to another one. true: every attached
    // operation is complete, and `run` is not called.
    [[nodiscard]] bool close() noexcept {
        bool last = false;
        _progress.with_thread_level([&](bool threaded) { last = subtract(threaded); });
        return last;
    }
    // Has `run` called by the next poll, in place of close(): where nothing is attached, but the caller must not go on
    // in this context. Wakes a thread that sleeps.
    void post() noexcept {
        Progress& polled = _progress; // this object may not exist afterwards
        polled.with_thread_level([&](bool threaded) { polled.ready_list().link(*this, threaded); });
        polled.wake();
    }

    // For operations other than requests: count_up() while the counter cannot be zero, and count_down() once for each
    // of them, which wakes a thread that sleeps.
    void count_up() noexcept {
        _progress.with_thread_level([this](bool threaded) { count_up(threaded); });
    }
    void count_down() noexcept {
        Progress& polled = _progress; // this object may not exist afterwards
        polled.with_thread_level([this](bool threaded) { count_down(threaded); });
        polled.wake();
    }

private:
    friend class Request; // which knows whether there are several threads

    void count_up(bool threaded) noexcept {
        if (threaded) {
            _count.fetch_add(1, std::memory_order_relaxed);
        } else {
            _count.store(_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    }
    void count_down(bool threaded) noexcept {
        if (subtract(threaded)) {
            _progress.ready_list().link(*this, threaded);
        }
    }
    // true: the counter is zero.
    bool subtract(bool threaded) noexcept {
        if (threaded) {
            return _count.fetch_sub(1, std::memory_order_acq_rel) == 1;
        }
        const std::int32_t left = _count.load(std::memory_order_relaxed) - 1;
        _count.store(left, std::memory_order_relaxed);
        return left == 0;
    }

    Progress& _progress;
    std::atomic<std::int32_t> _count{0};
};

} // namespace patchbay
