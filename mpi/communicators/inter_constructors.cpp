// SPDX-License-Identifier: BSD-3-Clause
// The constructors that are called on an intercommunicator.
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/intercommunicator_parts.h"
#include "mpi/communicators/intercommunicators.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/split.h"
#include "mpi/communicators/thread_intercommunicators.h"

#include <algorithm>
#include <array>

namespace patchbay {

namespace {

// The tags of a constructor on an intercommunicator. All its processes take them.
struct Tags {
    int hidden; // of the construction of the new local_comm, on the old local_comm
    int within; // of the group reductions within a group, on local_comm
    int across; // of the messages between the leaders, on the intercommunicator

    explicit Tags(Communicator& inter) noexcept
        : hidden(next_construction_tag(*inter.local_comm)),
          within(next_construction_tag(*inter.local_comm)),
          across(next_construction_tag(inter)) {}
};

// Constructs an intercommunicator of some members of both groups of `parent`, with the calling process. `info` may be
// null.
int build_smaller(Communicator& parent, const Ref<Group>& local, Ref<Group> remote, const Info* info, const Tags& tags,
    Communicator** made) {
    const Bridge bridge{&parent, parent.remote_group->rank_of(remote->process(0)), tags.across};
    auto reduction = std::make_unique<BridgeReduction>(*parent.local_comm, local, tags.within, 0, bridge);
    auto comm = child_of(parent, local, info);
    set_remote_group(*comm, std::move(remote));
    Construction construction(
        *parent.instance, std::move(comm), nullptr, std::move(reduction), cid::constructor_key(parent, tags.across));
    construction.add_local_side(local_side(*parent.local_comm, local, false, tags.hidden));
    return finish(construction, made);
}

} // namespace

int merge(Communicator& inter, bool high, Communicator** made, std::string* problem) {
    *made = nullptr;
    const bool first = is_first(inter);
    // For each of the two groups: whether a process has passed high, and whether a process has passed low.
    std::array<std::uint64_t, 4> given{};
    const std::size_t own = first ? 0 : 2;
    given[own + (high ? 0 : 1)] = 1;
    const int code = complete(inter, *bridge_over(inter), given, cid::GroupReduction::Operation::maximum);
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (given[0] == given[1] || given[2] == given[3]) {
        *problem = "the processes of one group passed different values of high";
        return MPI_ERR_ARG;
    }
    const bool local_is_lower = given[0] == given[2] ? first : !high;
    const Group& lower = local_is_lower ? *inter.group : *inter.remote_group;
    const Group& upper = local_is_lower ? *inter.remote_group : *inter.group;
    auto comm = child_of(inter, Group::unite(lower, upper), nullptr);
    remove_collectives_hint(*comm);
    if (inter.view != nullptr) {
        return threads::merge(inter, std::move(comm), local_is_lower, made);
    }
    auto reduction = bridge_over(inter);
    const cid::ConstructorKey key = cid::constructor_key(inter, construction_tag(inter.constructions.load()));
    Construction construction(*inter.instance, std::move(comm), nullptr, std::move(reduction), key);
    return finish(construction, made);
}

std::unique_ptr<Construction> duplication_of_inter(Communicator& parent, Ref<Communicator> comm) {
    const Tags tags(parent);
    set_remote_group(*comm, parent.own_remote_group);
    const Bridge bridge{&parent, 0, tags.across};
    auto reduction = std::make_unique<BridgeReduction>(*parent.local_comm, parent.group, tags.within, 0, bridge);
    auto construction = std::make_unique<Construction>(
        *parent.instance, std::move(comm), &parent, std::move(reduction), cid::constructor_key(parent, tags.across));
    construction->add_local_side(local_side(*parent.local_comm, parent.group, true, tags.hidden));
    return construction;
}

int create_from_subgroups(Communicator& parent, Group& local, Communicator** made) {
    if (parent.view != nullptr) {
        return threads::create_from_subgroups(parent, local, made);
    }
    *made = nullptr;
    const Tags tags(parent);
    Words mine;
    append_group(mine, local, jobs_of(parent));
    Words theirs;
    const int code = exchange_groups(*parent.local_comm, 0, {&parent, 0, tags.across}, mine, &theirs).code;
    if (code != MPI_SUCCESS || local.rank() == MPI_UNDEFINED || theirs.empty()) {
        return code;
    }
    int unknown = MPI_SUCCESS;
    std::shared_ptr<const JobReferences> jobs; // the parent keeps them, too
    Ref<Group> remote = read_remote_group(parent, theirs, &jobs, &unknown);
    return unknown != MPI_SUCCESS
        ? unknown
        : build_smaller(parent, Ref<Group>::share(&local), std::move(remote), nullptr, tags, made);
}

int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) {
    if (parent.view != nullptr) {
        return threads::split_inter(parent, color, key, info, made);
    }
    *made = nullptr;
    const Tags tags(parent);
    std::vector<SplitArguments> arguments;
    if (const int code =
            gather_split_arguments(*parent.local_comm, own_split_arguments(parent, color, key, 2), &arguments);
        code != MPI_SUCCESS) {
        return code;
    }
    std::vector<SplitArguments> remote_arguments;
    const int code = exchange_split_arguments(parent, {&parent, 0, tags.across}, arguments, &remote_arguments);
    if (code != MPI_SUCCESS || color == no_color) {
        return code;
    }
    std::vector<ProcessId> remote = members_with_color(*parent.remote_group, remote_arguments, color);
    if (remote.empty()) {
        return MPI_SUCCESS;
    }
    const int refused = std::max(refusal_of(arguments, color), refusal_of(remote_arguments, color));
    if (refused != MPI_SUCCESS) {
        return refused;
    }
    const ProcessId self = parent.group->self();
    Ref<Group> local = Group::list(members_with_color(*parent.group, arguments, color), self);
    return build_smaller(parent, local, Group::list(std::move(remote), self), info, tags, made);
}

} // namespace patchbay
