// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/pause.h"
#include "core/base/result.h"

#include <cerrno>
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
        int code = pthread_mutex_trylock(&_mutex);
        for (int tries = 0; code == EBUSY && tries < most_tries; ++tries) {
            for (int pause = 0; pause < pauses_per_try; ++pause) {
                pause_processor();
            }
            code = pthread_mutex_trylock(&_mutex);
        }
        if (code == EBUSY) {
            code = pthread_mutex_lock(&_mutex);
        }
        if (code != EOWNERDEAD) {
            return false;
        }
        pthread_mutex_consistent(&_mutex);
        return true;
    }
    void unlock() noexcept { pthread_mutex_unlock(&_mutex); }

private:
    // About 10 us: holders are shorter, and a process that sleeps is woken long after the lock is free. A holder that
    // is longer does not run, which it may have to wait for this processor to do.
    static constexpr int most_tries = 50;
    static constexpr int pauses_per_try = 16;

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
