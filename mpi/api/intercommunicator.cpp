// SPDX-License-Identifier: BSD-3-Clause
// Construction of intercommunicators, and MPI_Intercomm_merge (MPI-5.0, 7.6.2). For MPI_Intercomm_create_from_groups
// see session.cpp.
#include "core/base/out_of_memory.h"
#include "frameworks/pml/pml.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "mpi/communicators/intercommunicators.h"
#include "mpi/communicators/thread_intercommunicators.h"

namespace patchbay::api {

namespace {

bool rank_in(Arguments& args, const char* name, int rank, int size) noexcept {
    return args.require(rank >= 0 && rank < size, MPI_ERR_RANK, name, rank, "must be a rank of its group");
}

// The peer communicator if the leader can reach the other leader on it; nullptr: check_bridge() has rejected it, the
// remote leader or the tag. A thread must not send on a communicator of processes, which other threads may use.
Communicator* reachable_peer(const Communicator& local, MPI_Comm peer, int remote_leader, int tag) noexcept {
    Communicator* comm = probed_object<Communicator>(peer);
    const bool reaches = comm != nullptr && (comm->view != nullptr || local.view == nullptr) && remote_leader >= 0 &&
        remote_leader < comm->remote_size && tag >= 0 && tag <= comm->pml->max_tag();
    return reaches ? comm : nullptr;
}

// What is wrong with the kind of ranks that the peer communicator has; null: nothing.
const char* fault_of_peer(const Communicator& local, const Communicator& peer) noexcept {
    if (local.view == nullptr) {
        return peer.view == nullptr ? nullptr : "must not be a communicator of threads, because local_comm is not one";
    }
    if (peer.view == nullptr) {
        return "must be a communicator of threads, because local_comm is one";
    }
    return threads::are_of_one_activation(local, peer)
        ? nullptr
        : "must be derived from the same thread communicator as local_comm";
}

// Checks the arguments that are significant at the leader only.
bool check_bridge(Arguments& args, MPI_Comm peer, int remote_leader, int tag) noexcept {
    if (!args.valid<Communicator>(MPI_ERR_COMM, "peer_comm", peer)) {
        return false;
    }
    const char* const fault = fault_of_peer(*args.comm(), *to_object<Communicator>(peer));
    return args.require(fault == nullptr, MPI_ERR_COMM, "peer_comm", reinterpret_cast<std::intptr_t>(peer), fault) &&
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
        return args.code(); // without a valid handle no other process can be notified
    }
    Communicator& local = *args.comm();
    const bool is_leader = local.rank == local_leader;
    if (api::checking() && !args.intracommunicator()) {
        if (is_leader) {
            Communicator* peer = api::reachable_peer(local, peer_comm, remote_leader, tag);
            unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
                refuse_intercommunicator(peer, remote_leader, tag, args.code());
                return MPI_SUCCESS;
            });
        }
        return args.code(); // all processes of the local group detect this error
    }
    const bool has_leader = local_leader >= 0 && local_leader < local.size;
    // A process that has detected an error still takes part, so that the other processes return it too.
    const bool refuses = api::checking() &&
        !(api::rank_in(args, "local_leader", local_leader, local.size) && args.pointer("newintercomm", newintercomm) &&
            (!is_leader || api::check_bridge(args, peer_comm, remote_leader, tag)));
    Communicator* peer = is_leader ? api::reachable_peer(local, peer_comm, remote_leader, tag) : nullptr;
    Communicator* made = nullptr;
    std::string problem;
    const int code = api::run_constructor(args, [&] {
        return create_intercommunicator(local, has_leader ? local_leader : -1, peer, remote_leader, tag,
            refuses ? args.code() : MPI_SUCCESS, &made, &problem);
    });
    return refuses ? args.code() : api::give_handle(args, code, made, newintercomm, problem);
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    api::Arguments args("MPI_Intercomm_merge", intercomm);
    if (api::checking() && !(args.intercommunicator() && args.pointer("newintracomm", newintracomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    std::string problem;
    const int code = api::run_constructor(args, [&] { return merge(*args.comm(), high != 0, &made, &problem); });
    return api::give_handle(args, code, made, newintracomm, problem);
}
