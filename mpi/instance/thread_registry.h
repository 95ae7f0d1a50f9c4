// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/thread_views.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchbay::threads {

class ThreadCommunicator; // mpi/communicators/thread_communicators.cpp

// The thread communicators of a process, active or not, by the numbers of their handles. Thread-safe.
class Registry {
public:
    // Returns the handle; 0: none is free. Throws std::bad_alloc.
    std::uintptr_t add(std::shared_ptr<ThreadCommunicator> added) {
        const std::lock_guard lock(_mutex);
        auto free = std::find(_all.begin(), _all.end(), nullptr);
        if (free == _all.end()) {
            if (_all.size() == thread_handles) {
                return 0;
            }
            free = _all.emplace(_all.end());
        }
        *free = std::move(added);
        return first_thread_handle + std::uintptr_t(free - _all.begin());
    }
    bool has_room() noexcept {
        const std::lock_guard lock(_mutex);
        return _all.size() < thread_handles || std::find(_all.begin(), _all.end(), nullptr) != _all.end();
    }
    // nullptr: the value is no handle of a thread communicator.
    std::shared_ptr<ThreadCommunicator> find(std::uintptr_t handle) noexcept {
        const std::lock_guard lock(_mutex);
        const std::size_t place = handle - first_thread_handle;
        return is_thread_handle(handle) && place < _all.size() ? _all[place] : nullptr;
    }
    void remove(std::uintptr_t handle) noexcept {
        const std::lock_guard lock(_mutex);
        _all[handle - first_thread_handle].reset();
    }

    // The handle of the first one for which is_one(thread communicator) is true; 0: there is none.
    template <class Predicate>
    std::uintptr_t find_if(const Predicate& is_one) noexcept {
        const std::lock_guard lock(_mutex);
        const auto found =
            std::find_if(_all.begin(), _all.end(), [&](const auto& one) { return one != nullptr && is_one(*one); });
        return found != _all.end() ? first_thread_handle + std::uintptr_t(found - _all.begin()) : 0;
    }

    // Calls act(thread communicator) for each; those for which it returns true are removed.
    template <class Act>
    void remove_if(const Act& act) noexcept {
        const std::lock_guard lock(_mutex);
        for (std::size_t place = 0; place < _all.size(); ++place) {
            if (_all[place] != nullptr && act(*_all[place])) {
                _all[place].reset();
            }
        }
    }

private:
    std::mutex _mutex;
    // Grows with the number of those that exist at a time: a process that has none does not pay for the room.
    std::vector<std::shared_ptr<ThreadCommunicator>> _all;
};

} // namespace patchbay::threads
