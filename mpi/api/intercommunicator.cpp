// SPDX-License-Identifier: BSD-3-Clause
// How intercommunicators are made and merged (MPI-5.0, 7.6.2).
#include "mpi/api/args.h"
#include "mpi/instance/intercommunicators.h"
#include "mpi/instance/library.h"

#include <cstring>

namespace patchbay::api {

namespace {

// The end of a constructor. `problem` says more about `code`, or nothing.
int give(const Arguments& args, int code, const std::string& problem, Communicator* made, MPI_Comm* handle) noexcept {
    *handle = code == MPI_SUCCESS && made != nullptr ? to_handle(made) : MPI_COMM_NULL;
    return code == MPI_SUCCESS ? code : args.fail(code, problem);
}

bool rank_in(Arguments& args, const char* name, int rank, int size) noexcept {
    return args.require(rank >= 0 && rank < size, MPI_ERR_RANK, name, rank, "must be a rank of its group");
}

// What counts at the leader alone.
bool check_bridge(Arguments& args, MPI_Comm peer, int remote_leader, int tag) noexcept {
    return args.valid<Communicator>(MPI_ERR_COMM, "peer_comm", peer) &&
        rank_in(args, "remote_leader", remote_leader, to_object<Communicator>(peer)->remote_size) &&
        args.send_tag("tag", tag);
}

bool check_remote_group(Arguments& args, MPI_Group group, int leader) noexcept {
    return args.group("remote_group", group) && rank_in(args, "remote_leader", leader, to_object<Group>(group)->size());
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
    MPI_Comm* newintercomm) {
    api::Arguments args("MPI_Intercomm_create", local_comm);
    if (api::checking() &&
        !(args.intracommunicator() && api::rank_in(args, "local_leader", local_leader, args.comm()->size) &&
            args.pointer("newintercomm", newintercomm))) {
        return args.code();
    }
    Communicator& local = *args.comm();
    const bool leads = local.rank == local_leader;
    if (api::checking() && leads && !api::check_bridge(args, peer_comm, remote_leader, tag)) {
        refuse_intercommunicator(local, local_leader, args.code());
        return args.code();
    }
    Communicator* made = nullptr;
    std::string problem;
    const int code = create_intercommunicator(local, local_leader, leads ? to_object<Communicator>(peer_comm) : nullptr,
        remote_leader, tag, &made, &problem);
    return api::give(args, code, problem, made, newintercomm);
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    api::Arguments args("MPI_Intercomm_merge", intercomm);
    if (api::checking() && !(args.intercommunicator() && args.pointer("newintracomm", newintracomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    std::string problem;
    const int code = merge(*args.comm(), high != 0, &made, &problem);
    return api::give(args, code, problem, made, newintracomm);
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
    int remote_leader, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
    api::Arguments args("MPI_Intercomm_create_from_groups");
    if (api::checking() &&
        !(args.group("local_group", local_group) &&
            args.require(to_object<Group>(local_group)->rank() != MPI_UNDEFINED, MPI_ERR_GROUP,
                "the calling process's rank in local_group", MPI_UNDEFINED, "must be one of a member") &&
            api::rank_in(args, "local_leader", local_leader, to_object<Group>(local_group)->size()) &&
            args.pointer("stringtag", stringtag) &&
            args.require(strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) < MPI_MAX_STRINGTAG_LEN, MPI_ERR_ARG,
                "the length of stringtag", MPI_MAX_STRINGTAG_LEN, "must be less than MPI_MAX_STRINGTAG_LEN") &&
            args.info_or_null("info", info) && args.errhandler("errhandler", errhandler) &&
            args.pointer("newintercomm", newintercomm))) {
        return args.code();
    }
    Instance* instance = library().instance();
    if (instance == nullptr) {
        return args.fail(MPI_ERR_OTHER, "MPI is not initialized, or has been finalized");
    }
    Group& local = *to_object<Group>(local_group);
    const bool leads = local.rank() == local_leader;
    const bool refused = api::checking() && leads && !api::check_remote_group(args, remote_group, remote_leader);
    Communicator* made = nullptr;
    std::string problem;
    const int code = create_intercommunicator_from_groups(*instance, local, local_leader,
        leads && !refused ? to_object<Group>(remote_group) : nullptr, stringtag, to_object<Info>(info),
        Ref<Errhandler>::share(to_object<Errhandler>(errhandler)), &made, &problem);
    if (refused) {
        *newintercomm = MPI_COMM_NULL;
        return args.code(); // reported already
    }
    return api::give(args, code, problem, made, newintercomm);
}
