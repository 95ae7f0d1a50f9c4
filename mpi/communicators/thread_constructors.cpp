// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_constructors.h"

#include "core/base/out_of_memory.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/coll.h"
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

#include <algorithm>
#include <array>

namespace patchbay::threads {

namespace {

// What the members of a parent agree on, as the maximum of all: the context, and the error.
using Words = std::array<std::uint64_t, 2>;

const Datatype& words_type() noexcept {
    return *to_object<Datatype>(MPI_UINT64_T);
}

Words own_words(const Communicator& parent, int refused) noexcept {
    return {parent.view->engine.next_context(), std::uint64_t(refused)};
}

// The result of an agreement; the context is not used again, whether there is a communicator or not.
int take(Communicator& parent, const Words& agreed, std::uint32_t* context) noexcept {
    *context = std::uint32_t(agreed[0]);
    parent.view->engine.use_context(*context);
    return int(agreed[1]);
}

int agree(Communicator& parent, int refused, std::uint32_t* context) noexcept {
    const Words mine = own_words(parent, refused);
    Words agreed{};
    const int code = (*parent.coll)[coll::Function::allreduce].allreduce(
        mine.data(), agreed.data(), mine.size(), words_type(), *to_object<Op>(MPI_MAX), parent);
    return code != MPI_SUCCESS ? code : take(parent, agreed, context);
}

// The same among the members of a group: the first one reduces the words of the others.
int agree_in_group(Communicator& parent, const Group& group, int tag, std::uint32_t* context) noexcept {
    Words agreed = own_words(parent, MPI_SUCCESS);
    const auto rank_of = [&](int member) { return parent.group->rank_of(group.process(member)); };
    const auto send = [&](int member) {
        return parent.pml->send(
            agreed.data(), agreed.size(), words_type(), rank_of(member), tag, pml::SendMode::standard, parent);
    };
    int code = MPI_SUCCESS;
    if (group.rank() != 0) {
        code = send(0);
        const int received = code != MPI_SUCCESS
            ? code
            : parent.pml->recv(agreed.data(), agreed.size(), words_type(), rank_of(0), tag, parent, nullptr);
        return received != MPI_SUCCESS ? received : take(parent, agreed, context);
    }
    for (int member = 1; member < group.size() && code == MPI_SUCCESS; ++member) {
        Words other{};
        code = parent.pml->recv(other.data(), other.size(), words_type(), rank_of(member), tag, parent, nullptr);
        std::transform(other.begin(), other.end(), agreed.begin(), agreed.begin(),
            [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
    }
    for (int member = 1; member < group.size() && code == MPI_SUCCESS; ++member) {
        code = send(member);
    }
    return code != MPI_SUCCESS ? code : take(parent, agreed, context);
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

int finish(Communicator& parent, Ref<Communicator> comm, std::uint32_t context, Communicator** made) {
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

} // namespace

int open(Communicator& comm) {
    comm.pml_data = comm.view;
    if (const int code = comm.pml->add_comm(comm); code != MPI_SUCCESS) {
        return code;
    }
    Instance& instance = *comm.instance;
    auto table = instance.coll_selector().select(instance, comm, hint_of_new(comm, "patchbay_coll"));
    if (!table) {
        return note_cause(table.error());
    }
    comm.coll = *table;
    return MPI_SUCCESS;
}

int duplicate(Communicator& parent, const Info* info, Communicator** made) {
    *made = nullptr;
    Ref<Communicator> comm = child_of(parent, parent.group, info);
    comm->topology = parent.topology;
    const int copied = parent.attributes.copy_to(
        comm->attributes, AttributeOwner::communicator, to_handle(&parent), to_handle(comm.get()));
    std::uint32_t context = 0;
    const int code = agree(parent, copied, &context);
    return code != MPI_SUCCESS ? code : finish(parent, std::move(comm), context, made);
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
    return finish(parent, std::move(comm), context, made);
}

int create_group(Communicator& parent, Group& group, int tag, Communicator** made) {
    std::uint32_t context = 0;
    const int code = agree_in_group(parent, group, group_construction_tag(tag), &context);
    return code != MPI_SUCCESS ? code
                               : finish(parent, child_of(parent, Ref<Group>::share(&group), nullptr), context, made);
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
    return finish(parent, child_of(parent, std::move(group), info), context, made);
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
