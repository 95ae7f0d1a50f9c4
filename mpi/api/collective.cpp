// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/coll.h"
#include "mpi/api/args.h"
#include "mpi/api/report.h"

namespace patchbay::api {

namespace {

using coll::CountArray;
using coll::Function;
using coll::TypedVector;

coll::Module& serving(const Arguments& args, Function function) noexcept {
    return (*args.comm()->coll)[function];
}

const Datatype& type_of(MPI_Datatype handle) noexcept {
    return *to_object<Datatype>(handle);
}

// A buffer of `count` elements of a committed type.
bool block(Arguments& args, const char* buffer_name, const void* buffer, const char* count_name, MPI_Count count,
           const char* type_name, MPI_Datatype type) noexcept {
    return args.count(count_name, count) && args.datatype(type_name, type) &&
           args.buffer(buffer_name, buffer, count, type);
}
bool send_block(Arguments& args, const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return block(args, "sendbuf", buffer, "sendcount", count, "sendtype", type);
}
bool recv_block(Arguments& args, const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return block(args, "recvbuf", buffer, "recvcount", count, "recvtype", type);
}

// Where the standard allows one side to be MPI_IN_PLACE, that side's count and type are ignored.
bool send_block_or_in_place(Arguments& args, const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return buffer == MPI_IN_PLACE || send_block(args, buffer, count, type);
}
bool recv_block_or_in_place(Arguments& args, const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return buffer == MPI_IN_PLACE || recv_block(args, buffer, count, type);
}

// One entry per rank: counts that are not negative, displacements where a function takes them.
bool counts(Arguments& args, const char* name, CountArray values) noexcept {
    const auto size = std::size_t(args.comm()->remote_size);
    if (!args.require(bool(values), MPI_ERR_ARG, name, 0, "must not be NULL")) {
        return false;
    }
    for (std::size_t rank = 0; rank < size; ++rank) {
        if (!args.count(name, values[rank])) {
            return false;
        }
    }
    return true;
}
bool placed(Arguments& args, const char* counts_name, CountArray values, const char* displacements_name,
            CountArray displacements, const char* type_name, MPI_Datatype type) noexcept {
    return counts(args, counts_name, values) && args.datatype(type_name, type) &&
           args.require(bool(displacements), MPI_ERR_ARG, displacements_name, 0, "must not be NULL");
}
bool typed(Arguments& args, const char* counts_name, const char* displacements_name, const char* types_name,
           const TypedVector& side) noexcept {
    if (!counts(args, counts_name, side.counts) ||
        !args.require(bool(side.displacements), MPI_ERR_ARG, displacements_name, 0, "must not be NULL") ||
        !args.pointer(types_name, side.types)) {
        return false;
    }
    for (int rank = 0; rank < args.comm()->remote_size; ++rank) {
        if (!args.datatype(types_name, side.types[rank])) {
            return false;
        }
    }
    return true;
}

// Does this process take the root's part of a rooted collective? Its arguments are significant there only.
bool at_root(const Arguments& args, int root) noexcept {
    return args.comm()->is_inter ? root == MPI_ROOT : root == args.comm()->rank;
}

// The two buffers of a reduction may not be the same memory: MPI_IN_PLACE says that.
bool distinct(Arguments& args, const void* send, const void* recv, MPI_Count count) noexcept {
    return args.require(send != recv || count == 0 || send == MPI_BOTTOM, MPI_ERR_BUFFER, "recvbuf", 0,
                        "must not be the same as sendbuf (pass MPI_IN_PLACE)");
}
bool reduction(Arguments& args, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op) noexcept {
    return args.count("count", count) && args.datatype("datatype", type) && args.op(op, type) &&
           args.buffer("recvbuf", recv, count, type) &&
           (send == MPI_IN_PLACE ||
            (args.buffer("sendbuf", send, count, type) && distinct(args, send, recv, count)));
}

int barrier(const char* name, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !args.communicator()) {
        return args.code();
    }
    return args.result(serving(args, Function::barrier).barrier(*args.comm()));
}

int bcast(const char* name, void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() && args.root(root) &&
                        block(args, "buffer", buffer, "count", count, "datatype", type))) {
        return args.code();
    }
    if (count == 0 || type_of(type).size == 0) {
        return MPI_SUCCESS; // every rank sees the same signature: nobody has anything to say
    }
    return args.result(serving(args, Function::bcast).bcast(buffer, count, type_of(type), root, *args.comm()));
}

int gather(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
           MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking()) {
        const bool fine = args.communicator() && args.root(root) &&
                          (at_root(args, root) ? recv_block(args, recv, recv_count, recv_type) &&
                                                     send_block_or_in_place(args, send, send_count, send_type)
                                               : send_block(args, send, send_count, send_type));
        if (!fine) {
            return args.code();
        }
    }
    // What is not significant here may be anything: do not look at it.
    const bool root_side = at_root(args, root);
    const Datatype& from = send == MPI_IN_PLACE ? type_of(recv_type) : type_of(send_type);
    const Datatype& into = root_side ? type_of(recv_type) : from;
    return args.result(serving(args, Function::gather)
                           .gather(send, send_count, from, recv, root_side ? recv_count : 0, into, root, *args.comm()));
}

int gatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
            CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, int root,
            MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking()) {
        const bool fine =
            args.communicator() && args.root(root) &&
            (at_root(args, root)
                 ? placed(args, "recvcounts", recv_counts, "displs", displacements, "recvtype", recv_type) &&
                       send_block_or_in_place(args, send, send_count, send_type)
                 : send_block(args, send, send_count, send_type));
        if (!fine) {
            return args.code();
        }
    }
    const Datatype& from = send == MPI_IN_PLACE ? type_of(recv_type) : type_of(send_type);
    const Datatype& into = at_root(args, root) ? type_of(recv_type) : from;
    return args.result(
        serving(args, Function::gatherv)
            .gatherv(send, send_count, from, recv, recv_counts, displacements, into, root, *args.comm()));
}

int scatter(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
            MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking()) {
        const bool fine = args.communicator() && args.root(root) &&
                          (at_root(args, root) ? send_block(args, send, send_count, send_type) &&
                                                     recv_block_or_in_place(args, recv, recv_count, recv_type)
                                               : recv_block(args, recv, recv_count, recv_type));
        if (!fine) {
            return args.code();
        }
    }
    const bool root_side = at_root(args, root);
    const Datatype& into = recv == MPI_IN_PLACE ? type_of(send_type) : type_of(recv_type);
    const Datatype& from = root_side ? type_of(send_type) : into;
    return args.result(
        serving(args, Function::scatter)
            .scatter(send, root_side ? send_count : 0, from, recv, recv_count, into, root, *args.comm()));
}

int scatterv(const char* name, const void* send, CountArray send_counts, CountArray displacements,
             MPI_Datatype send_type, void* recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
             MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking()) {
        const bool fine =
            args.communicator() && args.root(root) &&
            (at_root(args, root)
                 ? placed(args, "sendcounts", send_counts, "displs", displacements, "sendtype", send_type) &&
                       recv_block_or_in_place(args, recv, recv_count, recv_type)
                 : recv_block(args, recv, recv_count, recv_type));
        if (!fine) {
            return args.code();
        }
    }
    const Datatype& into = recv == MPI_IN_PLACE ? type_of(send_type) : type_of(recv_type);
    const Datatype& from = at_root(args, root) ? type_of(send_type) : into;
    return args.result(
        serving(args, Function::scatterv)
            .scatterv(send, send_counts, displacements, from, recv, recv_count, into, root, *args.comm()));
}

int allgather(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
              MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() && recv_block(args, recv, recv_count, recv_type) &&
                        send_block_or_in_place(args, send, send_count, send_type))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    return args.result(serving(args, Function::allgather)
                           .allgather(send, send_count, from, recv, recv_count, into, *args.comm()));
}

int allgatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
               CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() &&
                        placed(args, "recvcounts", recv_counts, "displs", displacements, "recvtype", recv_type) &&
                        send_block_or_in_place(args, send, send_count, send_type))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    return args.result(
        serving(args, Function::allgatherv)
            .allgatherv(send, send_count, from, recv, recv_counts, displacements, into, *args.comm()));
}

int alltoall(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
             MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() && recv_block(args, recv, recv_count, recv_type) &&
                        send_block_or_in_place(args, send, send_count, send_type))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    return args.result(serving(args, Function::alltoall)
                           .alltoall(send, send_count, from, recv, recv_count, into, *args.comm()));
}

int alltoallv(const char* name, const void* send, CountArray send_counts, CountArray send_displacements,
              MPI_Datatype send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
              MPI_Datatype recv_type, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() &&
          placed(args, "recvcounts", recv_counts, "rdispls", recv_displacements, "recvtype", recv_type) &&
          (send == MPI_IN_PLACE ||
           placed(args, "sendcounts", send_counts, "sdispls", send_displacements, "sendtype", send_type)))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    return args.result(serving(args, Function::alltoallv)
                           .alltoallv(send, send_counts, send_displacements, from, recv, recv_counts,
                                      recv_displacements, into, *args.comm()));
}

int alltoallw(const char* name, const void* send, const TypedVector& send_side, void* recv,
              const TypedVector& recv_side, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && typed(args, "recvcounts", "rdispls", "recvtypes", recv_side) &&
          (send == MPI_IN_PLACE || typed(args, "sendcounts", "sdispls", "sendtypes", send_side)))) {
        return args.code();
    }
    return args.result(
        serving(args, Function::alltoallw).alltoallw(send, send_side, recv, recv_side, *args.comm()));
}

int reduce(const char* name, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking()) {
        const bool fine = args.communicator() && args.root(root) &&
                          (at_root(args, root)
                               ? reduction(args, send, recv, count, type, op)
                               : args.count("count", count) && args.datatype("datatype", type) && args.op(op, type) &&
                                     args.buffer("sendbuf", send, count, type));
        if (!fine) {
            return args.code();
        }
    }
    if (count == 0) {
        return MPI_SUCCESS;
    }
    return args.result(serving(args, Function::reduce)
                           .reduce(send, recv, count, type_of(type), *to_object<Op>(op), root, *args.comm()));
}

// allreduce, scan and exscan have the same arguments.
template <Function function>
int reduce_everywhere(const char* name, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !((function == Function::allreduce ? args.communicator() : args.intracommunicator()) &&
                        reduction(args, send, recv, count, type, op))) {
        return args.code();
    }
    if (count == 0) {
        return MPI_SUCCESS;
    }
    coll::Module& module = serving(args, function);
    const Op& operation = *to_object<Op>(op);
    if constexpr (function == Function::allreduce) {
        return args.result(module.allreduce(send, recv, count, type_of(type), operation, *args.comm()));
    } else if constexpr (function == Function::scan) {
        return args.result(module.scan(send, recv, count, type_of(type), operation, *args.comm()));
    } else {
        return args.result(module.exscan(send, recv, count, type_of(type), operation, *args.comm()));
    }
}

int reduce_scatter(const char* name, const void* send, void* recv, CountArray recv_counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() && counts(args, "recvcounts", recv_counts) &&
                        args.datatype("datatype", type) && args.op(op, type))) {
        return args.code();
    }
    return args.result(serving(args, Function::reduce_scatter)
                           .reduce_scatter(send, recv, recv_counts, type_of(type), *to_object<Op>(op), *args.comm()));
}

int reduce_scatter_block(const char* name, const void* send, void* recv, MPI_Count recv_count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() && args.count("recvcount", recv_count) &&
                        args.datatype("datatype", type) && args.op(op, type))) {
        return args.code();
    }
    if (recv_count == 0) {
        return MPI_SUCCESS;
    }
    return args.result(
        serving(args, Function::reduce_scatter_block)
            .reduce_scatter_block(send, recv, recv_count, type_of(type), *to_object<Op>(op), *args.comm()));
}

} // namespace

} // namespace patchbay::api

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
    return api::barrier("MPI_Barrier", comm);
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return api::bcast("MPI_Bcast", buffer, count, datatype, root, comm);
}

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return api::bcast("MPI_Bcast_c", buffer, count, datatype, root, comm);
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gather("MPI_Gather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gather("MPI_Gather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gatherv("MPI_Gatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
                        CountArray(displs), recvtype, root, comm);
}

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm) {
    return api::gatherv("MPI_Gatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
                        CountArray(displs), recvtype, root, comm);
}

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatter("MPI_Scatter", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatter("MPI_Scatter_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatterv("MPI_Scatterv", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
                         recvcount, recvtype, root, comm);
}

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatterv("MPI_Scatterv_c", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
                         recvcount, recvtype, root, comm);
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgather("MPI_Allgather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgather("MPI_Allgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgatherv("MPI_Allgatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
                           CountArray(displs), recvtype, comm);
}

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgatherv("MPI_Allgatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
                           CountArray(displs), recvtype, comm);
}

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoall("MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoall("MPI_Alltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoallv("MPI_Alltoallv", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
                          CountArray(recvcounts), CountArray(rdispls), recvtype, comm);
}

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                     void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
    return api::alltoallv("MPI_Alltoallv_c", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
                          CountArray(recvcounts), CountArray(rdispls), recvtype, comm);
}

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm) {
    return api::alltoallw("MPI_Alltoallw", sendbuf, TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes},
                          recvbuf, TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm);
}

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::alltoallw("MPI_Alltoallw_c", sendbuf,
                          TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
                          TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm);
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm) {
    return api::reduce("MPI_Reduce", sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm) {
    return api::reduce("MPI_Reduce_c", sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::allreduce>("MPI_Allreduce", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm) {
    return api::reduce_everywhere<Function::allreduce>("MPI_Allreduce_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm) {
    return api::reduce_scatter("MPI_Reduce_scatter", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm);
}

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter("MPI_Reduce_scatter_c", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm);
}

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    return api::reduce_scatter_block("MPI_Reduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter_block("MPI_Reduce_scatter_block_c", sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::scan>("MPI_Scan", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::scan>("MPI_Scan_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::exscan>("MPI_Exscan", sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
    return api::reduce_everywhere<Function::exscan>("MPI_Exscan_c", sendbuf, recvbuf, count, datatype, op, comm);
}

} // extern "C"
