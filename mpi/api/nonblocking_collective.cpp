// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives (MPI-5.0, 6.12).
#include "mpi/api/exchange_collectives.h"
#include "mpi/api/reductions.h"
#include "mpi/api/rooted_collectives.h"

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    return api::barrier("MPI_Ibarrier", comm, api::Nonblocking(request));
}

int PMPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::bcast("MPI_Ibcast", buffer, count, datatype, root, comm, api::Nonblocking(request));
}

int PMPI_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::bcast("MPI_Ibcast_c", buffer, count, datatype, root, comm, api::Nonblocking(request));
}

int PMPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::gather("MPI_Igather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Nonblocking(request));
}

int PMPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::gather("MPI_Igather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Nonblocking(request));
}

int PMPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::gatherv("MPI_Igatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm, api::Nonblocking(request));
}

int PMPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request* request) {
    return api::gatherv("MPI_Igatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm, api::Nonblocking(request));
}

int PMPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::scatter("MPI_Iscatter", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Nonblocking(request));
}

int PMPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::scatter("MPI_Iscatter_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        api::Nonblocking(request));
}

int PMPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::scatterv("MPI_Iscatterv", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm, api::Nonblocking(request));
}

int PMPI_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return api::scatterv("MPI_Iscatterv_c", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm, api::Nonblocking(request));
}

int PMPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_blocks<Function::allgather>(
        "MPI_Iallgather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_blocks<Function::allgather>("MPI_Iallgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
        recvtype, comm, api::Nonblocking(request));
}

int PMPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::allgatherv("MPI_Iallgatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::allgatherv("MPI_Iallgatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_blocks<Function::alltoall>(
        "MPI_Ialltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_blocks<Function::alltoall>(
        "MPI_Ialltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
    return api::alltoallv("MPI_Ialltoallv", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request) {
    return api::alltoallv("MPI_Ialltoallv_c", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
    MPI_Request* request) {
    return api::alltoallw("MPI_Ialltoallw", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Nonblocking(request));
}

int PMPI_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
    return api::alltoallw("MPI_Ialltoallw_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Nonblocking(request));
}

int PMPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm, MPI_Request* request) {
    return api::reduce("MPI_Ireduce", sendbuf, recvbuf, count, datatype, op, root, comm, api::Nonblocking(request));
}

int PMPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm, MPI_Request* request) {
    return api::reduce("MPI_Ireduce_c", sendbuf, recvbuf, count, datatype, op, root, comm, api::Nonblocking(request));
}

int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request) {
    return api::reduce_everywhere<Function::allreduce>(
        "MPI_Iallreduce", sendbuf, recvbuf, count, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request) {
    return api::reduce_everywhere<Function::allreduce>(
        "MPI_Iallreduce_c", sendbuf, recvbuf, count, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request) {
    return api::reduce_scatter(
        "MPI_Ireduce_scatter", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return api::reduce_scatter("MPI_Ireduce_scatter_c", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm,
        api::Nonblocking(request));
}

int PMPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request) {
    return api::reduce_scatter_block(
        "MPI_Ireduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return api::reduce_scatter_block(
        "MPI_Ireduce_scatter_block_c", sendbuf, recvbuf, recvcount, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request) {
    return api::reduce_everywhere<Function::scan>(
        "MPI_Iscan", sendbuf, recvbuf, count, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request) {
    return api::reduce_everywhere<Function::scan>(
        "MPI_Iscan_c", sendbuf, recvbuf, count, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request) {
    return api::reduce_everywhere<Function::exscan>(
        "MPI_Iexscan", sendbuf, recvbuf, count, datatype, op, comm, api::Nonblocking(request));
}

int PMPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request) {
    return api::reduce_everywhere<Function::exscan>(
        "MPI_Iexscan_c", sendbuf, recvbuf, count, datatype, op, comm, api::Nonblocking(request));
}

} // extern "C"
