// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/thread_views.h"

#include <array>
#include <memory>
#include <mutex>

namespace patchbay::threads {

class ThreadCommunicator; // mpi/communicators/thread_communicators.cpp

// The thread communicators of a process, active or not, by the numbers of their handles. Thread-safe.
class Registry {
public:
    // Returns the handle; 0: none is free.
    std::uintptr_t add(std::shared_ptr<ThreadCommunicator> added) noexcept {
        const std::lock_guard lock(_mutex);
        for (std::size_t i = 0; i < thread_handles; ++i) {
            if (_all[i] == nullptr) {
                _all[i] = std::move(added);
                return first_thread_handle + i;
            }
        }
        return 0;
    }
    bool has_room() noexcept {
        const std::lock_guard lock(_mutex);
        for (const auto& one : _all) {
            if (one == nullptr) {
                return true;
            }
        }
        return false;
    }
    // nullptr: the value is no handle of a thread communicator.
    std::shared_ptr<ThreadCommunicator> find(std::uintptr_t handle) noexcept {
        const std::lock_guard lock(_mutex);
        return is_thread_handle(handle) ? _all[handle - first_thread_handle] : nullptr;
    }
    void remove(std::uintptr_t handle) noexcept {
        const std::lock_guard lock(_mutex);
        _all[handle - first_thread_handle].reset();
    }

private:
    std::mutex _mutex;
    std::array<std::shared_ptr<ThreadCommunicator>, thread_handles> _all;
};

} // namespace patchbay::threads
