// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives (MPI-5.0, 6.3 to 6.11).
#include "mpi/api/exchange_collectives.h"
#include "mpi/api/reductions.h"
#include "mpi/api/rooted_collectives.h"

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
    return api::barrier("MPI_Barrier", comm, api::Blocking());
}

int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return api::bcast("MPI_Bcast", buffer, count, datatype, root, comm, api::Blocking());
}

int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return api::bcast("MPI_Bcast_c", buffer, count, datatype, root, comm, api::Blocking());
}

int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gather(
        "MPI_Gather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, api::Blocking());
}

int PMPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gather(
        "MPI_Gather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, api::Blocking());
}

int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gatherv("MPI_Gatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm, api::Blocking());
}

int PMPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gatherv("MPI_Gatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm, api::Blocking());
}

int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatter(
        "MPI_Scatter", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, api::Blocking());
}

int PMPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatter(
        "MPI_Scatter_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, api::Blocking());
}

int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatterv("MPI_Scatterv", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm, api::Blocking());
}

int PMPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatterv("MPI_Scatterv_c", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm, api::Blocking());
}

int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::allgather>(
        "MPI_Allgather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::allgather>(
        "MPI_Allgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgatherv("MPI_Allgatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm, api::Blocking());
}

int PMPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::allgatherv("MPI_Allgatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, comm, api::Blocking());
}

int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::alltoall>(
        "MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_blocks<Function::alltoall>(
        "MPI_Alltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoallv("MPI_Alltoallv", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Blocking());
}

int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::alltoallv("MPI_Alltoallv_c", sendbuf, CountArray(sendcounts), CountArray(sdispls), sendtype, recvbuf,
        CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Blocking());
}

int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::alltoallw("MPI_Alltoallw", sendbuf, TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes},
        recvbuf, TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Blocking());
}

int PMPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::alltoallw("MPI_Alltoallw_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Blocking());
}

int PMPI_Reduce(
    const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return api::reduce("MPI_Reduce", sendbuf, recvbuf, count, datatype, op, root, comm, api::Blocking());
}

int PMPI_Reduce_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return api::reduce("MPI_Reduce_c", sendbuf, recvbuf, count, datatype, op, root, comm, api::Blocking());
}

int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::allreduce>(
        "MPI_Allreduce", sendbuf, recvbuf, count, datatype, op, comm, api::Blocking());
}

int PMPI_Allreduce_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::allreduce>(
        "MPI_Allreduce_c", sendbuf, recvbuf, count, datatype, op, comm, api::Blocking());
}

int PMPI_Reduce_scatter(
    const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter(
        "MPI_Reduce_scatter", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm, api::Blocking());
}

int PMPI_Reduce_scatter_c(
    const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter(
        "MPI_Reduce_scatter_c", sendbuf, recvbuf, CountArray(recvcounts), datatype, op, comm, api::Blocking());
}

int PMPI_Reduce_scatter_block(
    const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter_block(
        "MPI_Reduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm, api::Blocking());
}

int PMPI_Reduce_scatter_block_c(
    const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_scatter_block(
        "MPI_Reduce_scatter_block_c", sendbuf, recvbuf, recvcount, datatype, op, comm, api::Blocking());
}

int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::scan>(
        "MPI_Scan", sendbuf, recvbuf, count, datatype, op, comm, api::Blocking());
}

int PMPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::scan>(
        "MPI_Scan_c", sendbuf, recvbuf, count, datatype, op, comm, api::Blocking());
}

int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::exscan>(
        "MPI_Exscan", sendbuf, recvbuf, count, datatype, op, comm, api::Blocking());
}

int PMPI_Exscan_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return api::reduce_everywhere<Function::exscan>(
        "MPI_Exscan_c", sendbuf, recvbuf, count, datatype, op, comm, api::Blocking());
}

} // extern "C"
