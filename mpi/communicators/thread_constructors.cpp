// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_constructors.h"

#include "core/base/out_of_memory.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/engine.h"
#include "frameworks/coll/selector.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/split.h"
#include "mpi/instance/instance.h"
#include "mpi/threads/activation.h"
#include "mpi/threads/view.h"
#include "object/error_cause.h"
#include "object/error_code.h"

namespace patchbay::threads {

namespace {

const Datatype& words_type() noexcept {
    return *to_object<Datatype>(MPI_UINT64_T);
}

// The part of the member that takes the context for all.
Agreement first_part(Activation& activation) noexcept {
    const std::uint32_t context = activation.take_context();
    return {context, context != 0 ? std::uint64_t(MPI_SUCCESS) : std::uint64_t(MPI_ERR_NO_SPACE)};
}

int refusal_of(const Agreement& agreed) noexcept {
    const int refused = int(agreed[1]);
    return refused == MPI_ERR_NO_SPACE && agreed[0] == 0
        ? note_cause(refused, "the threads have constructed as many communicators as there are contexts")
        : refused;
}

// What a member knows before the agreement.
Agreement own_part(const Communicator& parent, int refused) noexcept {
    Agreement part{0, std::uint64_t(refused)};
    if (parent.rank == 0 && refused == MPI_SUCCESS) {
        part = first_part(*parent.view->activation);
    }
    return part;
}

int agree(Communicator& parent, int refused, std::uint32_t* context) noexcept {
    const Agreement mine = own_part(parent, refused);
    Agreement agreed{};
    const int code = (*parent.coll)[coll::Function::allreduce].allreduce(
        mine.data(), agreed.data(), mine.size(), words_type(), *to_object<Op>(MPI_MAX), parent);
    *context = std::uint32_t(agreed[0]);
    return code != MPI_SUCCESS ? code : refusal_of(agreed);
}

// The first member of the group tells the others the context.
int agree_in_group(Communicator& parent, const Group& group, int tag, std::uint32_t* context) noexcept {
    Agreement agreed{};
    const auto rank_of = [&](int member) { return parent.group->rank_of(group.process(member)); };
    int code = MPI_SUCCESS;
    if (group.rank() != 0) {
        code = parent.pml->recv(agreed.data(), agreed.size(), words_type(), rank_of(0), tag, parent, nullptr);
    } else {
        agreed = first_part(*parent.view->activation);
        for (int member = 1; member < group.size() && code == MPI_SUCCESS; ++member) {
            code = parent.pml->send(
                agreed.data(), agreed.size(), words_type(), rank_of(member), tag, pml::SendMode::standard, parent);
        }
    }
    *context = std::uint32_t(agreed[0]);
    return code != MPI_SUCCESS ? code : refusal_of(agreed);
}

std::shared_ptr<const Members> members_of(const Communicator& parent, const Group& group) {
    if (&group == parent.group.get()) {
        return parent.view->members;
    }
    auto members = std::make_shared<Members>();
    members->reserve(std::size_t(group.size()));
    for (int rank = 0; rank < group.size(); ++rank) {
        members->push_back(parent.view->member(parent.group->rank_of(group.process(rank))));
    }
    return members;
}

} // namespace

int complete(Communicator& parent, Ref<Communicator> comm, std::uint32_t context, Communicator** made) {
    const View& of_parent = *parent.view;
    comm->progress = parent.progress;
    comm->pml = parent.pml;
    comm->view = new View(*comm, of_parent.engine, of_parent.activation, context, members_of(parent, *comm->group));
    if (const int code = open(*comm); code != MPI_SUCCESS) {
        return code;
    }
    *made = comm.detach();
    return MPI_SUCCESS;
}

int open(Communicator& comm) {
    comm.pml_data = comm.view;
    if (const int code = comm.pml->add_comm(comm); code != MPI_SUCCESS) {
        return code;
    }
    Instance& instance = *comm.instance;
    auto table = instance.coll_selector().select(instance, comm, hint_of_new(comm, "patchbay_coll"), comm.view->team());
    if (!table) {
        return note_cause(table.error());
    }
    comm.coll = *table;
    return MPI_SUCCESS;
}

int prepare_duplicate(Communicator& parent, const Info* info, Ref<Communicator>* comm) {
    *comm = child_of(parent, parent.group, info);
    (*comm)->topology = parent.topology;
    return parent.attributes.copy_to(
        (*comm)->attributes, AttributeOwner::communicator, to_handle(&parent), to_handle(comm->get()));
}

int duplicate(Communicator& parent, const Info* info, Communicator** made) {
    *made = nullptr;
    Ref<Communicator> comm;
    const int copied = prepare_duplicate(parent, info, &comm);
    std::uint32_t context = 0;
    const int code = agree(parent, copied, &context);
    return code != MPI_SUCCESS ? code : complete(parent, std::move(comm), context, made);
}

int begin_agreement(Communicator& parent, int refused, Agreement* mine, Agreement* agreed, Request** request) noexcept {
    *mine = own_part(parent, refused);
    coll::Call call;
    call.function = coll::Function::allreduce;
    call.send = mine->data();
    call.recv = agreed->data();
    call.send_count = call.recv_count = MPI_Count(mine->size());
    call.send_type = call.recv_type = &words_type();
    call.op = to_object<Op>(MPI_MAX);
    coll::Module& module = *parent.coll->find(call.function, coll::Form::nonblocking);
    return parent.coll->engine().start(module, call, parent, request);
}

int result_of(const Agreement& agreed, std::uint32_t* context) noexcept {
    *context = std::uint32_t(agreed[0]);
    return refusal_of(agreed);
}

int create(Communicator& parent, Ref<Group> group, std::shared_ptr<const Topology> topology, const Info* info,
    int refused, Communicator** made) {
    *made = nullptr;
    std::uint32_t context = 0;
    const int code = agree(parent, refused, &context);
    if (code != MPI_SUCCESS || group->rank() == MPI_UNDEFINED) {
        return code;
    }
    Ref<Communicator> comm = child_of(parent, std::move(group), info);
    comm->topology = std::move(topology);
    return complete(parent, std::move(comm), context, made);
}

int create_group(Communicator& parent, Group& group, int tag, Communicator** made) {
    std::uint32_t context = 0;
    const int code = agree_in_group(parent, group, group_construction_tag(tag), &context);
    return code != MPI_SUCCESS ? code
                               : complete(parent, child_of(parent, Ref<Group>::share(&group), nullptr), context, made);
}

int split(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) {
    std::vector<SplitArguments> arguments;
    int code = gather_split_arguments(parent, {color, key, MPI_SUCCESS}, &arguments);
    std::uint32_t context = 0;
    code = code != MPI_SUCCESS ? code : agree(parent, MPI_SUCCESS, &context);
    if (code != MPI_SUCCESS || color == no_color) {
        return code;
    }
    Ref<Group> group = Group::list(members_with_color(*parent.group, arguments, color), parent.group->self());
    return complete(parent, child_of(parent, std::move(group), info), context, made);
}

// A thread whose requests are complete has nothing to do for the others any more.
int disconnect(Communicator& comm) {
    if (const int code = (*comm.coll)[coll::Function::barrier].barrier(comm); code != MPI_SUCCESS) {
        return code;
    }
    wait_until(*comm.progress, [&comm] { return pending_operations(comm) == 0; });
    return free_communicator(comm);
}

} // namespace patchbay::threads
