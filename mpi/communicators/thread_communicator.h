// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/communicators/thread_communicators.h"
#include "mpi/instance/instance.h"
#include "mpi/threads/activation.h"
#include "mpi/threads/pml.h"
#include "object/session.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::threads {

// What the threads of a process have in common of a thread communicator.
class ThreadCommunicator {
public:
    ThreadCommunicator(Communicator& parent, std::vector<int> counts)
        : instance(*parent.instance),
          session(parent.session),
          jobs(parent.jobs),
          pml(parent.instance->pml()),
          counts(std::move(counts)),
          process(parent.rank) {
        const std::lock_guard lock(parent.mutex);
        errhandler = parent.errhandler;
        for (int rank = 0; rank < parent.size; ++rank) {
            processes.push_back(parent.group->process(rank));
        }
    }

    int threads() const noexcept { return counts[std::size_t(process)]; }
    bool has_other_processes() const noexcept { return counts.size() > 1; }

    Instance& instance;
    Session* const session;
    const std::shared_ptr<const JobReferences> jobs;
    ThreadPml pml;
    const std::vector<int> counts; // of the threads of each process of the parent
    const int process;             // our rank in the parent
    std::vector<ProcessId> processes;
    Ref<Errhandler> errhandler;
    AttributeMap attributes;
    std::unique_ptr<Carrier> carrier; // null: there is one process

    std::mutex mutex; // protects the members below
    std::shared_ptr<Activation> activation;
    std::uint32_t activations = 0; // that have started
};

inline std::uintptr_t value_of(MPI_Comm handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle);
}

// Notes the cause.
int no_thread_communicator() noexcept;

// The activation is not this communicator's any more: threads that come start another one.
void give_up(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation) noexcept;

// Called by each thread when it finishes, with an error that it has; returns the first error of all threads, or of the
// processes.
int end_together(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation, int number, int code);

} // namespace patchbay::threads
