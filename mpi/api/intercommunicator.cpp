// SPDX-License-Identifier: BSD-3-Clause
// How intercommunicators are made and merged (MPI-5.0, 7.6.2). From groups alone: session.cpp.
#include "core/base/out_of_memory.h"
#include "frameworks/pml/pml.h"
#include "mpi/api/args.h"
#include "mpi/communicators/intercommunicators.h"

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

// How a leader reaches the other one, if it can: nullptr when check_bridge() refuses for that reason.
Communicator* reachable_peer(MPI_Comm peer, int remote_leader, int tag) noexcept {
    Communicator* comm = checked_object<Communicator>(peer);
    const bool reaches = comm != nullptr && remote_leader >= 0 && remote_leader < comm->remote_size && tag >= 0 &&
        tag <= comm->pml->max_tag();
    return reaches ? comm : nullptr;
}

// What counts at the leader alone.
bool check_bridge(Arguments& args, MPI_Comm peer, int remote_leader, int tag) noexcept {
    return args.valid<Communicator>(MPI_ERR_COMM, "peer_comm", peer) &&
        rank_in(args, "remote_leader", remote_leader, to_object<Communicator>(peer)->remote_size) &&
        args.send_tag("tag", tag) && args.same_session(*args.comm(), *to_object<Communicator>(peer));
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Intercomm_create(
    MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm* newintercomm) {
    api::Arguments args("MPI_Intercomm_create", local_comm);
    if (api::checking() && !args.communicator()) {
        return args.code(); // the handle names no process that could be told
    }
    Communicator& local = *args.comm();
    const bool leads = local.rank == local_leader;
    if (api::checking() && !args.intracommunicator()) {
        if (leads) {
            Communicator* peer = api::reachable_peer(peer_comm, remote_leader, tag);
            unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
                refuse_intercommunicator(peer, remote_leader, tag, args.code());
                return MPI_SUCCESS;
            });
        }
        return args.code(); // the other processes of the local group see the same
    }
    const bool has_leader = local_leader >= 0 && local_leader < local.size;
    // A process that refuses its arguments still joins: the others learn of it there.
    const bool refuses = api::checking() &&
        !(api::rank_in(args, "local_leader", local_leader, local.size) && args.pointer("newintercomm", newintercomm) &&
            (!leads || api::check_bridge(args, peer_comm, remote_leader, tag)));
    Communicator* peer = leads ? api::reachable_peer(peer_comm, remote_leader, tag) : nullptr;
    Communicator* made = nullptr;
    std::string problem;
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        return create_intercommunicator(local, has_leader ? local_leader : -1, peer, remote_leader, tag,
            refuses ? args.code() : MPI_SUCCESS, &made, &problem);
    });
    return refuses ? args.code() : api::give(args, code, problem, made, newintercomm);
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    api::Arguments args("MPI_Intercomm_merge", intercomm);
    if (api::checking() && !(args.intercommunicator() && args.pointer("newintracomm", newintracomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    std::string problem;
    const int code =
        unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return merge(*args.comm(), high != 0, &made, &problem); });
    return api::give(args, code, problem, made, newintracomm);
}
