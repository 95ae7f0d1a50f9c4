// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/intercommunicators.h"

#include "core/runtime/runtime.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/transfer.h"
#include "mpi/communicators/bridge_reduction.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/process_words.h"
#include "mpi/communicators/split.h"
#include "mpi/instance/instance.h"
#include "object/session.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace patchbay {

namespace {

void set_remote_group(Communicator& comm, Ref<Group> group) noexcept {
    comm.is_inter = true;
    comm.remote_size = group->size();
    if (!group->is_predefined()) {
        group->session = Session::id(comm.session);
    }
    comm.remote_group = std::move(group);
}

// The hint patchbay_coll is not inherited here, because different components implement the collectives of
// intercommunicators and of intracommunicators.
void remove_collectives_hint(Communicator& comm) {
    if (comm.hints) {
        comm.hints->erase("patchbay_coll");
    }
}

// The construction of local_comm. It belongs to its intercommunicator, and is in no session's list.
std::unique_ptr<Construction> local_side(Communicator& parent, const Ref<Group>& group, bool collective, int tag) {
    const SessionId session = group->session;
    auto comm = child_of(parent, group, nullptr);
    comm->session = nullptr;
    group->session = session; // the intercommunicator has the same group
    return std::make_unique<Construction>(*parent.instance, std::move(comm), parent, collective, tag);
}

std::size_t words_of_text(std::size_t length) noexcept {
    return (length + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

const JobTable& jobs_of(const Communicator& comm) noexcept {
    return comm.instance->runtime().jobs();
}

// Appends a text: its length, and its characters, padded with zeros.
void append(Words& words, std::string_view text) {
    const std::size_t begin = words.size() + 1;
    words.push_back(text.size());
    words.resize(begin + words_of_text(text.size()));
    std::memcpy(words.data() + begin, text.data(), text.size());
}

// Reads a text from the front of `words`, and removes it there.
std::string read_text(std::span<const std::uint64_t>& words) {
    const std::size_t length = words[0];
    std::string text(length, '\0');
    std::memcpy(text.data(), words.data() + 1, length);
    words = words.subspan(1 + words_of_text(length));
    return text;
}

// The reason why a constructor fails in all processes of the local group.
struct Refusal {
    enum class By : std::uint8_t { none, own_member, own_leader, different_leaders, other_group };

    int code = MPI_SUCCESS;
    By by = By::none; // with an error code: a message could not be sent or received

    bool happened() const noexcept { return code != MPI_SUCCESS; }
    const char* text() const noexcept {
        switch (by) {
        case By::own_member:
            return "a process of the local group has passed an invalid argument";
        case By::own_leader:
            return "the leader of the local group has passed an invalid argument";
        case By::different_leaders:
            return "the processes of the local group passed different values of local_leader";
        case By::other_group:
            return "the remote group has reported an error";
        default:
            return "";
        }
    }
};

// Distributes the leader's words, or its refusal, to all members of `local`.
Refusal distribute(Communicator& local, int leader, const Refusal& refusal, Words* words) {
    coll::Module& module = (*local.coll)[coll::Function::bcast];
    std::array<std::uint64_t, 3> head{std::uint64_t(refusal.code), std::uint64_t(refusal.by), words->size()};
    if (const int code = module.bcast(head.data(), head.size(), word_type(), leader, local); code != MPI_SUCCESS) {
        return {code};
    }
    const Refusal result{int(head[0]), Refusal::By(head[1])};
    words->resize(result.happened() ? 0 : head[2]);
    if (words->empty()) {
        return result;
    }
    return {module.bcast(words->data(), MPI_Count(words->size()), word_type(), leader, local)};
}

// Called by the leaders: exchanges `mine` with *theirs, or sends `own` instead if it has happened.
Refusal exchange_between_leaders(const Bridge& bridge, const Refusal& own, const Words& mine, Words* theirs) {
    coll::Transfer transfer(*bridge.comm, bridge.tag);
    const std::array<std::uint64_t, 2> sent{std::uint64_t(own.code), mine.size()};
    std::array<std::uint64_t, 2> received{};
    const int code = transfer.exchange(
        sent.data(), sent.size(), word_type(), bridge.rank, received.data(), received.size(), word_type(), bridge.rank);
    if (own.happened()) {
        return own;
    }
    if (code != MPI_SUCCESS) {
        return {code};
    }
    if (received[0] != MPI_SUCCESS) {
        return {int(received[0]), Refusal::By::other_group};
    }
    theirs->resize(received[1]);
    return {transfer.exchange(mine.data(), MPI_Count(mine.size()), word_type(), bridge.rank, theirs->data(),
        MPI_Count(theirs->size()), word_type(), bridge.rank)};
}

// The result of compare_arguments().
struct GroupArguments {
    int leader = -1; // the highest rank that a member has passed; -1: all members have passed an invalid one
    Refusal refusal;
};

// Compares the arguments of all members of `local`, before a member waits for the other group. `leader` is the argument
// of this process, or -1 if it is no rank of `local`. `refused` is the error of this process, or MPI_SUCCESS.
// Collective over `local`.
GroupArguments compare_arguments(Communicator& local, int leader, int refused) {
    constexpr std::uint64_t by_leader = std::uint64_t(1) << 32;
    const bool is_leader = local.rank == leader;
    std::array<std::uint64_t, 3> words{std::uint64_t(leader + 1), ~std::uint64_t(leader + 1),
        std::uint64_t(refused) | (is_leader && refused != MPI_SUCCESS ? by_leader : 0)};
    ParentReduction reduction(local, *local.group, next_construction_tag(local));
    const int code = complete(*local.instance, reduction, words, cid::GroupReduction::Operation::maximum);
    if (code != MPI_SUCCESS) {
        return {-1, {code}};
    }
    GroupArguments result{int(words[0]) - 1, {}};
    if (words[2] != MPI_SUCCESS) {
        result.refusal = {int(words[2] & ~by_leader),
            (words[2] & by_leader) != 0 ? Refusal::By::own_leader : Refusal::By::own_member};
    } else if (words[0] != ~words[1]) {
        result.refusal = {MPI_ERR_RANK, Refusal::By::different_leaders};
    }
    return result;
}

// Exchanges words that all members of a group have with those of the other group.
Refusal exchange_groups(Communicator& local, int leader, const Bridge& bridge, const Words& mine, Words* theirs) {
    const Refusal refusal = local.rank == leader ? exchange_between_leaders(bridge, {}, mine, theirs) : Refusal{};
    return distribute(local, leader, refusal, theirs);
}

// Checks that the groups have no process in common. Returns `code` if they have.
int check_disjoint(const Group& local, const Group& remote, int code, std::string* problem) {
    const Ref<Group> both = Group::intersect(local, remote);
    if (both->size() == 0) {
        return MPI_SUCCESS;
    }
    *problem = "process " + std::to_string(both->process(0).rank) +
        " is in both groups, but the groups of an intercommunicator must have no process in common";
    return code;
}

// Whether the local group is the first one in an order of the two groups that is the same in both.
bool is_first(const Communicator& inter) {
    return jobs_of(inter).precedes(inter.group->process(0), inter.remote_group->process(0));
}

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

int create_intercommunicator(Communicator& local, int leader, Communicator* peer, int remote_leader, int tag,
    int refused, Communicator** made, std::string* problem) {
    *made = nullptr;
    const int hidden = next_construction_tag(local);
    const int within = next_construction_tag(local);
    const GroupArguments arguments = compare_arguments(local, leader, refused);
    if (arguments.refusal.happened()) {
        if (local.rank == leader && leader == arguments.leader) {
            refuse_intercommunicator(peer, remote_leader, tag, arguments.refusal.code);
        }
        *problem = arguments.refusal.text();
        return arguments.refusal.code;
    }
    const Bridge bridge{peer, remote_leader, bridge_tag(tag)};
    // The leaders exchange the selected cid component and the members of their groups.
    const std::string cid_module = hint(local, "patchbay_cid");
    Words mine;
    append(mine, cid_module);
    append_group(mine, *local.group, jobs_of(local));
    Words theirs;
    if (const Refusal refusal = exchange_groups(local, leader, bridge, mine, &theirs); refusal.happened()) {
        *problem = refusal.text();
        return refusal.code;
    }
    std::span<const std::uint64_t> words(theirs);
    const std::string their_cid_module = read_text(words);
    int unknown = MPI_SUCCESS;
    Ref<Group> remote = read_group(words, local.group->self(), jobs_of(local), &unknown);
    if (unknown != MPI_SUCCESS) {
        return unknown;
    }
    if (const int code = check_disjoint(*local.group, *remote, MPI_ERR_COMM, problem); code != MPI_SUCCESS) {
        return code;
    }
    if (their_cid_module != cid_module) {
        *problem = "the communicator of the local group was constructed with info key patchbay_cid \"" + cid_module +
            "\", that of the remote group with \"" + their_cid_module + "\": it must be the same";
        return MPI_ERR_COMM;
    }
    auto comm = child_of(local, local.group, nullptr);
    remove_collectives_hint(*comm);
    set_remote_group(*comm, std::move(remote));
    auto reduction = std::make_unique<BridgeReduction>(local, local.group, within, leader, bridge);
    Construction construction(*local.instance, std::move(comm), nullptr, std::move(reduction));
    construction.add_local_side(local_side(local, local.group, true, hidden));
    return finish(construction, made);
}

void refuse_intercommunicator(Communicator* peer, int remote_leader, int tag, int code) {
    if (peer != nullptr) {
        Words none;
        exchange_between_leaders({peer, remote_leader, bridge_tag(tag)}, {code, Refusal::By::own_leader}, none, &none);
    }
}

int create_intercommunicator_from_groups(Instance& instance, Group& local, int leader, Group* remote, int refused,
    std::string_view tag, const Info* info, Ref<Errhandler> errhandler, Communicator** made, std::string* problem) {
    *made = nullptr;
    auto hidden = without_parent(instance, Ref<Group>::share(&local), info, errhandler);
    hidden->session = nullptr;
    remove_collectives_hint(*hidden);
    Communicator* side = nullptr;
    if (const int code =
            build_over_bootstrap(std::move(hidden), Ref<Group>::share(&local), tag, "local", std::nullopt, &side);
        code != MPI_SUCCESS) {
        return code;
    }
    auto comm = without_parent(instance, Ref<Group>::share(&local), info, std::move(errhandler));
    comm->local_comm = side;
    const GroupArguments arguments = compare_arguments(*side, leader, refused);
    const int code = arguments.refusal.code;
    *problem = arguments.refusal.text();
    if (arguments.leader < 0) {
        return code; // there is no leader, so that the remote group is not known
    }
    Words members;
    if (local.rank() == leader && remote != nullptr) {
        append_group(members, *remote, instance.runtime().jobs());
    }
    if (const Refusal failure = distribute(*side, arguments.leader, {}, &members); failure.happened()) {
        return failure.code;
    }
    if (members.empty()) {
        return code;
    }
    int unknown = MPI_SUCCESS;
    Ref<Group> remote_group = read_group(members, local.self(), instance.runtime().jobs(), &unknown);
    if (unknown != MPI_SUCCESS) {
        return unknown;
    }
    set_remote_group(*comm, std::move(remote_group));
    std::string overlap;
    if (const int error = check_disjoint(local, *comm->remote_group, MPI_ERR_GROUP, &overlap); error != MPI_SUCCESS) {
        if (code != MPI_SUCCESS) {
            return code; // all processes of the local group have found this error before
        }
        *problem = overlap;
        return error;
    }
    const bool first = is_first(*comm);
    auto both = Group::unite(first ? local : *comm->remote_group, first ? *comm->remote_group : local);
    const int result = build_over_bootstrap(std::move(comm), std::move(both), tag, "both", code, made);
    if (result != MPI_SUCCESS && problem->empty()) {
        *problem = "a process of one of the groups has passed an invalid argument or has failed";
    }
    return result;
}

int merge(Communicator& inter, bool high, Communicator** made, std::string* problem) {
    *made = nullptr;
    const bool first = is_first(inter);
    // For each of the two groups: whether a process has passed high, and whether a process has passed low.
    std::array<std::uint64_t, 4> given{};
    const std::size_t own = first ? 0 : 2;
    given[own + (high ? 0 : 1)] = 1;
    const int code = complete(*inter.instance, *bridge_over(inter), given, cid::GroupReduction::Operation::maximum);
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
    auto reduction = bridge_over(inter);
    const cid::ConstructorKey key = cid::constructor_key(inter, construction_tag(inter.constructions.load()));
    Construction construction(*inter.instance, std::move(comm), nullptr, std::move(reduction), key);
    return finish(construction, made);
}

std::unique_ptr<Construction> duplication_of_inter(Communicator& parent, Ref<Communicator> comm) {
    const Tags tags(parent);
    set_remote_group(*comm, parent.remote_group);
    const Bridge bridge{&parent, 0, tags.across};
    auto reduction = std::make_unique<BridgeReduction>(*parent.local_comm, parent.group, tags.within, 0, bridge);
    auto construction = std::make_unique<Construction>(
        *parent.instance, std::move(comm), &parent, std::move(reduction), cid::constructor_key(parent, tags.across));
    construction->add_local_side(local_side(*parent.local_comm, parent.group, true, tags.hidden));
    return construction;
}

int create_from_subgroups(Communicator& parent, Group& local, Communicator** made) {
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
    Ref<Group> remote = read_group(theirs, local.self(), jobs_of(parent), &unknown);
    return unknown != MPI_SUCCESS
        ? unknown
        : build_smaller(parent, Ref<Group>::share(&local), std::move(remote), nullptr, tags, made);
}

int split_inter(Communicator& parent, std::int64_t color, int key, const Info* info, Communicator** made) {
    *made = nullptr;
    const Tags tags(parent);
    std::vector<SplitArguments> arguments;
    if (const int code =
            gather_split_arguments(*parent.local_comm, own_split_arguments(parent, color, key, 2), &arguments);
        code != MPI_SUCCESS) {
        return code;
    }
    Words mine;
    for (const SplitArguments& one : arguments) {
        const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(one);
        mine.insert(mine.end(), words.begin(), words.end());
    }
    Words theirs;
    const int code = exchange_groups(*parent.local_comm, 0, {&parent, 0, tags.across}, mine, &theirs).code;
    if (code != MPI_SUCCESS || color == no_color) {
        return code;
    }
    std::vector<SplitArguments> remote_arguments;
    for (std::size_t i = 0; i < theirs.size(); i += 2) {
        remote_arguments.push_back(
            std::bit_cast<SplitArguments>(std::array<std::uint64_t, 2>{theirs[i], theirs[i + 1]}));
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
