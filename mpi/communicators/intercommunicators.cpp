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
    hidden->is_local_side = true;
    remove_collectives_hint(*hidden);
    auto comm = without_parent(instance, Ref<Group>::share(&local), info, std::move(errhandler));
    GroupArguments arguments;
    arguments.refusal.code =
        build_over_bootstrap(std::move(hidden), Ref<Group>::share(&local), tag, "local", &comm->local_comm);
    if (!arguments.refusal.happened()) {
        arguments = compare_arguments(*comm->local_comm, leader, refused);
    }
    const int code = arguments.refusal.code;
    *problem = arguments.refusal.text();
    // Where the members could not compare their arguments, each knows its own.
    const bool leads = local.rank() == (arguments.leader < 0 ? leader : arguments.leader);
    std::optional<ErrorExchange> errors;
    Words words; // the number of that exchange, and the remote group
    if (leads && remote != nullptr && remote->size() > 0) {
        errors.emplace(*comm, *remote, tag, 0);
        if (arguments.leader < 0 && errors->exists()) {
            errors->withdraw();
        }
        words.push_back(errors->number());
        append_group(words, *remote, jobs_of(*comm));
    }
    if (arguments.leader < 0) {
        return code; // the other members cannot be told the remote group
    }
    if (const Refusal failure = distribute(*comm->local_comm, arguments.leader, {}, &words); failure.happened()) {
        return failure.code;
    }
    if (words.empty()) {
        return code;
    }
    int unknown = MPI_SUCCESS;
    std::shared_ptr<const JobReferences> jobs;
    Ref<Group> remote_group = read_remote_group(*comm, std::span(words).subspan(1), &jobs, &unknown);
    if (unknown != MPI_SUCCESS) {
        return unknown;
    }
    set_remote_group(*comm, std::move(remote_group));
    keep_jobs(*comm, std::move(jobs));
    std::string overlap;
    if (const int error = check_disjoint(local, *comm->remote_group, MPI_ERR_GROUP, &overlap); error != MPI_SUCCESS) {
        if (code != MPI_SUCCESS) {
            return code; // all processes of the local group have found this error before
        }
        *problem = overlap;
        return error;
    }
    if (!errors) {
        errors.emplace(*comm, *comm->remote_group, tag, std::uint32_t(words[0]));
    }
    const bool agree_before = errors->exists();
    if (agree_before) {
        const Refusal failure = exchange_errors(*comm->local_comm, *errors, arguments.refusal);
        if (failure.happened()) {
            *problem = failure.text();
            return failure.code;
        }
    }
    const bool first = is_first(*comm);
    auto both = Group::unite(first ? local : *comm->remote_group, first ? *comm->remote_group : local);
    if (const int result = build_over_bootstrap(std::move(comm), std::move(both), tag, "both", made);
        result != MPI_SUCCESS) {
        return result;
    }
    return agree_before ? MPI_SUCCESS : keep_unless_refused(code, made, problem);
}

} // namespace patchbay
