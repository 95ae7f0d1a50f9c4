// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/thread_intercommunicators.h"

#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/intercommunicator_parts.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/split.h"
#include "mpi/communicators/thread_constructors.h"
#include "mpi/threads/activation.h"

#include <fmt/core.h>

namespace patchbay::threads {

namespace {

// The members of a group from their ranks in the thread communicator.
std::vector<ProcessId> processes_at(const Activation& activation, std::span<const std::uint64_t> ranks) {
    std::vector<ProcessId> processes;
    processes.reserve(ranks.size());
    for (const std::uint64_t rank : ranks) {
        processes.push_back(activation.processes[rank]);
    }
    return processes;
}
std::shared_ptr<const Members> members_at(const Activation& activation, std::span<const std::uint64_t> ranks) {
    auto members = std::make_shared<Members>();
    members->reserve(ranks.size());
    for (const std::uint64_t rank : ranks) {
        members->push_back((*activation.members)[rank]);
    }
    return members;
}

// Checks that the groups have no thread in common. `ranks`: of the members of `remote`, in the thread communicator.
int check_disjoint(
    const Group& local, const Group& remote, std::span<const std::uint64_t> ranks, std::string* problem) {
    for (int rank = 0; rank < remote.size(); ++rank) {
        if (local.rank_of(remote.process(rank)) != MPI_UNDEFINED) {
            *problem = fmt::format("rank {} of the thread communicator is in both groups, but the groups of an "
                                   "intercommunicator must have no member in common",
                ranks[std::size_t(rank)]);
            return MPI_ERR_COMM;
        }
    }
    return MPI_SUCCESS;
}

// An intercommunicator of some members of both groups of `parent`, with the calling thread. `info` may be null.
int construct_smaller(Communicator& parent, Ref<Group> local, Ref<Group> remote, const Info* info,
    const Contexts& contexts, Communicator** made) {
    auto members = places_of(*remote, *parent.remote_group, parent.view->members);
    auto comm = child_of(parent, std::move(local), info);
    set_remote_group(*comm, std::move(remote));
    return construct_inter(*parent.local_comm, std::move(comm), std::move(members), contexts, made);
}

} // namespace

bool are_of_one_activation(const Communicator& a, const Communicator& b) noexcept {
    return a.view != nullptr && b.view != nullptr && a.view->activation == b.view->activation;
}

int construct_inter(Communicator& local, Ref<Communicator> comm, std::shared_ptr<const Members> remote,
    const Contexts& contexts, Communicator** made) {
    auto own = places_of(*comm->group, *local.group, local.view->members);
    auto side = child_of(local, comm->group, nullptr);
    side->is_local_side = true;
    const int code = construct(local, std::move(side), contexts.local_comm, std::move(own), &comm->local_comm);
    return code != MPI_SUCCESS ? code : construct(local, std::move(comm), contexts.own, std::move(remote), made);
}

int create_intercommunicator(
    Communicator& local, int leader, const Bridge& bridge, int tag, Communicator** made, std::string* problem) {
    const Activation& activation = *local.view->activation;
    Words mine;
    for (const Member& member : *local.view->members) {
        mine.push_back(std::uint64_t(activation.rank_of(member)));
    }
    Words theirs;
    if (const Refusal refusal = exchange_groups(local, leader, bridge, mine, &theirs); refusal.happened()) {
        *problem = refusal.text();
        return refusal.code;
    }
    auto remote = Group::list(processes_at(activation, theirs), local.group->self());
    if (const int code = check_disjoint(*local.group, *remote, theirs, problem); code != MPI_SUCCESS) {
        return code;
    }
    auto comm = child_of(local, local.group, nullptr);
    remove_collectives_hint(*comm);
    set_remote_group(*comm, std::move(remote));
    BridgeReduction reduction(local, local.group, tag, leader, bridge);
    Contexts contexts;
    const int code = reduce_contexts_by(reduction, local, contribution_of(local, true, MPI_SUCCESS), &contexts);
    return code != MPI_SUCCESS
        ? code
        : construct_inter(local, std::move(comm), members_at(activation, theirs), contexts, made);
}

int merge(Communicator& inter, Ref<Communicator> comm, bool local_is_lower, Communicator** made) {
    const Members& local = *inter.local_comm->view->members;
    const Members& remote = *inter.view->members;
    auto members = std::make_shared<Members>(local_is_lower ? local : remote);
    const Members& upper = local_is_lower ? remote : local;
    members->insert(members->end(), upper.begin(), upper.end());
    Contexts contexts;
    const int code = reduce_contexts(inter, MPI_SUCCESS, &contexts);
    return code != MPI_SUCCESS ? code : construct(inter, std::move(comm), contexts.own, std::move(members), made);
}

// The groups exchange the ranks of the members in the groups of the parent.
int create_from_subgroups(Communicator& parent, Group& local, Communicator** made) {
    *made = nullptr;
    const Bridge bridge{&parent, 0, next_construction_tag(parent)};
    Words mine;
    for (int rank = 0; rank < local.size(); ++rank) {
        mine.push_back(std::uint64_t(parent.group->rank_of(local.process(rank))));
    }
    Words theirs;
    int code = exchange_groups(*parent.local_comm, 0, bridge, mine, &theirs).code;
    Contexts contexts;
    code = code != MPI_SUCCESS ? code : reduce_contexts(parent, MPI_SUCCESS, &contexts);
    if (code != MPI_SUCCESS || local.rank() == MPI_UNDEFINED || theirs.empty()) {
        return code;
    }
    const std::vector<int> ranks(theirs.begin(), theirs.end());
    return construct_smaller(
        parent, Ref<Group>::share(&local), parent.remote_group->include(ranks), nullptr, contexts, made);
}

int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) {
    *made = nullptr;
    const Bridge bridge{&parent, 0, next_construction_tag(parent)};
    std::vector<SplitArguments> arguments;
    std::vector<SplitArguments> remote_arguments;
    int code = gather_split_arguments(*parent.local_comm, {color, key, MPI_SUCCESS}, &arguments);
    code = code != MPI_SUCCESS ? code : exchange_split_arguments(parent, bridge, arguments, &remote_arguments);
    Contexts contexts;
    code = code != MPI_SUCCESS ? code : reduce_contexts(parent, MPI_SUCCESS, &contexts);
    if (code != MPI_SUCCESS || color == no_color) {
        return code;
    }
    std::vector<ProcessId> remote = members_with_color(*parent.remote_group, remote_arguments, color);
    if (remote.empty()) {
        return MPI_SUCCESS;
    }
    const ProcessId self = parent.group->self();
    return construct_smaller(parent, Group::list(members_with_color(*parent.group, arguments, color), self),
        Group::list(std::move(remote), self), info, contexts, made);
}

} // namespace patchbay::threads
