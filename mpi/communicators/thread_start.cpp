// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "core/runtime/runtime.h"
#include "mpi/communicators/thread_communicator.h"
#include "mpi/communicators/thread_constructors.h"
#include "mpi/instance/thread_registry.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

// Of the program's OpenMP, if it has any.
extern "C" {
[[gnu::weak]] int omp_in_parallel(void);
[[gnu::weak]] int omp_get_num_threads(void);
}

namespace patchbay::threads {

namespace {

// A program with OpenMP tells how many threads there are, so that a wrong number is no wait for a thread that never
// comes.
int check_parallel_region(int threads) noexcept {
    if (omp_in_parallel == nullptr || omp_get_num_threads == nullptr || omp_in_parallel() == 0 ||
        omp_get_num_threads() == threads) {
        return MPI_SUCCESS;
    }
    return note_cause(MPI_ERR_ARG,
        fmt::format("the parallel region has {} threads, but MPIX_Threadcomm_init was called for {}",
            omp_get_num_threads(), threads));
}

// How many cores of the node there are for each process of it. None: whether threads spin does not depend on that.
std::optional<unsigned> cores_of_process(Instance& instance) {
    enum Choice : std::size_t { automatic };
    if (instance.core().params.at("wait_oversubscribed").as_enum() != automatic) {
        return std::nullopt;
    }
    const Runtime& runtime = instance.runtime();
    return runtime.node_cores() / std::max(runtime.local_size(), 1u);
}

// How a thread is identified in groups. Those of one process are identified by their numbers, which are the same in all
// their thread communicators. Of other processes only the order of arrival is known, and all processes must identify a
// thread in the same way.
std::uint16_t id_of(const ThreadCommunicator& all, const Activation& activation, int thread) noexcept {
    return all.has_other_processes() ? std::uint16_t(thread + 1) : activation.context(thread).number();
}

// Where the ranks are: called by the last thread that has started.
void place_ranks(const ThreadCommunicator& all, Activation& activation) {
    auto members = std::make_shared<Members>();
    activation.process = all.process;
    activation.process_count = int(all.counts.size());
    for (int process = 0; process < int(all.counts.size()); ++process) {
        activation.first_ranks.push_back(int(members->size()));
        for (int thread = 0; thread < all.counts[std::size_t(process)]; ++thread) {
            members->push_back({process == all.process ? &activation.engine(thread) : nullptr, process, thread});
            ProcessId id = all.processes[std::size_t(process)];
            id.thread = id_of(all, activation, thread);
            activation.processes.push_back(id);
        }
    }
    activation.members = std::move(members);
}

// The communicator of one thread behind the handle.
int make_view(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation, int number, MPI_Comm handle,
    ThreadContext& context, AttributeMap& attributes) {
    auto comm = Ref<Communicator>::adopt(new Communicator);
    ProcessId self = all.processes[std::size_t(all.process)];
    self.thread = id_of(all, *activation, number);
    comm->group = Group::list(activation->processes, self);
    comm->group->session = Session::id(all.session);
    comm->remote_group = comm->group.get();
    comm->rank = comm->group->rank();
    comm->size = comm->group->size();
    comm->remote_size = comm->size;
    comm->instance = &all.instance;
    comm->session = all.session;
    comm->jobs = all.jobs;
    comm->errhandler = all.errhandler;
    comm->pml = &all.pml;
    comm->progress = &context.progress();
    comm->set_predefined(value_of(handle));
    comm->view = new View(*comm, activation->engine(number), activation, 0, activation->members);
    if (const int code = open(*comm); code != MPI_SUCCESS) {
        return code;
    }
    attributes.move_to(comm->attributes);
    context.views()[value_of(handle) - first_thread_handle] = comm.detach();
    return MPI_SUCCESS;
}

// The thread is in the activation under this number, or gets an error: it ends its part then.
int join(ThreadCommunicator& all, std::shared_ptr<Activation>* activation, int* number) {
    const std::lock_guard lock(all.mutex);
    if (all.activation == nullptr) {
        all.activation = std::make_shared<Activation>(all.threads());
    }
    *activation = all.activation;
    return (*activation)->join(number)
        ? MPI_SUCCESS
        : note_cause(MPI_ERR_COMM,
              fmt::format("{} threads of this process have called MPIX_Threadcomm_start already, which is the number "
                          "that MPIX_Threadcomm_init was called with",
                  all.threads()));
}

// What a thread has of its start before it is ready: whatever it may lack after that, the others have started.
struct Part {
    std::shared_ptr<Activation> activation;
    int number = 0;
    std::shared_ptr<ThreadContext> context;
    AttributeMap attributes;
};

int prepare(ThreadCommunicator& all, Part& part, MPI_Comm handle) {
    Instance& instance = all.instance;
    Runtime& runtime = instance.runtime();
    const bool knows_processes = all.has_other_processes() || runtime.size() > 1 || runtime.jobs().size() > 1;
    part.context =
        ThreadContext::enter(instance.progress(), knows_processes, all.threads(), cores_of_process(instance));
    part.activation->make_engine(part.number, part.context, all.carrier.get());
    return all.attributes.copy_to(part.attributes, AttributeOwner::communicator, handle, handle);
}

// The last thread of the process: from here on messages can be sent and received.
int begin(ThreadCommunicator& all, Activation& activation) noexcept {
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        place_ranks(all, activation);
        return MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (!activation.claim_start()) {
        return note_cause(MPI_ERR_COMM, "another thread of the process has waited for too long for this one");
    }
    all.instance.begin_threads();
    if (all.carrier != nullptr) {
        all.carrier->open(++all.activations, activation.engines());
    } else {
        activation.process_polls.open();
    }
    activation.started();
    return MPI_SUCCESS;
}

// All threads of the process are ready, or this one has waited for too long.
int wait_for_others(ThreadCommunicator& all, const Part& part) {
    Activation& activation = *part.activation;
    const auto limit = all.instance.core().params.at("mpi_threadcomm_start_timeout").as_duration();
    if (activation.wait_for_start(part.number, limit.count() > 0 ? limit : std::chrono::nanoseconds::max())) {
        return MPI_SUCCESS;
    }
    if (activation.refused() != MPI_SUCCESS) {
        return note_cause(activation.refused(), "another thread of the process could not start");
    }
    return note_cause(MPI_ERR_COMM,
        fmt::format("{} of {} threads have called MPIX_Threadcomm_start within the time that parameter "
                    "mpi_threadcomm_start_timeout allows",
            activation.joined(), activation.threads()));
}

// `code`: an error of this thread, with which none starts.
int start_together(ThreadCommunicator& all, const Part& part, int code) {
    Activation& activation = *part.activation;
    if (code != MPI_SUCCESS) {
        activation.refuse(code);
    }
    if (!activation.is_last_to_be_ready()) {
        return first_error(code, wait_for_others(all, part)); // the activation is this one's for those that come
    }
    const int refused = activation.refused();
    if (refused == MPI_SUCCESS) {
        code = begin(all, activation);
    } else if (code == MPI_SUCCESS) {
        code = note_cause(refused, "another thread of the process could not start");
    }
    if (code != MPI_SUCCESS) {
        activation.refuse(code);
        activation.give_up();
    }
    return code;
}

// A thread that has started and has no memory for its communicator ends its part at once: the others, which may wait
// for its messages, do not wait for it in MPIX_Threadcomm_finish.
void finish_without_view(ThreadCommunicator& all, const Part& part) noexcept {
    int code = MPI_SUCCESS;
    do {
        code = end_together(all, part.activation, part.number, MPI_SUCCESS);
    } while (code != MPI_SUCCESS && code != MPI_ERR_PROC_ABORTED); // MPIX_Threadcomm_finish cannot succeed after that
}

} // namespace

int start(Instance& instance, MPI_Comm handle) {
    const std::shared_ptr<ThreadCommunicator> all = instance.thread_communicators().find(value_of(handle));
    if (all == nullptr) {
        return no_thread_communicator();
    }
    if (thread_view(value_of(handle)) != nullptr) {
        return note_cause(MPI_ERR_COMM, "this thread has started the thread communicator already");
    }
    if (const int code = check_parallel_region(all->threads()); code != MPI_SUCCESS) {
        return code;
    }
    Part part;
    if (const int code = join(*all, &part.activation, &part.number); code != MPI_SUCCESS) {
        return code;
    }
    const int ready = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return prepare(*all, part, handle); });
    int code = start_together(*all, part, ready);
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM,
            [&] { return make_view(*all, part.activation, part.number, handle, *part.context, part.attributes); });
        if (code != MPI_SUCCESS) {
            finish_without_view(*all, part);
        }
    } else {
        give_up(*all, part.activation);
    }
    if (code != MPI_SUCCESS) {
        part.attributes.erase_all(AttributeOwner::communicator, handle);
        part.activation->drop_engine(part.number);
        if (part.context != nullptr) {
            ThreadContext::leave();
        }
    }
    return code;
}

} // namespace patchbay::threads
