// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/collective_args.h"

// The barrier, and the collectives in which one process sends to all or receives from all. `form` is one of the classes
// Blocking, Nonblocking and Persistent.
namespace patchbay::api {

template <class FormOf>
int barrier(const char* name, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (checking() && !(args.communicator() && form.good(args))) {
        return args.code();
    }
    return form.template run<Function::barrier>(args, Call{});
}

template <class FormOf>
int bcast(const char* name, void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
    const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root, form)) {
        return form.template without_part<Function::bcast>(args);
    }
    if (checking() && !block(args, "buffer", buffer, "count", count, "datatype", type)) {
        return args.code();
    }
    Call call;
    call.function = Function::bcast;
    call.recv = buffer;
    call.recv_count = count;
    call.recv_type = &type_of(type);
    call.root = root;
    return form.template run<Function::bcast>(args, call);
}

// The arguments of gather and gatherv. One that is not significant in this process may have any value and is not read.
inline Call gather_call(const Arguments& args, Function function, const void* send, MPI_Count send_count,
    MPI_Datatype send_type, void* recv, MPI_Datatype recv_type, int root) noexcept {
    Call call;
    call.function = function;
    call.send = send;
    call.send_count = send_count;
    call.send_type = &type_of(send == MPI_IN_PLACE || only_root(args, root) ? recv_type : send_type);
    call.recv = recv;
    call.recv_type = at_root(args, root) ? &type_of(recv_type) : call.send_type;
    call.root = root;
    return call;
}

template <class FormOf>
int gather(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root, form)) {
        return form.template without_part<Function::gather>(args);
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
    Call call = gather_call(args, Function::gather, send, send_count, send_type, recv, recv_type, root);
    call.recv_count = at_root(args, root) ? recv_count : 0;
    return form.template run<Function::gather>(args, call);
}

template <class FormOf>
int gatherv(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    CountArray recv_counts, CountArray displacements, MPI_Datatype recv_type, int root, MPI_Comm comm,
    const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root, form)) {
        return form.template without_part<Function::gatherv>(args);
    }
    if (checking()) {
        const bool fine = at_root(args, root) ? placed(args, "recvbuf", recv, "recvcounts", recv_counts, "displs",
                                                    displacements, "recvtype", recv_type) &&
                (only_root(args, root) || in_place(args, send) ||
                    (send_block(args, send, send_count, send_type) &&
                        separate(args, block_of(send, 0, send_count, send_type), recv, recv_counts, displacements,
                            recv_type)))
                                              : send_block(args, send, send_count, send_type);
        if (!fine) {
            return args.code();
        }
    }
    Call call = gather_call(args, Function::gatherv, send, send_count, send_type, recv, recv_type, root);
    call.recv_counts = recv_counts;
    call.recv_displacements = displacements;
    return form.template run<Function::gatherv>(args, call);
}

// The arguments of scatter and scatterv.
inline Call scatter_call(const Arguments& args, Function function, const void* send, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, int root) noexcept {
    Call call;
    call.function = function;
    call.recv = recv;
    call.recv_count = recv_count;
    call.recv_type = &type_of(recv == MPI_IN_PLACE || only_root(args, root) ? send_type : recv_type);
    call.send = send;
    call.send_type = at_root(args, root) ? &type_of(send_type) : call.recv_type;
    call.root = root;
    return call;
}

template <class FormOf>
int scatter(const char* name, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
    MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm, const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root, form)) {
        return form.template without_part<Function::scatter>(args);
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
    Call call = scatter_call(args, Function::scatter, send, send_type, recv, recv_count, recv_type, root);
    call.send_count = at_root(args, root) ? send_count : 0;
    return form.template run<Function::scatter>(args, call);
}

template <class FormOf>
int scatterv(const char* name, const void* send, CountArray send_counts, CountArray displacements,
    MPI_Datatype send_type, void* recv, MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm,
    const FormOf& form) noexcept {
    Arguments args(name, comm);
    if (has_no_part(args, root, form)) {
        return form.template without_part<Function::scatterv>(args);
    }
    if (checking()) {
        const bool fine = at_root(args, root) ? placed(args, "sendbuf", send, "sendcounts", send_counts, "displs",
                                                    displacements, "sendtype", send_type) &&
                (only_root(args, root) || in_place(args, recv) ||
                    (recv_block(args, recv, recv_count, recv_type) &&
                        separate(args, block_of(recv, 0, recv_count, recv_type), send, send_counts, displacements,
                            send_type)))
                                              : recv_block(args, recv, recv_count, recv_type);
        if (!fine) {
            return args.code();
        }
    }
    Call call = scatter_call(args, Function::scatterv, send, send_type, recv, recv_count, recv_type, root);
    call.send_counts = send_counts;
    call.send_displacements = displacements;
    return form.template run<Function::scatterv>(args, call);
}

} // namespace patchbay::api
