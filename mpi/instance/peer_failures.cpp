// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/peer_failures.h"

#include "core/runtime/runtime.h"
#include "mpi/instance/instance.h"

namespace patchbay {

Result<std::unique_ptr<PeerFailures>> PeerFailures::create(Instance& instance) {
    std::unique_ptr<PeerFailures> failures(new PeerFailures(instance));
    failures->_poller = instance.progress().add_poller(&PeerFailures::poll, failures.get());
    Status reports = instance.runtime().on_peer_failure([failures = failures.get()](const ProcessName& name) {
        Instance& instance = failures->_instance;
        const std::optional<ProcessId> process = instance.runtime().jobs().id_of(name);
        if (!process || *process == instance.self()) {
            return; // a process of a job to which this one is not connected
        }
        {
            const std::lock_guard lock(failures->_mutex);
            failures->_reported.push_back(*process);
        }
        failures->_any.store(true, std::memory_order_release);
        instance.progress().wake();
    });
    if (!reports) {
        return reports.error();
    }
    return failures;
}

PeerFailures::~PeerFailures() {
    _instance.runtime().stop_death_reports();
    _poller.reset();
    _instance.progress().quiesce();
}

int PeerFailures::poll(void* context) noexcept {
    auto& failures = *static_cast<PeerFailures*>(context);
    return failures._any.load(std::memory_order_acquire) ? failures.pass_on() : 0;
}

int PeerFailures::pass_on() noexcept {
    std::vector<ProcessId> reported;
    {
        const std::lock_guard lock(_mutex);
        reported.swap(_reported);
        _any.store(false, std::memory_order_relaxed);
    }
    for (const ProcessId process : reported) {
        _instance.peer_failed(process);
    }
    return int(reported.size());
}

} // namespace patchbay
