// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/collective_args.h"

namespace patchbay::api {

namespace {

// Checks the two buffers of a reduction, which have the same type.
bool distinct(Arguments& args, const void* send, const void* recv, MPI_Count count, MPI_Datatype type) noexcept {
    return separate(args, block_of(send, 0, count, type), block_of(recv, 0, count, type));
}
bool reduction(Arguments& args, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op) noexcept {
    return args.count("count", count) && args.datatype("datatype", type) && args.op(op, type) &&
        args.buffer("recvbuf", recv, count, type) &&
        (in_place(args, send) ||
            (args.buffer("sendbuf", send, count, type) && distinct(args, send, recv, count, type)));
}

int reduce(const char* name, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
    MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root)) {
        return args.code();
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
    return args.result(module_for(args, Function::reduce)
                           .reduce(send, recv, count, type_of(type), *to_object<Op>(op), root, *args.comm()));
}

// allreduce, scan and exscan have the same arguments.
template <Function function>
int reduce_everywhere(const char* name, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
    MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !((function == Function::allreduce ? args.communicator() : args.intracommunicator()) &&
            reduction(args, send, recv, count, type, op))) {
        return args.code();
    }
    coll::Module& module = module_for(args, function);
    const Op& operation = *to_object<Op>(op);
    if constexpr (function == Function::allreduce) {
        return args.result(module.allreduce(send, recv, count, type_of(type), operation, *args.comm()));
    } else if constexpr (function == Function::scan) {
        return args.result(module.scan(send, recv, count, type_of(type), operation, *args.comm()));
    } else {
        return args.result(module.exscan(send, recv, count, type_of(type), operation, *args.comm()));
    }
}

int reduce_scatter(const char* name, const void* send, void* recv, CountArray recv_counts, MPI_Datatype type, MPI_Op op,
    MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && counts(args, "recvcounts", recv_counts, args.comm()->size) &&
            args.datatype("datatype", type) && args.op(op, type) && send_place(args, send) &&
            distinct(args, send, recv, recv_counts[std::size_t(args.comm()->rank)], type))) {
        return args.code();
    }
    return args.result(module_for(args, Function::reduce_scatter)
                           .reduce_scatter(send, recv, recv_counts, type_of(type), *to_object<Op>(op), *args.comm()));
}

int reduce_scatter_block(const char* name, const void* send, void* recv, MPI_Count recv_count, MPI_Datatype type,
    MPI_Op op, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && args.count("recvcount", recv_count) && args.datatype("datatype", type) &&
            args.op(op, type) && send_place(args, send) && distinct(args, send, recv, recv_count, type))) {
        return args.code();
    }
    return args.result(
        module_for(args, Function::reduce_scatter_block)
            .reduce_scatter_block(send, recv, recv_count, type_of(type), *to_object<Op>(op), *args.comm()));
}

} // namespace

} // namespace patchbay::api

using patchbay::coll::CountArray;
using patchbay::coll::Function;
namespace api = patchbay::api;

extern "C" {

int PMPI_Reduce(
    const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return api::reduce("MPI_Reduce", sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Reduce_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return api::reduce("MPI_Reduce_c", sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::allreduce>("MPI_Allreduce", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Allreduce_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::allreduce>("MPI_Allreduce_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Reduce_scatter(
    const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter("MPI_Reduce_scatter", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm);
}

int PMPI_Reduce_scatter_c(
    const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter("MPI_Reduce_scatter_c", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm);
}

int PMPI_Reduce_scatter_block(
    const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter_block("MPI_Reduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Reduce_scatter_block_c(
    const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter_block("MPI_Reduce_scatter_block_c", sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::scan>("MPI_Scan", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::scan>("MPI_Scan_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::exscan>("MPI_Exscan", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::exscan>("MPI_Exscan_c", sendbuf, recvbuf, count, datatype, op, comm);
}

} // extern "C"
