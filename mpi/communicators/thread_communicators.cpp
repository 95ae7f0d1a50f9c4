// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_communicators.h"

#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pml/partitioned_engine.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/thread_constructors.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/thread_registry.h"
#include "mpi/threads/activation.h"
#include "mpi/threads/pml.h"
#include "object/error_cause.h"
#include "object/error_code.h"
#include "object/session.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

// Of the program's OpenMP, if it has any.
extern "C" {
[[gnu::weak]] int omp_in_parallel(void);
[[gnu::weak]] int omp_get_num_threads(void);
}

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

namespace {

std::uintptr_t value_of(MPI_Comm handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle);
}

int no_thread_communicator() noexcept {
    return note_cause(MPI_ERR_COMM, "the handle is of no thread communicator of this process");
}

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

// Whether the threads of all processes are more than the cores of the node.
bool shares_cores_of_node(Instance& instance, int threads) {
    const Runtime& runtime = instance.runtime();
    return std::uint64_t(threads) * std::max(runtime.local_size(), 1u) > runtime.node_cores();
}

// Whether the calling thread may run on fewer cores than there are threads, which may be those of all of them.
bool may_share_cores(int threads) noexcept {
    cpu_set_t own;
    return sched_getaffinity(0, sizeof own, &own) == 0 && CPU_COUNT(&own) < threads;
}

WaitPolicy policy_of(Instance& instance, bool shares_cores) {
    enum Choice : std::size_t { automatic };
    const WaitPolicy& of_process = instance.progress().policy();
    if (!shares_cores || instance.core().params.at("wait_oversubscribed").as_enum() != automatic) {
        return of_process;
    }
    return WaitPolicy::make(of_process.spin, of_process.yield, of_process.sleep, true);
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
    ThreadContext& context) {
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
    if (const int code = all.attributes.copy_to(comm->attributes, AttributeOwner::communicator, handle, handle);
        code != MPI_SUCCESS) {
        return code;
    }
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

void give_up(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation) noexcept {
    const std::lock_guard lock(all.mutex);
    if (all.activation == activation) {
        all.activation.reset();
    }
}

// The last thread of the process: from here on messages can be sent and received.
int begin(ThreadCommunicator& all, Activation& activation) {
    place_ranks(all, activation);
    all.instance.begin_threads(all.has_other_processes());
    if (all.carrier != nullptr) {
        all.carrier->open(++all.activations, activation.engines());
    }
    activation.started();
    return MPI_SUCCESS;
}

int start_in(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation, int number, ThreadContext& context,
    MPI_Comm handle) {
    if (activation->is_last_to_be_ready()) {
        if (const int code = begin(all, *activation); code != MPI_SUCCESS) {
            return code;
        }
    } else {
        const auto limit = all.instance.core().params.at("mpi_threadcomm_start_timeout").as_duration();
        if (!activation->wait_for_start(number, limit.count() > 0 ? limit : std::chrono::nanoseconds::max())) {
            return note_cause(MPI_ERR_COMM,
                fmt::format("{} of {} threads have called MPIX_Threadcomm_start within the time that parameter "
                            "mpi_threadcomm_start_timeout allows",
                    activation->joined(), activation->threads()));
        }
    }
    if (may_share_cores(all.threads())) { // whether they do is known only now
        const bool share = activation->shares_cores() || shares_cores_of_node(all.instance, all.threads());
        context.progress().set_policy(policy_of(all.instance, share));
    }
    return make_view(all, activation, number, handle, context);
}

// Whether the calling thread has this communicator by the engine, as the thread communicator or one derived from it.
bool is_of(const Engine& engine, const Communicator& comm) noexcept {
    return comm.view != nullptr && &comm.view->engine == &engine;
}

// Operations whose requests the program has freed while they were active take place before the thread leaves, as those
// of a process do before it is finalized: other ranks wait for its part of them.
void wait_for_freed(Instance& instance, const Communicator& comm) {
    Engine& engine = comm.view->engine;
    const auto of_thread = [&engine](const Communicator& other) { return is_of(engine, other); };
    instance.coll_engine().wait_for_freed(engine.progress(), comm.session, of_thread);
    instance.partitioned().wait_for_freed(engine.progress(), comm.session, of_thread);
    wait_until(engine.progress(), [&engine] { return engine.freed_sends() == 0; });
}

// MPI_Precv_init requests that the program has freed before a start, and whose setup message has not arrived. Each has
// a request of the pml and a reference to its communicator, and is destroyed when all threads leave.
struct Unmatched {
    std::size_t requests = 0;
    std::size_t on_comm = 0;                           // on the thread communicator itself
    std::set<const Communicator*> freed_communicators; // derived from it, which exist because of such requests
    bool no_memory = false;
};

Unmatched find_unmatched(Instance& instance, const Communicator& comm) {
    Unmatched found;
    instance.partitioned().for_each_unmatched([&](const Communicator& on) {
        if (is_of(comm.view->engine, on)) {
            ++found.requests;
            found.on_comm += &on == &comm ? 1 : 0;
            if (on.freed) {
                found.no_memory = !unless_out_of_memory(false,
                                      [&] {
                                          found.freed_communicators.insert(&on);
                                          return true;
                                      }) ||
                    found.no_memory;
            }
        }
    });
    return found;
}

// What keeps a thread from leaving.
int check_finished(Instance& instance, const Communicator& comm) {
    const Engine& engine = comm.view->engine;
    const std::size_t channels = instance.bound_channels().count(
        [&engine](const chan::Channel& channel) { return is_of(engine, *channel.binding().comm); });
    if (channels != 0) {
        return note_cause(
            MPI_ERR_PENDING, fmt::format("{} channels of rank {} have not been unbound", channels, comm.rank));
    }
    const Unmatched unmatched = find_unmatched(instance, comm);
    if (unmatched.no_memory) {
        return MPI_ERR_NO_MEM;
    }
    const std::size_t views = engine.views() - unmatched.freed_communicators.size();
    if (views != 1) { // a window has a communicator, and requests; an intercommunicator has its local_comm
        return note_cause(MPI_ERR_PENDING,
            fmt::format("{} communicators or windows of rank {} that are derived from the thread communicator have not "
                        "been freed",
                views - 1 - engine.intercommunicators(), comm.rank));
    }
    if (const std::size_t left = engine.requests() - unmatched.requests; left != 0) {
        return note_cause(
            MPI_ERR_PENDING, fmt::format("{} requests of rank {} have not been completed or freed", left, comm.rank));
    }
    const std::size_t operations =
        std::size_t(comm.references()) - 1 - unmatched.on_comm; // coll::Operation, Partitioned
    if (operations != 0) {
        return note_cause(MPI_ERR_PENDING,
            fmt::format("{} collective or partitioned operations of rank {} have not been completed or freed",
                operations, comm.rank));
    }
    return MPI_SUCCESS;
}

// The last thread of the process: all processes agree that they finish.
int end(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation, Engine& engine, int code) {
    if (all.carrier != nullptr) {
        Carrier& carrier = *all.carrier;
        // The messages that this process sends below wait behind those of its threads.
        wait_until(engine.progress(), [&carrier] { return carrier.sent_all(); });
        // A process that goes on sooner may have started again: its messages wait in the pml until this one has, too.
        carrier.close();
        int highest = MPI_SUCCESS;
        const int reduced = (*carrier.comm().coll)[coll::Function::allreduce].allreduce(
            &code, &highest, 1, *to_object<Datatype>(MPI_INT), *to_object<Op>(MPI_MAX), carrier.comm());
        code = reduced != MPI_SUCCESS ? reduced : highest;
    }
    if (code == MPI_SUCCESS) {
        give_up(all, activation);
        all.instance.end_threads();
    } else if (all.carrier != nullptr) {
        all.carrier->reopen(activation->engines());
    }
    return code;
}

} // namespace

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
    if (value == 0) {
        return note_cause(MPI_ERR_NO_SPACE, "another thread has taken the last handle of a thread communicator");
    }
    *handle = reinterpret_cast<MPI_Comm>(value);
    return parent.attributes.copy_to(made->attributes, AttributeOwner::communicator, to_handle(&parent), *handle);
}

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
    std::shared_ptr<Activation> activation;
    int number = 0;
    if (const int code = join(*all, &activation, &number); code != MPI_SUCCESS) {
        return code;
    }
    const auto context = ThreadContext::enter(
        policy_of(instance, may_share_cores(all->threads()) || shares_cores_of_node(instance, all->threads())),
        instance.progress(), all->has_other_processes() || instance.runtime().size() > 1);
    activation->make_engine(number, context, all->carrier.get());
    const int code = start_in(*all, activation, number, *context, handle);
    if (code != MPI_SUCCESS) {
        give_up(*all, activation);
        activation->drop_engine(number);
        ThreadContext::leave();
    }
    return code;
}

int finish(Instance& instance, MPI_Comm handle) {
    const std::shared_ptr<ThreadCommunicator> all = instance.thread_communicators().find(value_of(handle));
    if (all == nullptr) {
        return no_thread_communicator();
    }
    Communicator* comm = thread_view(value_of(handle));
    if (comm == nullptr) {
        return note_cause(MPI_ERR_COMM, "this thread has not started the thread communicator");
    }
    int code = comm->attributes.erase_all(AttributeOwner::communicator, handle);
    if (code == MPI_SUCCESS) {
        wait_for_freed(instance, *comm);
        code = check_finished(instance, *comm);
    }
    const int own_code = code;
    const std::shared_ptr<Activation> activation = comm->view->activation;
    const int number = comm->view->engine.thread();
    if (activation->gather(number, &code)) {
        code = end(*all, activation, comm->view->engine, code);
        activation->release(code);
    }
    if (code != MPI_SUCCESS) {
        return own_code != MPI_SUCCESS
            ? own_code
            : note_cause(code,
                  code == MPI_ERR_PROC_ABORTED
                      ? "a process of the thread communicator has failed"
                      : "another thread of the communicator has requests or communicators that are left");
    }
    Engine& engine = comm->view->engine;
    instance.partitioned().cancel_unmatched(
        engine.progress(), [&engine](const Communicator& other) { return is_of(engine, other); });
    ThreadContext::of_thread().views()[value_of(handle) - first_thread_handle] = nullptr;
    Ref<Communicator>::adopt(comm).reset();
    activation->drop_engine(number);
    ThreadContext::leave();
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
    return all->carrier != nullptr ? free_communicator(all->carrier->comm()) : MPI_SUCCESS;
}

bool exists(Instance& instance, MPI_Comm handle) noexcept {
    return instance.thread_communicators().find(value_of(handle)) != nullptr;
}

} // namespace patchbay::threads
