// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/call_site.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace patchbay {

// What has been printed about calls of threads that must not make them (mpi/api/calling_thread.h). Thread-safe.
class WrongCalls {
public:
    WrongCalls() noexcept;
    ~WrongCalls();
    WrongCalls(const WrongCalls&) = delete;
    WrongCalls& operator=(const WrongCalls&) = delete;

    // True once: for the warning.
    bool is_first() noexcept { return !_warned.exchange(true, std::memory_order_relaxed); }
    // True once for each place in the program. May throw std::bad_alloc.
    bool is_new(const CallSite& site);

private:
    std::atomic<bool> _warned{false};
    std::mutex _mutex; // protects _sites
    std::vector<CallSite> _sites;
};

} // namespace patchbay
