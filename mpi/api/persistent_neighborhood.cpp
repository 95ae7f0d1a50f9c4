// SPDX-License-Identifier: BSD-3-Clause
// Persistent neighbourhood collectives (MPI-5.0, 8.8).
#include "mpi/api/neighborhood_args.h"

using patchbay::coll::CountArray;
using patchbay::coll::Function;
using patchbay::coll::TypedVector;
namespace api = patchbay::api;

extern "C" {

int PMPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_allgather>("MPI_Neighbor_allgather_init", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_allgather>("MPI_Neighbor_allgather_init_c", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
    return api::neighbor_allgatherv("MPI_Neighbor_allgatherv_init", sendbuf, sendcount, sendtype, recvbuf,
        CountArray(recvcounts), CountArray(displs), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
    return api::neighbor_allgatherv("MPI_Neighbor_allgatherv_init_c", sendbuf, sendcount, sendtype, recvbuf,
        CountArray(recvcounts), CountArray(displs), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_alltoall>("MPI_Neighbor_alltoall_init", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::equal_neighbor_blocks<Function::neighbor_alltoall>("MPI_Neighbor_alltoall_init_c", sendbuf, sendcount,
        sendtype, recvbuf, recvcount, recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::neighbor_alltoallv("MPI_Neighbor_alltoallv_init", sendbuf, CountArray(sendcounts), CountArray(sdispls),
        sendtype, recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::neighbor_alltoallv("MPI_Neighbor_alltoallv_init_c", sendbuf, CountArray(sendcounts),
        CountArray(sdispls), sendtype, recvbuf, CountArray(recvcounts), CountArray(rdispls), recvtype, comm,
        api::Persistent(info, request));
}

int PMPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::neighbor_alltoallw("MPI_Neighbor_alltoallw_init", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Persistent(info, request));
}

int PMPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return api::neighbor_alltoallw("MPI_Neighbor_alltoallw_init_c", sendbuf,
        TypedVector{CountArray(sendcounts), CountArray(sdispls), sendtypes}, recvbuf,
        TypedVector{CountArray(recvcounts), CountArray(rdispls), recvtypes}, comm, api::Persistent(info, request));
}

} // extern "C"
