// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives (MPI-5.0, 6.13).
#include "mpi/api/exchange_collectives.h"
#include "mpi/api/reductions.h"
#include "mpi/api/rooted_collectives.h"

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::barrier("MPI_Barrier_init", comm, api::Persistent(info, request));
}

int PMPI_Bcast_init(
    void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::bcast("MPI_Bcast_init", buffer, count, datatype, root, comm, api::Persistent(info, request));
}

int PMPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
    return api::bcast("MPI_Bcast_init_c", buffer, count, datatype, root, comm, api::Persistent(info, request));
}

int PMPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::gather("MPI_Gather_init", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Persistent(info, request));
}

int PMPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::gather("MPI_Gather_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Persistent(info, request));
}

int PMPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::gatherv("MPI_Gatherv_init", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm, api::Persistent(info, request));
}

int PMPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return api::gatherv("MPI_Gatherv_init_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm, api::Persistent(info, request));
}

int PMPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::scatter("MPI_Scatter_init", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Persistent(info, request));
}

int PMPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::scatter("MPI_Scatter_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Persistent(info, request));
}

int PMPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::scatterv("MPI_Scatterv_init", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm, api::Persistent(info, request));
}

int PMPI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return api::scatterv("MPI_Scatterv_init_c", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm, api::Persistent(info, request));
}

int PMPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_blocks<Function::allgather>("MPI_Allgather_init", sendbuf, sendcount, sendtype, recvbuf,
        recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_blocks<Function::allgather>("MPI_Allgather_init_c", sendbuf, sendcount, sendtype, recvbuf,
        recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
    return api::allgatherv("MPI_Allgatherv_init", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
    return api::allgatherv("MPI_Allgatherv_init_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_blocks<Function::alltoall>("MPI_Alltoall_init", sendbuf, sendcount, sendtype, recvbuf, recvcount,
        recvtype, comm, api::Persistent(info, request));
}

int PMPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_blocks<Function::alltoall>("MPI_Alltoall_init_c", sendbuf, sendcount, sendtype, recvbuf,
        recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
    return api::alltoallv("MPI_Alltoallv_init", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::alltoallv("MPI_Alltoallv_init_c", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype,
        recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::alltoallw("MPI_Alltoallw_init", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Persistent(info, request));
}

int PMPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::alltoallw("MPI_Alltoallw_init_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Persistent(info, request));
}

int PMPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce(
        "MPI_Reduce_init", sendbuf, recvbuf, count, datatype, op, root, comm, api::Persistent(info, request));
}

int PMPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce(
        "MPI_Reduce_init_c", sendbuf, recvbuf, count, datatype, op, root, comm, api::Persistent(info, request));
}

int PMPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return api::reduce_everywhere<Function::allreduce>(
        "MPI_Allreduce_init", sendbuf, recvbuf, count, datatype, op, comm, api::Persistent(info, request));
}

int PMPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_everywhere<Function::allreduce>(
        "MPI_Allreduce_init_c", sendbuf, recvbuf, count, datatype, op, comm, api::Persistent(info, request));
}

int PMPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_scatter("MPI_Reduce_scatter_init", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm,
        api::Persistent(info, request));
}

int PMPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_scatter("MPI_Reduce_scatter_init_c", sendbuf, recvbuf, CountArray(recvcounts), datatype, op,
        comm, api::Persistent(info, request));
}

int PMPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_scatter_block("MPI_Reduce_scatter_block_init", sendbuf, recvbuf, recvcount, datatype, op, comm,
        api::Persistent(info, request));
}

int PMPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_scatter_block("MPI_Reduce_scatter_block_init_c", sendbuf, recvbuf, recvcount, datatype, op, comm,
        api::Persistent(info, request));
}

int PMPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return api::reduce_everywhere<Function::scan>(
        "MPI_Scan_init", sendbuf, recvbuf, count, datatype, op, comm, api::Persistent(info, request));
}

int PMPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_everywhere<Function::scan>(
        "MPI_Scan_init_c", sendbuf, recvbuf, count, datatype, op, comm, api::Persistent(info, request));
}

int PMPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
    return api::reduce_everywhere<Function::exscan>(
        "MPI_Exscan_init", sendbuf, recvbuf, count, datatype, op, comm, api::Persistent(info, request));
}

int PMPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::reduce_everywhere<Function::exscan>(
        "MPI_Exscan_init_c", sendbuf, recvbuf, count, datatype, op, comm, api::Persistent(info, request));
}

} // extern "C"
