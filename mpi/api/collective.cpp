// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/collective_args.h"

namespace patchbay::api {

namespace {

int barrier(const char* name, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (checking() && !args.communicator()) {
        return args.code();
    }
    return args.result(module_for(args, Function::barrier).barrier(*args.comm()));
}

int bcast(const char* name, void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root)) {
        return args.code();
    }
    if (checking() && !block(args, "buffer", buffer, "count", count, "datatype", type)) {
        return args.code();
    }
    return args.result(module_for(args, Function::bcast).bcast(buffer, count, type_of(type), root, *args.comm()));
}

int gather(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root)) {
        return args.code();
    }
    if (checking()) {
        const bool fine = at_root(args, root) ? recv_block(args, recv, recv_count, recv_type) &&
                (only_root(args, root) || in_place(args, send) ||
                    (send_block(args, send, send_count, send_type) &&
                        separate(args, block_of(send, 0, send_count, send_type), recv, recv_count, recv_type)))
                                              : send_block(args, send, send_count, send_type);
        if (!fine) {
            return args.code();
        }
    }
    // An argument that is not significant in this process may have any value and is not read.
    const bool root_side = at_root(args, root);
    const Datatype& from = type_of(send == MPI_IN_PLACE || only_root(args, root) ? recv_type : send_type);
    const Datatype& into = root_side ? type_of(recv_type) : from;
    return args.result(module_for(args, Function::gather)
                           .gather(send, send_count, from, recv, root_side ? recv_count : 0, into, root, *args.comm()));
}

int gatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root)) {
        return args.code();
    }
    if (checking()) {
        const bool fine = at_root(args, root)
            ? placed(args, "recvcounts", recv_counts, "displs", displacements, "recvtype", recv_type) &&
                (only_root(args, root) || in_place(args, send) ||
                    (send_block(args, send, send_count, send_type) &&
                        separate(args, block_of(send, 0, send_count, send_type), recv, recv_counts, displacements,
                            recv_type)))
            : send_block(args, send, send_count, send_type);
        if (!fine) {
            return args.code();
        }
    }
    const Datatype& from = type_of(send == MPI_IN_PLACE || only_root(args, root) ? recv_type : send_type);
    const Datatype& into = at_root(args, root) ? type_of(recv_type) : from;
    return args.result(
        module_for(args, Function::gatherv)
            .gatherv(send, send_count, from, recv, recv_counts, displacements, into, root, *args.comm()));
}

int scatter(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root)) {
        return args.code();
    }
    if (checking()) {
        const bool fine = at_root(args, root) ? send_block(args, send, send_count, send_type) &&
                (only_root(args, root) || in_place(args, recv) ||
                    (recv_block(args, recv, recv_count, recv_type) &&
                        separate(args, block_of(recv, 0, recv_count, recv_type), send, send_count, send_type)))
                                              : recv_block(args, recv, recv_count, recv_type);
        if (!fine) {
            return args.code();
        }
    }
    const bool root_side = at_root(args, root);
    const Datatype& into = type_of(recv == MPI_IN_PLACE || only_root(args, root) ? send_type : recv_type);
    const Datatype& from = root_side ? type_of(send_type) : into;
    return args.result(
        module_for(args, Function::scatter)
            .scatter(send, root_side ? send_count : 0, from, recv, recv_count, into, root, *args.comm()));
}

int scatterv(const char* name, const void* send, CountArray send_counts, CountArray displacements,
    MPI_Datatype send_type, void* recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
    MPI_Comm comm) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root)) {
        return args.code();
    }
    if (checking()) {
        const bool fine = at_root(args, root)
            ? placed(args, "sendcounts", send_counts, "displs", displacements, "sendtype", send_type) &&
                (only_root(args, root) || in_place(args, recv) ||
                    (recv_block(args, recv, recv_count, recv_type) &&
                        separate(args, block_of(recv, 0, recv_count, recv_type), send, send_counts, displacements,
                            send_type)))
            : recv_block(args, recv, recv_count, recv_type);
        if (!fine) {
            return args.code();
        }
    }
    const Datatype& into = type_of(recv == MPI_IN_PLACE || only_root(args, root) ? send_type : recv_type);
    const Datatype& from = at_root(args, root) ? type_of(send_type) : into;
    return args.result(
        module_for(args, Function::scatterv)
            .scatterv(send, send_counts, displacements, from, recv, recv_count, into, root, *args.comm()));
}

} // namespace

} // namespace patchbay::api

using patchbay::coll::CountArray;
namespace api = patchbay::api;

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
    return api::barrier("MPI_Barrier", comm);
}

int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return api::bcast("MPI_Bcast", buffer, count, datatype, root, comm);
}

int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return api::bcast("MPI_Bcast_c", buffer, count, datatype, root, comm);
}

int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gather("MPI_Gather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gather("MPI_Gather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gatherv("MPI_Gatherv", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm);
}

int PMPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::gatherv("MPI_Gatherv_c", sendbuf, sendcount, sendtype, recvbuf, CountArray(recvcounts),
        CountArray(displs), recvtype, root, comm);
}

int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatter("MPI_Scatter", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatter("MPI_Scatter_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatterv("MPI_Scatterv", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm);
}

int PMPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return api::scatterv("MPI_Scatterv_c", sendbuf, CountArray(sendcounts), CountArray(displs), sendtype, recvbuf,
        recvcount, recvtype, root, comm);
}

} // extern "C"
