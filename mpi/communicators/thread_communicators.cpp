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
#include "object/origins.h"
#include "object/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

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

void give_up(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation) noexcept {
    const std::lock_guard lock(all.mutex);
    if (all.activation == activation) {
        all.activation.reset();
    }
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
    part.context = ThreadContext::enter(instance.progress(), all.has_other_processes() || instance.runtime().size() > 1,
        all.threads(), cores_of_process(instance));
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
    all.instance.begin_threads(all.has_other_processes());
    if (all.carrier != nullptr) {
        all.carrier->open(++all.activations, activation.engines());
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
    wait_until(engine.progress(), [&engine] { return engine.freed_operations() == 0; });
}

// How many MPI_Precv_init requests there are on such communicators that the program has freed before a start, and whose
// setup message has not arrived. Each has a request of the pml and a reference to its communicator, and is destroyed
// when all threads leave.
template <class Predicate>
std::size_t count_unmatched(Instance& instance, Predicate&& is_one) noexcept {
    std::size_t count = 0;
    instance.partitioned().for_each_unmatched([&](const Communicator& on) { count += is_one(on) ? 1 : 0; });
    return count;
}

std::size_t count_unmatched_on(Instance& instance, const Communicator& comm) noexcept {
    return count_unmatched(instance, [&comm](const Communicator& on) { return &on == &comm; });
}

// The communicators and windows that the program has not freed, the thread communicator among them.
std::size_t count_communicators(const Engine& engine) noexcept {
    std::size_t count = 0;
    engine.for_each_view([&count](const Communicator& one) {
        count += one.freed ? 0 : 1;
        count -= one.is_inter ? 1 : 0; // its local_comm has a view of its own
    });
    return count;
}

// What has references to the thread communicator, or to those that the program has freed: coll::Operation, Partitioned.
std::size_t count_operations(Instance& instance, const Communicator& thread_comm) noexcept {
    std::size_t count = 0;
    thread_comm.view->engine.for_each_view([&](const Communicator& one) {
        if (one.freed || &one == &thread_comm) {
            const std::size_t own = &one == &thread_comm ? 1 : 0;
            const std::size_t each =
                one.is_predefined() ? 1 : 2; // references: the request of the pml may have one, too
            count += std::size_t(one.references()) - own - each * count_unmatched_on(instance, one);
        }
    });
    return count;
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
    if (const std::size_t left = count_communicators(engine); left != 1) { // a window has one, and requests
        return note_cause(MPI_ERR_PENDING,
            fmt::format("{} communicators or windows of rank {} that are derived from the thread communicator have not "
                        "been freed",
                left - 1, comm.rank));
    }
    const std::size_t unmatched =
        count_unmatched(instance, [&engine](const Communicator& on) { return is_of(engine, on); });
    if (const std::size_t left = engine.requests() - unmatched; left != 0) {
        return note_cause(
            MPI_ERR_PENDING, fmt::format("{} requests of rank {} have not been completed or freed", left, comm.rank));
    }
    const std::size_t operations = count_operations(instance, comm);
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
        code = first_error(reduced, highest);
    }
    if (code == MPI_SUCCESS) {
        give_up(all, activation);
        all.instance.end_threads();
    } else if (all.carrier != nullptr) {
        all.carrier->reopen(activation->engines());
    }
    return code;
}

// Called by each thread, with an error that it has; returns the first error of all threads, or of the processes.
int end_together(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation, int number, int code) {
    if (activation->gather(number, &code)) {
        code = end(all, activation, activation->engine(number), code);
        activation->release(code);
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
    code = end_together(*all, activation, number, code);
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
    if (all->carrier != nullptr) {
        all->carrier->stop_receiving();
    }
    return all->carrier != nullptr ? free_communicator(all->carrier->comm()) : MPI_SUCCESS;
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
