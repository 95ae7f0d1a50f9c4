// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/progress/progress.h"
#include "core/runtime/process_id.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay {

class Instance;

// Reports to the pml which processes have failed. The reports of the launcher come on the PMIx library's thread; a
// poller passes them on. It exists only where this process goes on without such a process (Instance::watch_peers), so
// that no other job has the poller.
class PeerFailures {
public:
    // The pml of the instance must be there until the result is destroyed. Error: the launcher reports no failures of
    // processes.
    static Result<std::unique_ptr<PeerFailures>> create(Instance& instance);
    ~PeerFailures();
    PeerFailures(const PeerFailures&) = delete;
    PeerFailures& operator=(const PeerFailures&) = delete;

private:
    explicit PeerFailures(Instance& instance) noexcept
        : _instance(instance) {}
    static int poll(void* context) noexcept;
    int pass_on() noexcept;

    Instance& _instance;
    std::mutex _mutex; // guards _reported
    std::vector<ProcessId> _reported;
    std::atomic<bool> _any{false};
    PollerHandle _poller;
};

} // namespace patchbay
