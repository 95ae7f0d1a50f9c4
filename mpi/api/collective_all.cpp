// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/collective_args.h"

namespace patchbay::api {

namespace {

using coll::TypedVector;

bool typed(Arguments& args, const char* counts_name, const char* displacements_name, const char* types_name,
    const TypedVector& side) noexcept {
    if (!counts(args, counts_name, side.counts, args.comm()->remote_size) ||
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

// Compares, for every process, the block for that process with the block from that process.
bool pairwise_separate(Arguments& args, const void* send, CountArray send_counts, CountArray send_displacements,
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
bool pairwise_separate(Arguments& args, const void* send, const TypedVector& send_side, const void* recv,
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

// allgather and alltoall have the same arguments.
template <Function function>
int equal_blocks(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && recv_block(args, recv, recv_count, recv_type) &&
            (in_place(args, send) ||
                (send_block(args, send, send_count, send_type) &&
                    (function == Function::allgather
                            ? separate(args, block_of(send, 0, send_count, send_type), recv, recv_count, recv_type)
                            : separate(args, block_of(send, 0, send_count, send_type),
                                  block_of(recv, 0, recv_count, recv_type))))))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    coll::Module& module = module_for(args, function);
    if constexpr (function == Function::allgather) {
        return args.result(module.allgather(send, send_count, from, recv, recv_count, into, *args.comm()));
    } else {
        return args.result(module.alltoall(send, send_count, from, recv, recv_count, into, *args.comm()));
    }
}

int allgatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() &&
            placed(args, "recvcounts", recv_counts, "displs", displacements, "recvtype", recv_type) &&
            (in_place(args, send) ||
                (send_block(args, send, send_count, send_type) &&
                    separate(args, block_of(send, 0, send_count, send_type), recv, recv_counts, displacements,
                        recv_type))))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    return args.result(module_for(args, Function::allgatherv)
                           .allgatherv(send, send_count, from, recv, recv_counts, displacements, into, *args.comm()));
}

int alltoallv(const char* name, const void* send, CountArray send_counts, CountArray send_displacements,
    MPI_Datatype send_type, void* recv, CountArray recv_counts, CountArray recv_displacements, MPI_Datatype recv_type,
    MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() &&
            placed(args, "recvcounts", recv_counts, "rdispls", recv_displacements, "recvtype", recv_type) &&
            (in_place(args, send) ||
                (send_place(args, send) &&
                    placed(args, "sendcounts", send_counts, "sdispls", send_displacements, "sendtype", send_type) &&
                    pairwise_separate(args, send, send_counts, send_displacements, send_type, recv, recv_counts,
                        recv_displacements, recv_type))))) {
        return args.code();
    }
    const Datatype& into = type_of(recv_type);
    const Datatype& from = send == MPI_IN_PLACE ? into : type_of(send_type);
    return args.result(module_for(args, Function::alltoallv)
                           .alltoallv(send, send_counts, send_displacements, from, recv, recv_counts,
                               recv_displacements, into, *args.comm()));
}

int alltoallw(const char* name, const void* send, const TypedVector& send_side, void* recv,
    const TypedVector& recv_side, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() &&
        !(args.communicator() && typed(args, "recvcounts", "rdispls", "recvtypes", recv_side) &&
            (in_place(args, send) ||
                (send_place(args, send) && typed(args, "sendcounts", "sdispls", "sendtypes", send_side) &&
                    pairwise_separate(args, send, send_side, recv, recv_side))))) {
        return args.code();
    }
    return args.result(module_for(args, Function::alltoallw).alltoallw(send, send_side, recv, recv_side, *args.comm()));
}

} // namespace

} // namespace patchbay::api

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::allgather>(
        "MPI_Allgather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::allgather>(
        "MPI_Allgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgatherv("MPI_Allgatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm);
}

int PMPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgatherv("MPI_Allgatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm);
}

int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::alltoall>(
        "MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::alltoall>(
        "MPI_Alltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoallv("MPI_Alltoallv", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm);
}

int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoallv("MPI_Alltoallv_c", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm);
}

int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::alltoallw("MPI_Alltoallw", sendbuf, TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes},
        recvbuf, TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm);
}

int PMPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::alltoallw("MPI_Alltoallw_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm);
}

} // extern "C"
