// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <atomic>
#include <mutex>

namespace patchbay::chan::sm {

// A half of a channel with starts that can only go on when the partner has done something, and that must go on although
// the program waits for something else meanwhile.
class Unfinished {
public:
    // Does what can be done now. Called by the poller, with lock() held. Returns whether there may be more to do later;
    // *events counts what was done.
    virtual bool go_on(int* events) noexcept = 0;

    // Held where the poller may be in this half: while is_listed(). Otherwise its owner alone uses it.
    ProgressLock& lock() noexcept { return _lock; }
    bool is_listed() const noexcept { return _listed.load(std::memory_order_acquire); }

protected:
    explicit Unfinished(Progress& progress)
        : _lock(progress.threads()) {}
    ~Unfinished() = default;

private:
    friend class UnfinishedList;
    ProgressLock _lock;
    std::atomic<bool> _listed{false}; // written with the lock of the list held
    Unfinished* _next = nullptr;
};

// Those of a process, and the poller for them, which is registered while there are any.
class UnfinishedList {
public:
    explicit UnfinishedList(Progress& progress)
        : _progress(progress),
          _lock(progress.threads()) {}
    ~UnfinishedList() {
        _poller.reset();
        _progress.quiesce();
    }
    UnfinishedList(const UnfinishedList&) = delete;
    UnfinishedList& operator=(const UnfinishedList&) = delete;

    // Without the lock of the half held. Does nothing if it is listed.
    void add(Unfinished& half) noexcept {
        const std::lock_guard hold(_lock);
        if (half._listed.load(std::memory_order_relaxed)) {
            return;
        }
        half._next = _first;
        _first = &half;
        half._listed.store(true, std::memory_order_relaxed);
        if (!_poller) {
            _poller = _progress.add_poller(
                [](void* list) noexcept { return static_cast<UnfinishedList*>(list)->poll(); }, this);
        }
    }
    // The poller does not touch the half afterwards.
    void remove(Unfinished& half) noexcept {
        const std::lock_guard hold(_lock);
        for (Unfinished** link = &_first; *link != nullptr; link = &(*link)->_next) {
            if (*link == &half) {
                unlink(link);
                return;
            }
        }
    }

private:
    // Takes `half` out, to which *link points.
    void unlink(Unfinished** link) noexcept {
        Unfinished& half = **link;
        *link = half._next;
        half._listed.store(false, std::memory_order_release);
    }

    int poll() noexcept {
        const std::lock_guard hold(_lock);
        int events = 0;
        for (Unfinished** link = &_first; *link != nullptr;) {
            Unfinished& half = **link;
            bool remains = true;
            // A thread that has the lock is doing the same.
            if (half._lock.try_lock()) {
                remains = half.go_on(&events);
                half._lock.unlock();
            }
            if (remains) {
                link = &half._next;
            } else {
                unlink(link);
            }
        }
        if (_first == nullptr) {
            _poller.reset();
        }
        return events;
    }

    Progress& _progress;
    ProgressLock _lock;
    Unfinished* _first = nullptr;
    PollerHandle _poller;
};

} // namespace patchbay::chan::sm
