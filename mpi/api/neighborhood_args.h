// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/exchange_collectives.h"
#include "object/topology.h"

// The neighbourhood collectives (MPI-5.0, 8.6). `form` is one of the classes Blocking, Nonblocking and Persistent.
// MPI_IN_PLACE is not allowed, and the checks of buffers reject it.
namespace patchbay::api {

inline int indegree(const Arguments& args) noexcept {
    return int(args.comm()->topology->sources().size());
}
inline int outdegree(const Arguments& args) noexcept {
    return int(args.comm()->topology->destinations().size());
}

template <class FormOf>
bool neighborhood(Arguments& args, const FormOf& form) noexcept {
    return args.communicator() && args.topology(args.comm()->topology != nullptr, "a virtual topology") &&
        args.topology(args.comm()->topology->has_neighborhoods(), "a topology with a symmetric adjacency matrix") &&
        form.good(args);
}

// A buffer of `blocks` blocks, which is not used if there are none.
inline bool blocks(Arguments& args, const char* buffer_name, const void* buffer, const char* count_name,
    MPI_Count count, const char* type_name, MPI_Datatype type, int blocks) noexcept {
    return args.count(count_name, count) && args.datatype(type_name, type) &&
        args.buffer(buffer_name, buffer, blocks > 0 ? count : 0, type);
}

// Arrays with one entry per neighbour, which may be null where there is no neighbour.
inline bool neighbor_counts(Arguments& args, const char* counts_name, CountArray values, const char* displacements_name,
    CountArray displacements, int neighbors) noexcept {
    return neighbors == 0 ||
        (counts(args, counts_name, values, neighbors) &&
            args.require(bool(displacements), MPI_ERR_ARG, displacements_name, 0, "must not be NULL"));
}

// Blocks with counts and displacements.
inline bool placed_blocks(Arguments& args, const char* buffer_name, const void* buffer, const char* counts_name,
    CountArray values, const char* displacements_name, CountArray displacements, const char* type_name,
    MPI_Datatype type, int neighbors) noexcept {
    if (!(neighbor_counts(args, counts_name, values, displacements_name, displacements, neighbors) &&
            args.datatype(type_name, type))) {
        return false;
    }
    return buffer_of_blocks(args, buffer_name, buffer, values, displacements, neighbors, type);
}

inline bool typed_blocks(Arguments& args, const char* buffer_name, const void* buffer, const char* counts_name,
    const char* displacements_name, const char* types_name, const TypedVector& side, int neighbors) noexcept {
    if (!(neighbor_counts(args, counts_name, side.counts, displacements_name, side.displacements, neighbors) &&
            args.array(types_name, side.types, neighbors) &&
            args.require(buffer != MPI_IN_PLACE, MPI_ERR_BUFFER, buffer_name, 1, "must not be MPI_IN_PLACE"))) {
        return false;
    }
    return typed_buffer(args, buffer_name, buffer, types_name, side, neighbors);
}

// Whether there is a first block that is sent and one that is received: these must be separate.
// A block of MPI_PROC_NULL is neither.
inline bool sends_and_receives(const Arguments& args) noexcept {
    const Topology& topology = *args.comm()->topology;
    return indegree(args) != 0 && outdegree(args) != 0 && topology.sources()[0] != MPI_PROC_NULL &&
        topology.destinations()[0] != MPI_PROC_NULL;
}

// neighbor_allgather and neighbor_alltoall have the same arguments.
template <Function function, class FormOf>
int equal_neighbor_blocks(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(neighborhood(args, form) &&
            blocks(args, "sendbuf", send, "sendcount", send_count, "sendtype", send_type, outdegree(args)) &&
            blocks(args, "recvbuf", recv, "recvcount", recv_count, "recvtype", recv_type, indegree(args)) &&
            (!sends_and_receives(args) ||
                separate(args, block_of(send, 0, send_count, send_type), block_of(recv, 0, recv_count, recv_type))))) {
        return args.code();
    }
    return run_equal_blocks<function>(args, send, send_count, send_type, recv, recv_count, recv_type, form);
}

template <class FormOf>
int neighbor_allgatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, MPI_Comm comm,
    const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(neighborhood(args, form) &&
            blocks(args, "sendbuf", send, "sendcount", send_count, "sendtype", send_type, outdegree(args)) &&
            placed_blocks(args, "recvbuf", recv, "recvcounts", recv_counts, "displs", displacements, "recvtype",
                recv_type, indegree(args)) &&
            (!sends_and_receives(args) ||
                separate(args, block_of(send, 0, send_count, send_type),
                    block_of(recv, displacements[0], recv_counts[0], recv_type))))) {
        return args.code();
    }
    return run_allgatherv<Function::neighbor_allgatherv>(
        args, send, send_count, send_type, recv, recv_counts, displacements, recv_type, form);
}

template <class FormOf>
int neighbor_alltoallv(const char* name, const void* send, CountArray send_counts, CountArray send_displacements,
    MPI_Datatype send_type, void* recv, CountArray recv_counts, CountArray recv_displacements, MPI_Datatype recv_type,
    MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(neighborhood(args, form) &&
            placed_blocks(args, "sendbuf", send, "sendcounts", send_counts, "sdispls", send_displacements, "sendtype",
                send_type, outdegree(args)) &&
            placed_blocks(args, "recvbuf", recv, "recvcounts", recv_counts, "rdispls", recv_displacements, "recvtype",
                recv_type, indegree(args)) &&
            (!sends_and_receives(args) ||
                separate(args, block_of(send, send_displacements[0], send_counts[0], send_type),
                    block_of(recv, recv_displacements[0], recv_counts[0], recv_type))))) {
        return args.code();
    }
    return run_alltoallv<Function::neighbor_alltoallv>(
        args, send, send_counts, send_displacements, send_type, recv, recv_counts, recv_displacements, recv_type, form);
}

template <class FormOf>
int neighbor_alltoallw(const char* name, const void* send, const TypedVector& send_side, void* recv,
    const TypedVector& recv_side, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(neighborhood(args, form) &&
            typed_blocks(args, "sendbuf", send, "sendcounts", "sdispls", "sendtypes", send_side, outdegree(args)) &&
            typed_blocks(args, "recvbuf", recv, "recvcounts", "rdispls", "recvtypes", recv_side, indegree(args)))) {
        return args.code();
    }
    Call call;
    call.function = Function::neighbor_alltoallw;
    call.send = send;
    call.send_counts = send_side.counts;
    call.send_displacements = send_side.displacements;
    call.send_types = send_side.types;
    call.send_types_count = outdegree(args);
    call.recv = recv;
    call.recv_counts = recv_side.counts;
    call.recv_displacements = recv_side.displacements;
    call.recv_types = recv_side.types;
    call.recv_types_count = indegree(args);
    return form.template run<Function::neighbor_alltoallw>(args, call);
}

} // namespace patchbay::api
