// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking neighbourhood collectives (MPI-5.0, 8.7).
#include "mpi/api/neighborhood_args.h"

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_allgather>("MPI_Ineighbor_allgather", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_allgather>("MPI_Ineighbor_allgather_c", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::neighbor_allgatherv("MPI_Ineighbor_allgatherv", sendbuf, sendcount, sendtype, recvbuf,
        CountArray(recvcounts), CountArray(displs), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::neighbor_allgatherv("MPI_Ineighbor_allgatherv_c", sendbuf, sendcount, sendtype, recvbuf,
        CountArray(recvcounts), CountArray(displs), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_alltoall>("MPI_Ineighbor_alltoall", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_alltoall>("MPI_Ineighbor_alltoall_c", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
    return api::neighbor_alltoallv("MPI_Ineighbor_alltoallv", sendbuf, CountArray(sendcounts), CountArray(sdispls),
        sendtype, recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request) {
    return api::neighbor_alltoallv("MPI_Ineighbor_alltoallv_c", sendbuf, CountArray(sendcounts), CountArray(sdispls),
        sendtype, recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
    return api::neighbor_alltoallw("MPI_Ineighbor_alltoallw", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Nonblocking(request));
}

int PMPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
    return api::neighbor_alltoallw("MPI_Ineighbor_alltoallw_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Nonblocking(request));
}

} // extern "C"
