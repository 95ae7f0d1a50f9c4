// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_communicators.h"

#include "frameworks/coll/coll.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/highest_code.h"
#include "mpi/communicators/thread_communicator.h"
#include "mpi/instance/thread_registry.h"
#include "object/error_cause.h"
#include "object/origins.h"

#include <algorithm>

namespace patchbay::threads {

namespace {

// The number of threads of each process, or after an error of any of them that error.
int gather_counts(Communicator& parent, int threads, int refused, std::vector<int>* counts) {
    const int mine = refused == MPI_SUCCESS ? threads : -refused;
    counts->resize(std::size_t(parent.size));
    const Datatype& type = *to_object<Datatype>(MPI_INT);
    const int code =
        (*parent.coll)[coll::Function::allgather].allgather(&mine, 1, type, counts->data(), 1, type, parent);
    const int lowest = *std::min_element(counts->begin(), counts->end());
    if (code != MPI_SUCCESS || lowest > 0) {
        return code;
    }
    return refused != MPI_SUCCESS
        ? refused
        : note_cause(-lowest, "another process of the parent has called MPIX_Threadcomm_init with a wrong argument");
}

// What it shares with the other processes. It is in the registry no more.
int release(ThreadCommunicator& all) noexcept {
    if (all.carrier == nullptr) {
        return MPI_SUCCESS;
    }
    all.carrier->stop_receiving();
    return free_communicator(all.carrier->comm());
}

} // namespace

int no_thread_communicator() noexcept {
    return note_cause(MPI_ERR_COMM, "the handle is of no thread communicator of this process");
}

void give_up(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation) noexcept {
    const std::lock_guard lock(all.mutex);
    if (all.activation == activation) {
        all.activation.reset();
    }
}

int init(Communicator& parent, int threads, int refused, MPI_Comm* handle) {
    Instance& instance = *parent.instance;
    Registry& registry = instance.thread_communicators();
    if (refused == MPI_SUCCESS && !registry.has_room()) {
        refused = note_cause(MPI_ERR_NO_SPACE, "there are 1024 thread communicators, and no more handles");
    }
    std::vector<int> counts;
    if (const int code = gather_counts(parent, threads, refused, &counts); code != MPI_SUCCESS) {
        return code;
    }
    auto made = std::make_shared<ThreadCommunicator>(parent, std::move(counts));
    if (made->has_other_processes()) {
        Communicator* carrier = nullptr;
        if (const int code = duplicate_for_library(parent, &carrier); code != MPI_SUCCESS) {
            return code;
        }
        made->carrier = std::make_unique<Carrier>(*carrier, instance.progress());
    }
    const std::uintptr_t value = registry.add(made);
    const auto made_handle = reinterpret_cast<MPI_Comm>(value);
    const int own = value == 0
        ? note_cause(MPI_ERR_NO_SPACE, "another thread has taken the last handle of a thread communicator")
        : parent.attributes.copy_to(made->attributes, AttributeOwner::communicator, to_handle(&parent), made_handle);
    if (const int code = highest_code(parent, own); code != MPI_SUCCESS) {
        if (own == MPI_SUCCESS) {
            static_cast<void>(made->attributes.erase_all(AttributeOwner::communicator, made_handle));
        }
        registry.remove(value);
        release(*made);
        return own != MPI_SUCCESS ? own : note_cause(code, "another process of the parent has failed to make it");
    }
    *handle = made_handle;
    return MPI_SUCCESS;
}

int free(Instance& instance, MPI_Comm handle) {
    const std::shared_ptr<ThreadCommunicator> all = instance.thread_communicators().find(value_of(handle));
    if (all == nullptr) {
        return no_thread_communicator();
    }
    {
        const std::lock_guard lock(all->mutex);
        if (all->activation != nullptr) {
            return note_cause(MPI_ERR_COMM, "the thread communicator is active: MPIX_Threadcomm_finish ends that");
        }
    }
    if (const int code = all->attributes.erase_all(AttributeOwner::communicator, handle); code != MPI_SUCCESS) {
        return code;
    }
    instance.thread_communicators().remove(value_of(handle));
    return release(*all);
}

int check_inactive(Instance& instance, const Session* session) {
    const std::uintptr_t active = instance.thread_communicators().find_if([session](ThreadCommunicator& one) {
        const std::lock_guard lock(one.mutex);
        return one.session == session && one.activation != nullptr;
    });
    return active != 0 ? note_cause(MPI_ERR_COMM,
                             "a thread communicator is active: MPIX_Threadcomm_finish in each of its threads ends that")
                       : MPI_SUCCESS;
}

// Their carriers are freed with the other communicators.
void abandon(Instance& instance, const Session* session) noexcept {
    instance.thread_communicators().remove_if([&](const ThreadCommunicator& one) { return one.session == session; });
}

int free_all(Instance& instance, const Session& session) {
    Registry& registry = instance.thread_communicators();
    const auto is_one = [&session](const ThreadCommunicator& one) { return one.session == &session; };
    for (std::uintptr_t value = registry.find_if(is_one); value != 0; value = registry.find_if(is_one)) {
        const std::shared_ptr<ThreadCommunicator> one = registry.find(value); // callbacks run without the lock
        const auto handle = reinterpret_cast<MPI_Comm>(value);
        if (Origins* const origins = Origins::active()) {
            origins->lose(handle, {});
        }
        if (const int code = one->attributes.erase_all(AttributeOwner::communicator, handle); code != MPI_SUCCESS) {
            return code;
        }
        registry.remove(value);
    }
    return MPI_SUCCESS;
}

bool exists(Instance& instance, MPI_Comm handle) noexcept {
    return instance.thread_communicators().find(value_of(handle)) != nullptr;
}

} // namespace patchbay::threads
