// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/collective_args.h"

// The collectives in which each process sends to all and receives from all. `form` is one of the classes Blocking,
// Nonblocking and Persistent.
namespace patchbay::api {

inline bool typed(Arguments& args, const char* buffer_name, const void* buffer, const char* counts_name,
    const char* displacements_name, const char* types_name, const TypedVector& side) noexcept {
    if (!counts(args, counts_name, side.counts, args.comm()->remote_size) ||
        !args.require(bool(side.displacements), MPI_ERR_ARG, displacements_name, 0, "must not be NULL") ||
        !args.pointer(types_name, side.types)) {
        return false;
    }
    return typed_buffer(args, buffer_name, buffer, types_name, side, args.comm()->remote_size);
}

// Compares, for every process, the block for that process with the block from that process.
inline bool pairwise_separate(Arguments& args, const void* send, CountArray send_counts, CountArray send_displacements,
    MPI_Datatype send_type, const void* recv, CountArray recv_counts, CountArray recv_displacements,
    MPI_Datatype recv_type) noexcept {
    for (std::size_t rank = 0; rank < std::size_t(args.comm()->remote_size); ++rank) {
        if (!separate(args, block_of(send, send_displacements[rank], send_counts[rank], send_type),
                block_of(recv, recv_displacements[rank], recv_counts[rank], recv_type))) {
            return false;
        }
    }
    return true;
}
inline bool pairwise_separate(Arguments& args, const void* send, const TypedVector& send_side, const void* recv,
    const TypedVector& recv_side) noexcept {
    const auto block = [](const void* buffer, const TypedVector& side, std::size_t rank) {
        return Block{buffer, std::uintptr_t(side.displacements[rank]), side.counts[rank], type_of(side.types[rank])};
    };
    for (std::size_t rank = 0; rank < std::size_t(args.comm()->remote_size); ++rank) {
        if (!separate(args, block(send, send_side, rank), block(recv, recv_side, rank))) {
            return false;
        }
    }
    return true;
}

// The arguments of one send and one receive side; the counts are set by the caller.
inline Call exchange_call(
    Function function, const void* send, MPI_Datatype send_type, void* recv, MPI_Datatype recv_type) noexcept {
    Call call;
    call.function = function;
    call.send = send;
    call.send_type = &type_of(send == MPI_IN_PLACE ? recv_type : send_type);
    call.recv = recv;
    call.recv_type = &type_of(recv_type);
    return call;
}

// Run a call whose arguments have been checked; the neighbourhood collectives have the same ones.
template <Function function, class FormOf>
int run_equal_blocks(Arguments& args, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, const FormOf& form) noexcept {
    Call call = exchange_call(function, send, send_type, recv, recv_type);
    call.send_count = send_count;
    call.recv_count = recv_count;
    return form.template run<function>(args, call);
}
template <Function function, class FormOf>
int run_allgatherv(Arguments& args, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, const FormOf& form) noexcept {
    Call call = exchange_call(function, send, send_type, recv, recv_type);
    call.send_count = send_count;
    call.recv_counts = recv_counts;
    call.recv_displacements = displacements;
    return form.template run<function>(args, call);
}
template <Function function, class FormOf>
int run_alltoallv(Arguments& args, const void* send, CountArray send_counts, CountArray send_displacements,
    MPI_Datatype send_type, void* recv, CountArray recv_counts, CountArray recv_displacements, MPI_Datatype recv_type,
    const FormOf& form) noexcept {
    Call call = exchange_call(function, send, send_type, recv, recv_type);
    call.send_counts = send_counts;
    call.send_displacements = send_displacements;
    call.recv_counts = recv_counts;
    call.recv_displacements = recv_displacements;
    return form.template run<function>(args, call);
}

// allgather and alltoall have the same arguments.
template <Function function, class FormOf>
int equal_blocks(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && form.good(args) && recv_block(args, recv, recv_count, recv_type) &&
            (in_place(args, send) ||
                (send_block(args, send, send_count, send_type) &&
                    (function == Function::allgather
                            ? separate(args, block_of(send, 0, send_count, send_type), recv, recv_count, recv_type)
                            : separate(args, block_of(send, 0, send_count, send_type),
                                  block_of(recv, 0, recv_count, recv_type))))))) {
        return args.code();
    }
    return run_equal_blocks<function>(args, send, send_count, send_type, recv, recv_count, recv_type, form);
}

template <class FormOf>
int allgatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, MPI_Comm comm,
    const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && form.good(args) &&
            placed(args, "recvbuf", recv, "recvcounts", recv_counts, "displs", displacements, "recvtype", recv_type) &&
            (in_place(args, send) ||
                (send_block(args, send, send_count, send_type) &&
                    separate(args, block_of(send, 0, send_count, send_type), recv, recv_counts, displacements,
                        recv_type))))) {
        return args.code();
    }
    return run_allgatherv<Function::allgatherv>(
        args, send, send_count, send_type, recv, recv_counts, displacements, recv_type, form);
}

template <class FormOf>
int alltoallv(const char* name, const void* send, CountArray send_counts, CountArray send_displacements,
    MPI_Datatype send_type, void* recv, CountArray recv_counts, CountArray recv_displacements, MPI_Datatype recv_type,
    MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && form.good(args) &&
            placed(args, "recvbuf", recv, "recvcounts", recv_counts, "rdispls", recv_displacements, "recvtype",
                recv_type) &&
            (in_place(args, send) ||
                (send_place(args, send) &&
                    placed(args, "sendbuf", send, "sendcounts", send_counts, "sdispls", send_displacements, "sendtype",
                        send_type) &&
                    pairwise_separate(args, send, send_counts, send_displacements, send_type, recv, recv_counts,
                        recv_displacements, recv_type))))) {
        return args.code();
    }
    return run_alltoallv<Function::alltoallv>(
        args, send, send_counts, send_displacements, send_type, recv, recv_counts, recv_displacements, recv_type, form);
}

template <class FormOf>
int alltoallw(const char* name, const void* send, const TypedVector& send_side, void* recv,
    const TypedVector& recv_side, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && form.good(args) &&
            typed(args, "recvbuf", recv, "recvcounts", "rdispls", "recvtypes", recv_side) &&
            (in_place(args, send) ||
                (send_place(args, send) &&
                    typed(args, "sendbuf", send, "sendcounts", "sdispls", "sendtypes", send_side) &&
                    pairwise_separate(args, send, send_side, recv, recv_side))))) {
        return args.code();
    }
    Call call;
    call.function = Function::alltoallw;
    call.send = send;
    if (send != MPI_IN_PLACE) { // otherwise the arguments of this side may have any value
        call.send_counts = send_side.counts;
        call.send_displacements = send_side.displacements;
        call.send_types = send_side.types;
        call.send_types_count = args.comm()->remote_size;
    }
    call.recv = recv;
    call.recv_counts = recv_side.counts;
    call.recv_displacements = recv_side.displacements;
    call.recv_types = recv_side.types;
    call.recv_types_count = args.comm()->remote_size;
    return form.template run<Function::alltoallw>(args, call);
}

} // namespace patchbay::api
