// SPDX-License-Identifier: BSD-3-Clause
// Blocking neighbourhood collectives (MPI-5.0, 8.6).
#include "mpi/api/neighborhood_args.h"

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_neighbor_blocks<Function::neighbor_allgather>(
        "MPI_Neighbor_allgather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_neighbor_blocks<Function::neighbor_allgather>(
        "MPI_Neighbor_allgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::neighbor_allgatherv("MPI_Neighbor_allgatherv", sendbuf, sendcount, sendtype, recvbuf,
        CountArray(recvcounts), CountArray(displs), recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::neighbor_allgatherv("MPI_Neighbor_allgatherv_c", sendbuf, sendcount, sendtype, recvbuf,
        CountArray(recvcounts), CountArray(displs), recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_neighbor_blocks<Function::neighbor_alltoall>(
        "MPI_Neighbor_alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return api::equal_neighbor_blocks<Function::neighbor_alltoall>(
        "MPI_Neighbor_alltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return api::neighbor_alltoallv("MPI_Neighbor_alltoallv", sendbuf, CountArray(sendcounts), CountArray(sdispls),
        sendtype, recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm) {
    return api::neighbor_alltoallv("MPI_Neighbor_alltoallv_c", sendbuf, CountArray(sendcounts), CountArray(sdispls),
        sendtype, recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Blocking());
}

int PMPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::neighbor_alltoallw("MPI_Neighbor_alltoallw", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Blocking());
}

int PMPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return api::neighbor_alltoallw("MPI_Neighbor_alltoallw_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Blocking());
}

} // extern "C"
