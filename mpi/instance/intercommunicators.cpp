// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/intercommunicators.h"

#include "frameworks/coll/coll.h"
#include "frameworks/coll/transfer.h"
#include "mpi/instance/bridge_agreement.h"
#include "mpi/instance/construction_tags.h"
#include "mpi/instance/hints.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/new_communicator.h"
#include "mpi/instance/split.h"

#include <array>

namespace patchbay {

namespace {

using Words = std::vector<std::uint64_t>;

void set_remote_group(Communicator& comm, Ref<Group> group) noexcept {
    comm.is_inter = true;
    comm.remote_size = group->size();
    if (!group->is_predefined()) {
        group->session = comm.session;
    }
    comm.remote_group = std::move(group);
}

// Which components serve the collectives of two groups does not follow from which serve those of one, nor the other way
// round.
void forget_collectives(Communicator& comm) {
    if (comm.hints) {
        comm.hints->erase("patchbay_coll");
    }
}

// The hidden communicator of one side, under way. It belongs to its intercommunicator, not to a session or a program.
std::unique_ptr<Construction> local_side(Communicator& parent, Ref<Group> group, bool collective, int tag) {
    Session* session = group->session;
    auto comm = child_of(parent, group, nullptr);
    comm->session = nullptr;
    group->session = session; // the group is the intercommunicator's too
    return std::make_unique<Construction>(*parent.instance, std::move(comm), parent, collective, tag);
}

void append(Words& words, const Group& group) {
    for (int rank = 0; rank < group.size(); ++rank) {
        const ProcessId process = group.process(rank);
        words.push_back(std::uint64_t(process.job) << 32 | process.rank);
    }
}

Ref<Group> read_group(std::span<const std::uint64_t> words, ProcessId self) {
    if (words.empty()) {
        return Group::empty();
    }
    std::vector<ProcessId> members;
    members.reserve(words.size());
    for (const std::uint64_t word : words) {
        members.push_back({std::uint32_t(word >> 32), std::uint32_t(word)});
    }
    return Group::list(std::move(members), self);
}

// What the leader has to say, or why it has none, to all members of `local`.
int spread(Communicator& local, int leader, int code, Words* words) noexcept {
    coll::Module& module = (*local.coll)[coll::Function::bcast];
    std::array<std::uint64_t, 2> head{std::uint64_t(code), words->size()};
    if (const int told = module.bcast(head.data(), 2, word_type(), leader, local); told != MPI_SUCCESS) {
        return told;
    }
    if (head[0] != MPI_SUCCESS || head[1] == 0) {
        words->clear();
        return int(head[0]);
    }
    words->resize(head[1]);
    return module.bcast(words->data(), MPI_Count(head[1]), word_type(), leader, local);
}

int swap_between_leaders(const Bridge& bridge, const Words& mine, Words* theirs) noexcept {
    const coll::Transfer transfer(*bridge.comm, bridge.tag);
    const std::uint64_t own_size = mine.size();
    std::uint64_t size = 0;
    const int code = transfer.exchange(&own_size, 1, word_type(), bridge.rank, &size, 1, word_type(), bridge.rank);
    if (code != MPI_SUCCESS) {
        return code;
    }
    theirs->resize(size);
    return transfer.exchange(mine.data(), MPI_Count(own_size), word_type(), bridge.rank, theirs->data(),
        MPI_Count(size), word_type(), bridge.rank);
}

// Words that all members of one side have against those of the other side.
int swap(Communicator& local, int leader, const Bridge& bridge, const Words& mine, Words* theirs) noexcept {
    const int code = local.rank == leader ? swap_between_leaders(bridge, mine, theirs) : MPI_SUCCESS;
    return spread(local, leader, code, theirs);
}

int check_disjoint(const Group& local, const Group& remote, std::string* problem) {
    const Ref<Group> both = Group::intersect(local, remote);
    if (both->size() == 0) {
        return MPI_SUCCESS;
    }
    *problem = "process " + std::to_string(both->process(0).rank) +
        " is in both groups, but the groups of an intercommunicator must have no process in common";
    return MPI_ERR_COMM;
}

// Whose name comes first where both sides must come to the same order.
bool is_first(const Communicator& inter) noexcept {
    return inter.group->process(0) < inter.remote_group->process(0);
}

// The tags of one constructor over an intercommunicator: all its processes take them.
struct Tags {
    int hidden; // of the new local_comm, over the old one
    int within; // of the agreement, over the local_comm
    int across; // and between the leaders

    explicit Tags(Communicator& inter) noexcept
        : hidden(next_construction_tag(*inter.local_comm)),
          within(next_construction_tag(*inter.local_comm)),
          across(next_construction_tag(inter)) {}
};

// An intercommunicator of some members of either group of `parent`, the calling process among them.
int build_smaller(Communicator& parent, Ref<Group> local, Ref<Group> remote, const Tags& tags, Communicator** made) {
    const Bridge bridge{&parent, parent.remote_group->rank_of(remote->process(0)), tags.across};
    auto agreement = std::make_unique<BridgeAgreement>(*parent.local_comm, local, tags.within, 0, bridge);
    auto comm = child_of(parent, local, nullptr);
    set_remote_group(*comm, std::move(remote));
    Construction construction(
        *parent.instance, std::move(comm), nullptr, std::move(agreement), cid::origin_from(parent, tags.across));
    construction.add_local_side(local_side(*parent.local_comm, std::move(local), false, tags.hidden));
    return finish(construction, made);
}

} // namespace

int create_intercommunicator(Communicator& local, int leader, Communicator* peer, int remote_leader, int tag,
    Communicator** made, std::string* problem) noexcept {
    *made = nullptr;
    const int hidden = next_construction_tag(local);
    const int within = next_construction_tag(local);
    const Bridge bridge{peer, remote_leader, bridge_tag(tag)};
    // What both sides must know: who names, the members.
    const std::uint64_t namer = std::hash<std::string>()(hint(local, "patchbay_cid"));
    Words mine{namer};
    append(mine, *local.group);
    Words theirs;
    if (const int code = swap(local, leader, bridge, mine, &theirs); code != MPI_SUCCESS) {
        return code;
    }
    Ref<Group> remote = read_group(std::span(theirs).subspan(1), local.group->self());
    if (const int code = check_disjoint(*local.group, *remote, problem); code != MPI_SUCCESS) {
        return code;
    }
    if (theirs[0] != namer) {
        *problem = "the communicators of the two groups were made with different values of patchbay_cid";
        return MPI_ERR_COMM;
    }
    auto comm = child_of(local, local.group, nullptr);
    forget_collectives(*comm);
    set_remote_group(*comm, std::move(remote));
    auto agreement = std::make_unique<BridgeAgreement>(local, local.group, within, leader, bridge);
    Construction construction(*local.instance, std::move(comm), nullptr, std::move(agreement));
    construction.add_local_side(local_side(local, local.group, true, hidden));
    return finish(construction, made);
}

void refuse_intercommunicator(Communicator& local, int leader, int code) noexcept {
    next_construction_tag(local);
    next_construction_tag(local);
    Words none;
    spread(local, leader, code, &none);
}

int create_intercommunicator_from_groups(Instance& instance, Group& local, int leader, Group* remote,
    std::string_view tag, const Info* info, Ref<Errhandler> errhandler, Communicator** made,
    std::string* problem) noexcept {
    *made = nullptr;
    auto hidden = without_parent(instance, Ref<Group>::share(&local), info, errhandler);
    hidden->session = nullptr;
    forget_collectives(*hidden);
    Communicator* side = nullptr;
    if (const int code = build_by_meeting(std::move(hidden), Ref<Group>::share(&local), tag, "local", &side);
        code != MPI_SUCCESS) {
        return code;
    }
    auto comm = without_parent(instance, Ref<Group>::share(&local), info, std::move(errhandler));
    comm->local_comm = side;
    Words members;
    if (local.rank() == leader && remote != nullptr) {
        append(members, *remote);
    }
    if (const int code = spread(*side, leader, members.empty() ? MPI_ERR_GROUP : MPI_SUCCESS, &members);
        code != MPI_SUCCESS) {
        return code;
    }
    set_remote_group(*comm, read_group(members, local.self()));
    if (const int code = check_disjoint(local, *comm->remote_group, problem); code != MPI_SUCCESS) {
        return code;
    }
    const bool first = is_first(*comm);
    auto both = Group::unite(first ? local : *comm->remote_group, first ? *comm->remote_group : local);
    return build_by_meeting(std::move(comm), std::move(both), tag, "both", made);
}

int merge(Communicator& inter, bool high, Communicator** made, std::string* problem) noexcept {
    *made = nullptr;
    const bool first = is_first(inter);
    // What each side said: has anybody there said high, has anybody said low?
    std::array<std::uint64_t, 4> said{};
    const std::size_t own = first ? 0 : 2;
    said[own + (high ? 0 : 1)] = 1;
    const int code = complete(*inter.instance, *bridge_over(inter), said, cid::Agreement::Reduction::maximum);
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (said[0] == said[1] || said[2] == said[3]) {
        *problem = "the processes of one group passed different values of high";
        return MPI_ERR_ARG;
    }
    const bool local_is_lower = said[0] == said[2] ? first : !high;
    const Group& lower = local_is_lower ? *inter.group : *inter.remote_group;
    const Group& upper = local_is_lower ? *inter.remote_group : *inter.group;
    auto comm = child_of(inter, Group::unite(lower, upper), nullptr);
    forget_collectives(*comm);
    auto agreement = bridge_over(inter);
    const cid::Origin origin = cid::origin_from(inter, construction_tag(inter.constructions.load()));
    Construction construction(*inter.instance, std::move(comm), nullptr, std::move(agreement), origin);
    return finish(construction, made);
}

std::unique_ptr<Construction> duplication_of_inter(Communicator& parent, Ref<Communicator> comm) {
    const Tags tags(parent);
    set_remote_group(*comm, parent.remote_group);
    const Bridge bridge{&parent, 0, tags.across};
    auto agreement = std::make_unique<BridgeAgreement>(*parent.local_comm, parent.group, tags.within, 0, bridge);
    auto construction = std::make_unique<Construction>(
        *parent.instance, std::move(comm), &parent, std::move(agreement), cid::origin_from(parent, tags.across));
    construction->add_local_side(local_side(*parent.local_comm, parent.group, true, tags.hidden));
    return construction;
}

int create_from_subgroups(Communicator& parent, Group& local, Communicator** made) noexcept {
    *made = nullptr;
    const Tags tags(parent);
    Words mine;
    append(mine, local);
    Words theirs;
    const int code = swap(*parent.local_comm, 0, {&parent, 0, tags.across}, mine, &theirs);
    if (code != MPI_SUCCESS || local.rank() == MPI_UNDEFINED || theirs.empty()) {
        return code;
    }
    return build_smaller(parent, Ref<Group>::share(&local), read_group(theirs, local.self()), tags, made);
}

int split_inter(Communicator& parent, int color, int key, Communicator** made) noexcept {
    *made = nullptr;
    const Tags tags(parent);
    const std::int64_t wanted = color == MPI_UNDEFINED ? no_color : color;
    std::vector<Vote> votes;
    if (const int code = gather_votes(*parent.local_comm, {wanted, key}, &votes); code != MPI_SUCCESS) {
        return code;
    }
    Words mine;
    for (const Vote& vote : votes) {
        mine.insert(mine.end(), {std::uint64_t(vote.color), std::uint64_t(vote.key)});
    }
    Words theirs;
    const int code = swap(*parent.local_comm, 0, {&parent, 0, tags.across}, mine, &theirs);
    if (code != MPI_SUCCESS || wanted == no_color) {
        return code;
    }
    std::vector<Vote> remote_votes;
    for (std::size_t i = 0; i < theirs.size(); i += 2) {
        remote_votes.push_back({std::int64_t(theirs[i]), std::int64_t(theirs[i + 1])});
    }
    std::vector<ProcessId> remote = members_with_color(*parent.remote_group, remote_votes, wanted);
    if (remote.empty()) {
        return MPI_SUCCESS;
    }
    const ProcessId self = parent.group->self();
    Ref<Group> local = Group::list(members_with_color(*parent.group, votes, wanted), self);
    return build_smaller(parent, std::move(local), Group::list(std::move(remote), self), tags, made);
}

} // namespace patchbay
