// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/deferred.h"

#include <mutex>

namespace patchbay::chan::rdma {

Deferred::Deferred(Progress& progress)
    : _progress(progress),
      _lock(progress.threads()),
      _poller(progress.add_poller([](void* self) noexcept { return static_cast<Deferred*>(self)->poll(); }, this)) {}

Deferred::~Deferred() {
    _poller.reset();
    _progress.quiesce();
}

void Deferred::add(Entry& entry) noexcept {
    const std::lock_guard hold(_lock);
    if (entry._listed) {
        return;
    }
    entry._listed = true;
    entry._previous = nullptr;
    entry._next = _first.load(std::memory_order_relaxed);
    if (entry._next != nullptr) {
        entry._next->_previous = &entry;
    }
    _first.store(&entry, std::memory_order_relaxed);
}

void Deferred::remove(Entry& entry) noexcept {
    const std::lock_guard hold(_lock);
    unlink(entry);
}

void Deferred::unlink(Entry& entry) noexcept {
    if (!entry._listed) {
        return;
    }
    entry._listed = false;
    if (entry._previous != nullptr) {
        entry._previous->_next = entry._next;
    } else {
        _first.store(entry._next, std::memory_order_relaxed);
    }
    if (entry._next != nullptr) {
        entry._next->_previous = entry._previous;
    }
}

// Returns the number of entries that have left the list.
int Deferred::poll() noexcept {
    if (_first.load(std::memory_order_relaxed) == nullptr) [[likely]] {
        return 0;
    }
    const std::lock_guard hold(_lock);
    int ended = 0;
    for (Entry* entry = _first.load(std::memory_order_relaxed); entry != nullptr;) {
        Entry* const next = entry->_next;
        if (!entry->retry()) {
            unlink(*entry);
            ++ended;
        }
        entry = next;
    }
    return ended;
}

} // namespace patchbay::chan::rdma
