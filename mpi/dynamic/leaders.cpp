// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/dynamic/leaders.h"

#include "core/core.h"
#include "core/param/registry.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "mpi/communicators/construction_tags.h"
#include "mpi/communicators/intercommunicators.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"
#include "object/error_code.h"

namespace patchbay {

namespace {

// Of all components of framework cid only this one makes identifiers for processes without a communicator in common.
Ref<Info> hints_for_leaders(const Group& group) {
    auto info = Ref<Info>::adopt(new Info);
    if (group.has_other_jobs()) {
        info->set("patchbay_cid", "excid");
    }
    return info;
}

// The members of a communicator must agree in these. Another mpirun, or info key env of MPI_Comm_spawn, may have set
// others.
constexpr const char* common_params[] = {"cid", "coll", "mpi_check"};

int compare_params(Instance& instance, Communicator& leaders) {
    const ParamRegistry& params = instance.core().params;
    Words mine;
    Words theirs;
    for (const char* name : common_params) {
        append(mine, params.at(name).text());
    }
    const Bridge bridge{&leaders, 1 - leaders.rank, bridge_tag(1)}; // connect_groups() uses 0
    if (const Refusal failure = exchange_between_leaders(bridge, {}, mine, &theirs); failure.happened()) {
        return failure.code;
    }
    std::span<const std::uint64_t> words(theirs);
    for (const char* name : common_params) {
        const std::string own = params.at(name).text();
        const std::string other = read_text(words);
        if (own != other) {
            return note_cause(MPI_ERR_OTHER,
                std::string("parameter ") + name + " is \"" + own + "\" here, and \"" + other +
                    "\" in the other group: it must be the same");
        }
    }
    return MPI_SUCCESS;
}

} // namespace

int complete(Instance& instance, const Result<LauncherRequest>& request) {
    if (!request) {
        return note_cause(request.error());
    }
    wait_until(instance.progress(), [&request] { return request.value().done(); });
    const Status status = request.value().status();
    return status ? MPI_SUCCESS : note_cause(status.error());
}

int connect_leaders(Instance& instance, const OtherLeader& other, Ref<Communicator>* made) {
    Runtime& runtime = instance.runtime();
    const Result<JobNumber> job = instance.add_job(other.process.nspace);
    if (!job) {
        return note_cause(job.error());
    }
    auto references = std::make_shared<JobReferences>(runtime.jobs());
    references->take(job.value());
    const ProcessId self = instance.self();
    const ProcessId peer{job.value(), other.process.rank};
    if (peer == self) {
        return note_cause(MPI_ERR_COMM, "this process would be in both groups of the intercommunicator");
    }
    const Ref<Group> group = Group::list(other.first ? std::vector{peer, self} : std::vector{self, peer}, self);
    Ref<Communicator> comm =
        without_parent(instance, group, hints_for_leaders(*group).get(), Errhandler::predefined(MPI_ERRORS_RETURN));
    comm->jobs = std::move(references);
    Communicator* built = nullptr;
    int code = build_over_bootstrap(std::move(comm), group, other.key, "leaders", &built);
    if (code != MPI_SUCCESS) {
        return code;
    }
    auto leaders = Ref<Communicator>::adopt(built);
    code = compare_params(instance, *leaders);
    if (code == MPI_SUCCESS) {
        *made = std::move(leaders);
    } else {
        leaders->freed = true;
    }
    return code;
}

int connect_groups(
    Communicator& local, int root, int code, Ref<Communicator> leaders, Communicator** made, std::string* problem) {
    *made = nullptr;
    local.instance->forget_ended_jobs();
    Words words{std::uint64_t(code)};
    if (const Refusal failure = distribute(local, root, {}, &words); failure.happened()) {
        return failure.code;
    }
    if (words[0] != MPI_SUCCESS) {
        if (local.rank != root) {
            *problem = "it has failed in the root, rank " + std::to_string(root) + ", whose text has the cause";
        }
        return int(words[0]);
    }
    const int other = leaders ? 1 - leaders->rank : MPI_PROC_NULL;
    const int result = create_intercommunicator(local, root, leaders.get(), other, 0, MPI_SUCCESS, made, problem);
    if (leaders) {
        leaders->freed = true;
    }
    return result;
}

} // namespace patchbay
