// SPDX-License-Identifier: BSD-3-Clause
// Linked into a test program, this has its blocking collectives run in another form, by way of the profiling interface:
// MPI_Bcast becomes MPI_Ibcast and MPI_Wait, or MPI_Bcast_init and starts. FORM is 1 for the nonblocking form, 2 for
// the persistent one with one start, and 3 for three starts, where a repetition has the same result in all members.
#include <mpi.h>

namespace {

int wait(int code, MPI_Request& request) {
    return code == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

// Runs a collective in the form of this program.
template <class Start, class Init>
int run(Start start, Init init, bool repeatable) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (FORM == 1) {
        const int code = start(&request);
        return wait(code, request);
    }
    int code = init(&request);
    if (code != MPI_SUCCESS) {
        return code;
    }
    for (int left = FORM == 3 && repeatable ? 3 : 1; left > 0 && code == MPI_SUCCESS; --left) {
        code = PMPI_Start(&request);
        code = wait(code, request);
    }
    PMPI_Request_free(&request);
    return code;
}

// Of the functions without a root: all members give MPI_IN_PLACE, or none does.
bool not_in_place(const void* send) {
    return send != MPI_IN_PLACE;
}

} // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
    return run([&](MPI_Request* request) { return MPI_Ibarrier(comm, request); },
        [&](MPI_Request* request) { return MPI_Barrier_init(comm, MPI_INFO_NULL, request); }, true);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return run([&](MPI_Request* request) { return MPI_Ibcast(buffer, count, datatype, root, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Bcast_init(buffer, count, datatype, root, comm, MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return run([&](MPI_Request* request) { return MPI_Ibcast_c(buffer, count, datatype, root, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Bcast_init_c(buffer, count, datatype, root, comm, MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Gather_init(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Gather_init_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Igatherv(
                sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Igatherv_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Scatter_init(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Scatter_init_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iscatterv(
                sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iscatterv_c(
                sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                MPI_INFO_NULL, request);
        },
        true);
}

int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Allgather_init(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Allgather_init_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Allgatherv_init(
                sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Iallgatherv_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Allgatherv_init_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Alltoall_init(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Alltoall_init_c(
                sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ialltoallv(
                sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ialltoallv_c(
                sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ialltoallw(
                sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ialltoallw_c(
                sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                recvtypes, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Reduce(
    const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) { return MPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, MPI_INFO_NULL, request);
        },
        false);
}

int MPI_Reduce_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) { return MPI_Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, MPI_INFO_NULL, request);
        },
        false);
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) { return MPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Allreduce_c(
    const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) { return MPI_Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Reduce_scatter(
    const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Reduce_scatter_c(
    const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Reduce_scatter_block(
    const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Reduce_scatter_block_init(
                sendbuf, recvbuf, recvcount, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Reduce_scatter_block_c(
    const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) {
            return MPI_Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
        },
        [&](MPI_Request* request) {
            return MPI_Reduce_scatter_block_init_c(
                sendbuf, recvbuf, recvcount, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run([&](MPI_Request* request) { return MPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run([&](MPI_Request* request) { return MPI_Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run([&](MPI_Request* request) { return MPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return run(
        [&](MPI_Request* request) { return MPI_Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request); },
        [&](MPI_Request* request) {
            return MPI_Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL, request);
        },
        not_in_place(sendbuf));
}

} // extern "C"
