// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/collective_args.h"

// The reductions. `form` is one of the classes Blocking, Nonblocking and Persistent.
namespace patchbay::api {

// Checks the two buffers of a reduction, which have the same type.
inline bool distinct(Arguments& args, const void* send, const void* recv, MPI_Count count, MPI_Datatype type) noexcept {
    return separate(args, block_of(send, 0, count, type), block_of(recv, 0, count, type));
}
inline bool reduction(
    Arguments& args, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op) noexcept {
    return args.count("count", count) && args.datatype("datatype", type) && args.op(op, type) &&
        args.buffer("recvbuf", recv, count, type) &&
        (in_place(args, send) ||
            (args.buffer("sendbuf", send, count, type) && distinct(args, send, recv, count, type)));
}

inline Call reduction_call(Function function, const void* send, void* recv, MPI_Count count, MPI_Datatype type,
    MPI_Op op, int root = 0) noexcept {
    Call call;
    call.function = function;
    call.send = send;
    call.recv = recv;
    call.recv_count = count;
    call.recv_type = &type_of(type);
    call.op = to_object<Op>(op);
    call.root = root;
    return call;
}

template <class FormOf>
int reduce(const char* name, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
    MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root, form)) {
        return form.template without_part<Function::reduce>(args);
    }
    if (checking()) {
        const bool fine = at_root(args, root) && !only_root(args, root)
            ? reduction(args, send, recv, count, type, op)
            : args.count("count", count) && args.datatype("datatype", type) && args.op(op, type) &&
                args.buffer(
                    only_root(args, root) ? "recvbuf" : "sendbuf", only_root(args, root) ? recv : send, count, type);
        if (!fine) {
            return args.code();
        }
    }
    return form.template run<Function::reduce>(
        args, reduction_call(Function::reduce, send, recv, count, type, op, root));
}

// The receive buffer of rank 0 is not significant in exscan, unless it has the operand (MPI-5.0, 6.11.2). The operand
// itself is the mistake of which all other ranks are told, and an error as in MPICH.
template <Function function>
bool reduction_everywhere(
    Arguments& args, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op) noexcept {
    if (function == Function::exscan && args.comm()->rank == 0 && send != MPI_IN_PLACE) {
        return args.count("count", count) && args.datatype("datatype", type) && args.op(op, type) &&
            args.buffer("sendbuf", send, count, type) && distinct(args, send, recv, count, type);
    }
    return reduction(args, send, recv, count, type, op);
}

// allreduce, scan and exscan have the same arguments.
template <Function function, class FormOf>
int reduce_everywhere(const char* name, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
    MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !((function == Function::allreduce ? args.communicator() : args.intracommunicator()) && form.good(args) &&
            reduction_everywhere<function>(args, send, recv, count, type, op))) {
        return args.code();
    }
    return form.template run<function>(args, reduction_call(function, send, recv, count, type, op));
}

// The buffers of a reduction whose result is distributed; `most` is the largest part of it, and `own` that of this
// process.
inline bool scattered(
    Arguments& args, const void* send, const void* recv, MPI_Count most, MPI_Count own, MPI_Datatype type) noexcept {
    return (in_place(args, send) ? args.buffer("recvbuf", recv, most, type)
                                 : args.buffer("sendbuf", send, most, type)) &&
        args.buffer("recvbuf", recv, own, type);
}

template <class FormOf>
int reduce_scatter(const char* name, const void* send, void* recv, CountArray recv_counts, MPI_Datatype type, MPI_Op op,
    MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && form.good(args) && counts(args, "recvcounts", recv_counts, args.comm()->size) &&
            args.datatype("datatype", type) && args.op(op, type) && send_place(args, send) &&
            scattered(args, send, recv, largest(recv_counts, args.comm()->size),
                recv_counts[std::size_t(args.comm()->rank)], type) &&
            distinct(args, send, recv, recv_counts[std::size_t(args.comm()->rank)], type))) {
        return args.code();
    }
    Call call = reduction_call(Function::reduce_scatter, send, recv, 0, type, op);
    call.recv_counts = recv_counts;
    return form.template run<Function::reduce_scatter>(args, call);
}

template <class FormOf>
int reduce_scatter_block(const char* name, const void* send, void* recv, MPI_Count recv_count, MPI_Datatype type,
    MPI_Op op, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && form.good(args) && args.count("recvcount", recv_count) &&
            args.datatype("datatype", type) && args.op(op, type) && send_place(args, send) &&
            scattered(args, send, recv, recv_count, recv_count, type) &&
            distinct(args, send, recv, recv_count, type))) {
        return args.code();
    }
    return form.template run<Function::reduce_scatter_block>(
        args, reduction_call(Function::reduce_scatter_block, send, recv, recv_count, type, op));
}

} // namespace patchbay::api
