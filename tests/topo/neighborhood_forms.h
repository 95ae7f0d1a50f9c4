// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <vector>

// Each neighbourhood collective in each of its forms, complete when the function returns. The arguments are those of
// the blocking form with int.

enum class Form { blocking, blocking_c, nonblocking, nonblocking_c, persistent, persistent_c };
inline constexpr Form all_forms[] = {
    Form::blocking, Form::blocking_c, Form::nonblocking, Form::nonblocking_c, Form::persistent, Form::persistent_c};

inline bool is_large(Form form) {
    return form == Form::blocking_c || form == Form::nonblocking_c || form == Form::persistent_c;
}

// Completes an operation that has been started or, in a persistent form, not yet: that one runs three times.
inline int complete(Form form, int code, MPI_Request& request) {
    if (code != MPI_SUCCESS || form == Form::blocking || form == Form::blocking_c) {
        return code;
    }
    if (form == Form::nonblocking || form == Form::nonblocking_c) {
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int starts = 0; starts < 3 && code == MPI_SUCCESS; ++starts) {
        code = MPI_Start(&request);
        code = code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
    }
    MPI_Request_free(&request);
    return code;
}

// The elements of an array with one element per neighbour, as the large forms have them.
template <class T>
std::vector<T> widened(Form form, const int* values, int neighbors) {
    return is_large(form) ? std::vector<T>(values, values + neighbors) : std::vector<T>();
}

// The numbers of sources and destinations.
struct Degrees {
    int in = 0;
    int out = 0;

    explicit Degrees(MPI_Comm comm) {
        int kind = 0;
        int rank = 0;
        int weighted = 0;
        MPI_Topo_test(comm, &kind);
        MPI_Comm_rank(comm, &rank);
        if (kind == MPI_DIST_GRAPH) {
            MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
            return;
        }
        if (kind == MPI_CART) {
            MPI_Cartdim_get(comm, &in);
            in *= 2;
        } else {
            MPI_Graph_neighbors_count(comm, rank, &in);
        }
        out = in;
    }
};

inline int neighbor_allgather(Form form, const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    switch (form) {
    case Form::blocking:
        code = MPI_Neighbor_allgather(send, sendcount, sendtype, recv, recvcount, recvtype, comm);
        break;
    case Form::blocking_c:
        code = MPI_Neighbor_allgather_c(send, sendcount, sendtype, recv, recvcount, recvtype, comm);
        break;
    case Form::nonblocking:
        code = MPI_Ineighbor_allgather(send, sendcount, sendtype, recv, recvcount, recvtype, comm, &request);
        break;
    case Form::nonblocking_c:
        code = MPI_Ineighbor_allgather_c(send, sendcount, sendtype, recv, recvcount, recvtype, comm, &request);
        break;
    case Form::persistent:
        code = MPI_Neighbor_allgather_init(
            send, sendcount, sendtype, recv, recvcount, recvtype, comm, MPI_INFO_NULL, &request);
        break;
    case Form::persistent_c:
        code = MPI_Neighbor_allgather_init_c(
            send, sendcount, sendtype, recv, recvcount, recvtype, comm, MPI_INFO_NULL, &request);
        break;
    }
    return complete(form, code, request);
}

inline int neighbor_alltoall(Form form, const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    switch (form) {
    case Form::blocking:
        code = MPI_Neighbor_alltoall(send, sendcount, sendtype, recv, recvcount, recvtype, comm);
        break;
    case Form::blocking_c:
        code = MPI_Neighbor_alltoall_c(send, sendcount, sendtype, recv, recvcount, recvtype, comm);
        break;
    case Form::nonblocking:
        code = MPI_Ineighbor_alltoall(send, sendcount, sendtype, recv, recvcount, recvtype, comm, &request);
        break;
    case Form::nonblocking_c:
        code = MPI_Ineighbor_alltoall_c(send, sendcount, sendtype, recv, recvcount, recvtype, comm, &request);
        break;
    case Form::persistent:
        code = MPI_Neighbor_alltoall_init(
            send, sendcount, sendtype, recv, recvcount, recvtype, comm, MPI_INFO_NULL, &request);
        break;
    case Form::persistent_c:
        code = MPI_Neighbor_alltoall_init_c(
            send, sendcount, sendtype, recv, recvcount, recvtype, comm, MPI_INFO_NULL, &request);
        break;
    }
    return complete(form, code, request);
}

inline int neighbor_allgatherv(Form form, const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
    const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    const Degrees degrees(comm);
    const auto counts_in = widened<MPI_Count>(form, recvcounts, degrees.in);
    const auto places_in = widened<MPI_Aint>(form, displs, degrees.in);
    switch (form) {
    case Form::blocking:
        code = MPI_Neighbor_allgatherv(send, sendcount, sendtype, recv, recvcounts, displs, recvtype, comm);
        break;
    case Form::blocking_c:
        code = MPI_Neighbor_allgatherv_c(
            send, sendcount, sendtype, recv, counts_in.data(), places_in.data(), recvtype, comm);
        break;
    case Form::nonblocking:
        code = MPI_Ineighbor_allgatherv(send, sendcount, sendtype, recv, recvcounts, displs, recvtype, comm, &request);
        break;
    case Form::nonblocking_c:
        code = MPI_Ineighbor_allgatherv_c(
            send, sendcount, sendtype, recv, counts_in.data(), places_in.data(), recvtype, comm, &request);
        break;
    case Form::persistent:
        code = MPI_Neighbor_allgatherv_init(
            send, sendcount, sendtype, recv, recvcounts, displs, recvtype, comm, MPI_INFO_NULL, &request);
        break;
    case Form::persistent_c:
        code = MPI_Neighbor_allgatherv_init_c(send, sendcount, sendtype, recv, counts_in.data(), places_in.data(),
            recvtype, comm, MPI_INFO_NULL, &request);
        break;
    }
    return complete(form, code, request);
}

inline int neighbor_alltoallv(Form form, const void* send, const int* sendcounts, const int* sdispls,
    MPI_Datatype sendtype, void* recv, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
    MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    const Degrees degrees(comm);
    const auto counts_out = widened<MPI_Count>(form, sendcounts, degrees.out);
    const auto places_out = widened<MPI_Aint>(form, sdispls, degrees.out);
    const auto counts_in = widened<MPI_Count>(form, recvcounts, degrees.in);
    const auto places_in = widened<MPI_Aint>(form, rdispls, degrees.in);
    switch (form) {
    case Form::blocking:
        code = MPI_Neighbor_alltoallv(send, sendcounts, sdispls, sendtype, recv, recvcounts, rdispls, recvtype, comm);
        break;
    case Form::blocking_c:
        code = MPI_Neighbor_alltoallv_c(send, counts_out.data(), places_out.data(), sendtype, recv, counts_in.data(),
            places_in.data(), recvtype, comm);
        break;
    case Form::nonblocking:
        code = MPI_Ineighbor_alltoallv(
            send, sendcounts, sdispls, sendtype, recv, recvcounts, rdispls, recvtype, comm, &request);
        break;
    case Form::nonblocking_c:
        code = MPI_Ineighbor_alltoallv_c(send, counts_out.data(), places_out.data(), sendtype, recv, counts_in.data(),
            places_in.data(), recvtype, comm, &request);
        break;
    case Form::persistent:
        code = MPI_Neighbor_alltoallv_init(
            send, sendcounts, sdispls, sendtype, recv, recvcounts, rdispls, recvtype, comm, MPI_INFO_NULL, &request);
        break;
    case Form::persistent_c:
        code = MPI_Neighbor_alltoallv_init_c(send, counts_out.data(), places_out.data(), sendtype, recv,
            counts_in.data(), places_in.data(), recvtype, comm, MPI_INFO_NULL, &request);
        break;
    }
    return complete(form, code, request);
}

// Calls free_types() when the operation has begun.
template <class FreeTypes>
int neighbor_alltoallw(Form form, const void* send, const int* sendcounts, const MPI_Aint* sdispls,
    const MPI_Datatype* sendtypes, void* recv, const int* recvcounts, const MPI_Aint* rdispls,
    const MPI_Datatype* recvtypes, MPI_Comm comm, FreeTypes&& free_types) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    const Degrees degrees(comm);
    const auto counts_out = widened<MPI_Count>(form, sendcounts, degrees.out);
    const auto counts_in = widened<MPI_Count>(form, recvcounts, degrees.in);
    switch (form) {
    case Form::blocking:
        code = MPI_Neighbor_alltoallw(send, sendcounts, sdispls, sendtypes, recv, recvcounts, rdispls, recvtypes, comm);
        break;
    case Form::blocking_c:
        code = MPI_Neighbor_alltoallw_c(
            send, counts_out.data(), sdispls, sendtypes, recv, counts_in.data(), rdispls, recvtypes, comm);
        break;
    case Form::nonblocking:
        code = MPI_Ineighbor_alltoallw(
            send, sendcounts, sdispls, sendtypes, recv, recvcounts, rdispls, recvtypes, comm, &request);
        break;
    case Form::nonblocking_c:
        code = MPI_Ineighbor_alltoallw_c(
            send, counts_out.data(), sdispls, sendtypes, recv, counts_in.data(), rdispls, recvtypes, comm, &request);
        break;
    case Form::persistent:
        code = MPI_Neighbor_alltoallw_init(
            send, sendcounts, sdispls, sendtypes, recv, recvcounts, rdispls, recvtypes, comm, MPI_INFO_NULL, &request);
        break;
    case Form::persistent_c:
        code = MPI_Neighbor_alltoallw_init_c(send, counts_out.data(), sdispls, sendtypes, recv, counts_in.data(),
            rdispls, recvtypes, comm, MPI_INFO_NULL, &request);
        break;
    }
    free_types();
    return complete(form, code, request);
}
