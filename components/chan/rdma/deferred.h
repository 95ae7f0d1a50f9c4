// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"
#include "core/progress/progress.h"

#include <atomic>

namespace patchbay::chan::rdma {

// Halves with starts that could not be carried out at once: the transport had no room, or the receive of a synchronous
// send was not started. Every poll tries them again, so that they go on whatever call the program is in. One list for
// the component; it exists as long as there is a channel. Thread-safe.
class Deferred {
public:
    class Entry {
    public:
        // Called by a poll. true: it stays in the list.
        virtual bool retry() noexcept = 0;

    protected:
        ~Entry() = default;

    private:
        friend class Deferred;
        Entry* _next = nullptr;
        Entry* _previous = nullptr;
        bool _listed = false;
    };

    // Throws std::bad_alloc.
    explicit Deferred(Progress& progress);
    ~Deferred();
    Deferred(const Deferred&) = delete;
    Deferred& operator=(const Deferred&) = delete;

    // Called without the lock that retry() takes. Nothing happens if it is in the list.
    void add(Entry& entry) noexcept;
    // Afterwards retry() is not called any more. Nothing happens if it is not in the list.
    void remove(Entry& entry) noexcept;

private:
    int poll() noexcept;
    void unlink(Entry& entry) noexcept;

    Progress& _progress;
    ProgressLock _lock;
    std::atomic<Entry*> _first{nullptr}; // changed under the lock; a poll looks at it without
    PollerHandle _poller;
};

} // namespace patchbay::chan::rdma
