// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/waiter.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pml/partitioned_engine.h"
#include "mpi/communicators/thread_communicator.h"
#include "mpi/instance/thread_registry.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <fmt/core.h>

namespace patchbay::threads {

namespace {

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
        // Threads of other processes may wait for an answer to a cancel until they come here.
        int highest = MPI_SUCCESS;
        const int reduced = (*carrier.comm().coll)[coll::Function::allreduce].allreduce(
            &code, &highest, 1, *to_object<Datatype>(MPI_INT), *to_object<Op>(MPI_MAX), carrier.comm());
        code = first_error(reduced, highest);
    }
    if (code == MPI_SUCCESS) {
        if (all.carrier != nullptr) {
            wait_until(engine.progress(), [&all] { return all.carrier->sent_all(); }); // the answers
            all.carrier->close();
        }
        activation->process_polls.close();
        give_up(all, activation);
        all.instance.end_threads();
    }
    return code;
}

} // namespace

int end_together(ThreadCommunicator& all, const std::shared_ptr<Activation>& activation, int number, int code) {
    if (activation->gather(number, &code)) {
        code = end(all, activation, activation->engine(number), code);
        activation->release(code);
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

} // namespace patchbay::threads
