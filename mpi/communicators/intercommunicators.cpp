// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/intercommunicators.h"

#include "mpi/communicators/communicators.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/error_exchange.h"
#include "mpi/communicators/highest_code.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/intercommunicator_parts.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/thread_intercommunicators.h"
#include "mpi/instance/instance.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace patchbay {

namespace {

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

// `code`: the error of the local group. If one of the groups has an error, there is no intercommunicator.
int keep_unless_refused(int code, Communicator** made, std::string* problem) {
    Communicator& inter = **made;
    const int result = highest_code(inter, code);
    if (result != MPI_SUCCESS) {
        *made = nullptr;
        free_communicator(inter);
        if (problem->empty()) {
            *problem = "a process of the other group has passed an invalid argument";
        }
    }
    return result;
}

cid::ConstructorKey read_key(std::span<const std::uint64_t>& words) {
    if (words.size() < 3) {
        return {};
    }
    const cid::ConstructorKey key{{words[0], words[1]}, std::int64_t(words[2])};
    words = words.subspan(3);
    return key;
}

// The error of the two groups, which all processes of both return. Collective over `side`, the local one; `own` is its
// error.
Refusal exchange_errors(Communicator& side, ErrorExchange& errors, const Refusal& own) {
    Refusal result = own;
    if (side.rank == 0) {
        const int code = errors.run(own.code);
        if (!own.happened() && code != MPI_SUCCESS) {
            result = {code, Refusal::By::other_group};
        }
    }
    Words none;
    return distribute(side, 0, result, &none);
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
    if (local.view != nullptr) {
        return threads::create_intercommunicator(local, leader, bridge, within, made, problem);
    }
    // The leaders exchange what identifies the call in each group, the selected cid component and the members of their
    // groups.
    const std::string cid_module = hint(local, "patchbay_cid");
    const cid::ConstructorKey own_key = cid::constructor_key(local, within);
    Words mine{own_key.parent.pgcid, own_key.parent.fields, std::uint64_t(own_key.tag)};
    append(mine, cid_module);
    append_group(mine, *local.group, jobs_of(local));
    Words theirs;
    if (const Refusal refusal = exchange_groups(local, leader, bridge, mine, &theirs); refusal.happened()) {
        *problem = refusal.text();
        return refusal.code;
    }
    std::span<const std::uint64_t> words(theirs);
    const cid::ConstructorKey their_key = read_key(words);
    const std::string their_cid_module = read_text(words);
    int unknown = MPI_SUCCESS;
    std::shared_ptr<const JobReferences> jobs;
    Ref<Group> remote = read_remote_group(local, words, &jobs, &unknown);
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
    keep_jobs(*comm, std::move(jobs));
    auto reduction = std::make_unique<BridgeReduction>(local, local.group, within, leader, bridge);
    // Several threads may have no order of their calls in common with those of the other group.
    const cid::ConstructorKey key = is_first(*comm) ? own_key : their_key;
    Construction construction(*local.instance, std::move(comm), nullptr, std::move(reduction), key);
    construction.add_local_side(local_side(local, local.group, true, hidden));
    return finish(construction, made);
}

void refuse_intercommunicator(Communicator* peer, int remote_leader, int tag, int code) {
    if (peer != nullptr) {
        Words none;
        exchange_between_leaders({peer, remote_leader, bridge_tag(tag)}, {code, Refusal::By::own_leader}, none, &none);
    }
}

namespace {

// MPI_Intercomm_create_from_groups in one process, step by step.
class FromGroups {
public:
    FromGroups(Instance& instance, Group& local, std::string_view tag, std::string* problem) noexcept
        : _instance(instance),
          _local(local),
          _tag(tag),
          _problem(problem) {}

    int run(int leader, Group* remote, int refused, const Info* info, Ref<Errhandler> errhandler, Communicator** made);

private:
    void make_local_side(int leader, int refused, const Info* info, Ref<Errhandler> errhandler);
    void begin_exchange(Group& remote);
    int learn_remote_group();
    int agree();
    int make(Communicator** made);

    Instance& _instance;
    Group& _local;
    const std::string_view _tag;
    std::string* const _problem;
    Ref<Communicator> _comm; // with its local side
    GroupArguments _arguments;
    std::optional<ErrorExchange> _errors;
    Words _words; // from the leader: the number of that exchange, and the remote group; none: there is no remote group
};

int FromGroups::run(
    int leader, Group* remote, int refused, const Info* info, Ref<Errhandler> errhandler, Communicator** made) {
    make_local_side(leader, refused, info, std::move(errhandler));
    // Where the members could not compare their arguments, each knows its own.
    const bool leads = _local.rank() == (_arguments.leader < 0 ? leader : _arguments.leader);
    if (leads && remote != nullptr && remote->size() > 0) {
        begin_exchange(*remote);
    }
    if (_arguments.leader < 0) {
        return _arguments.refusal.code; // the other members cannot be told the remote group
    }
    if (const int code = learn_remote_group(); code != MPI_SUCCESS || _words.empty()) {
        return code;
    }
    if (const int code = agree(); code != MPI_SUCCESS) {
        return code;
    }
    return make(made);
}

void FromGroups::make_local_side(int leader, int refused, const Info* info, Ref<Errhandler> errhandler) {
    auto hidden = without_parent(_instance, Ref<Group>::share(&_local), info, errhandler);
    hidden->is_local_side = true;
    remove_collectives_hint(*hidden);
    _comm = without_parent(_instance, Ref<Group>::share(&_local), info, std::move(errhandler));
    _arguments.refusal.code =
        build_over_bootstrap(std::move(hidden), Ref<Group>::share(&_local), _tag, "local", &_comm->local_comm);
    if (!_arguments.refusal.happened()) {
        _arguments = compare_arguments(*_comm->local_comm, leader, refused);
    }
    *_problem = _arguments.refusal.text();
}

// The leader's.
void FromGroups::begin_exchange(Group& remote) {
    _errors.emplace(*_comm, remote, _tag, 0);
    if (_arguments.leader < 0 && _errors->exists()) {
        _errors->withdraw();
    }
    _words.push_back(_errors->number());
    append_group(_words, remote, jobs_of(*_comm));
}

// An error of a group without a remote one ends here; another error is told to the remote group next.
int FromGroups::learn_remote_group() {
    if (const Refusal failure = distribute(*_comm->local_comm, _arguments.leader, {}, &_words); failure.happened()) {
        return failure.code;
    }
    if (_words.empty()) {
        return _arguments.refusal.code;
    }
    int unknown = MPI_SUCCESS;
    std::shared_ptr<const JobReferences> jobs;
    Ref<Group> remote_group = read_remote_group(*_comm, std::span(_words).subspan(1), &jobs, &unknown);
    if (unknown != MPI_SUCCESS) {
        return unknown;
    }
    set_remote_group(*_comm, std::move(remote_group));
    keep_jobs(*_comm, std::move(jobs));
    std::string overlap;
    const int error = check_disjoint(_local, *_comm->remote_group, MPI_ERR_GROUP, &overlap);
    if (error != MPI_SUCCESS && _arguments.refusal.happened()) {
        return _arguments.refusal.code; // all processes of the local group have found this error before
    }
    if (error != MPI_SUCCESS) {
        *_problem = overlap;
    }
    return error;
}

// The groups agree that none has an error, where there is a way to do that before the communicator exists.
int FromGroups::agree() {
    if (!_errors) {
        _errors.emplace(*_comm, *_comm->remote_group, _tag, std::uint32_t(_words[0]));
    }
    if (!_errors->exists()) {
        return MPI_SUCCESS;
    }
    const Refusal failure = exchange_errors(*_comm->local_comm, *_errors, _arguments.refusal);
    if (failure.happened()) {
        *_problem = failure.text();
    }
    return failure.code;
}

int FromGroups::make(Communicator** made) {
    const bool have_agreed = _errors->exists();
    const bool first = is_first(*_comm);
    Group& remote = *_comm->remote_group;
    auto both = Group::unite(first ? _local : remote, first ? remote : _local);
    _errors.reset(); // it refers to the communicator
    const int code = build_over_bootstrap(std::move(_comm), std::move(both), _tag, "both", made);
    return code != MPI_SUCCESS || have_agreed ? code : keep_unless_refused(_arguments.refusal.code, made, _problem);
}

} // namespace

int create_intercommunicator_from_groups(Instance& instance, Group& local, int leader, Group* remote, int refused,
    std::string_view tag, const Info* info, Ref<Errhandler> errhandler, Communicator** made, std::string* problem) {
    *made = nullptr;
    return FromGroups(instance, local, tag, problem).run(leader, remote, refused, info, std::move(errhandler), made);
}

} // namespace patchbay
