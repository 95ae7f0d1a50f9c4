// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <cstring>
#include <pthread.h>
#include <string>

namespace patchbay {

// A lock between processes, in memory that they share. It survives the failure of its holder: the next one gets it,
// and lock() says so, because what the lock guards may be in the middle of a change.
class RobustMutex {
public:
    // Once, before the first lock(). Errc::system.
    Status make() {
        pthread_mutexattr_t attributes;
        int code = pthread_mutexattr_init(&attributes);
        if (code == 0) {
            pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
            pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
            code = pthread_mutex_init(&_mutex, &attributes);
            pthread_mutexattr_destroy(&attributes);
        }
        if (code != 0) {
            return Error{Errc::system, std::string("shared memory: no lock between processes: ") + std::strerror(code)};
        }
        return {};
    }
    // true: the last holder failed with the lock.
    bool lock() noexcept {
        if (pthread_mutex_lock(&_mutex) != EOWNERDEAD) {
            return false;
        }
        pthread_mutex_consistent(&_mutex);
        return true;
    }
    void unlock() noexcept { pthread_mutex_unlock(&_mutex); }

private:
    pthread_mutex_t _mutex;
};

// For a holder that needs no repair, because each change that the lock guards is published by one store.
class RobustHold {
public:
    explicit RobustHold(RobustMutex& mutex) noexcept
        : _mutex(mutex),
          _after_failure(_mutex.lock()) {}
    ~RobustHold() { _mutex.unlock(); }
    RobustHold(const RobustHold&) = delete;
    RobustHold& operator=(const RobustHold&) = delete;
    bool after_failure() const noexcept { return _after_failure; }

private:
    RobustMutex& _mutex;
    const bool _after_failure;
};

} // namespace patchbay
