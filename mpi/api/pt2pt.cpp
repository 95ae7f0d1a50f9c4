// SPDX-License-Identifier: BSD-3-Clause
// Blocking and nonblocking sends and receives (MPI-5.0, 3.2, 3.4 and 3.7.2). For buffered sends see buffer.cpp.
#include "mpi/api/message_args.h"

namespace patchbay::api {

namespace {

using pml::SendMode;

// Each operation has two functions. The second one is inlined into each binding, because a call with eight arguments
// would cost as much as their checks, and handles the arguments of most calls. The first one checks all arguments one
// by one; it reports what is wrong, and handles what is right but rare.

[[gnu::noinline]] int send_in_full(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest,
    int tag, MPI_Comm comm, SendMode mode) noexcept {
    Arguments args(function, comm);
    if (checking() && !send_args(args, buf, count, type, dest, tag)) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    Communicator& target = *args.comm();
    return args.result(target.pml->send(buf, count, type_of(type), dest, tag, mode, target));
}

[[gnu::always_inline]] inline int send(const char* function, const void* buf, MPI_Count count, MPI_Datatype type,
    int dest, int tag, MPI_Comm comm, SendMode mode) noexcept {
    auto* target = probed_object<Communicator>(comm);
    const auto* layout = probed_object<Datatype>(type);
    if (!thread_is_known() || !sends_plainly(target, layout, buf, count, dest, tag)) [[unlikely]] {
        return send_in_full(function, buf, count, type, dest, tag, comm, mode);
    }
    const int code = target->pml->send(buf, count, *layout, dest, tag, mode, *target);
    return code == MPI_SUCCESS ? code : report_code(function, target, code);
}

[[gnu::noinline]] int recv_in_full(const char* function, void* buf, MPI_Count count, MPI_Datatype type, int source,
    int tag, MPI_Comm comm, MPI_Status* status) noexcept {
    Arguments args(function, comm);
    if (checking() && !recv_args(args, buf, count, type, source, tag)) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        return_proc_null(status);
        return MPI_SUCCESS;
    }
    Communicator& from = *args.comm();
    return args.result(from.pml->recv(buf, count, type_of(type), source, tag, from, status));
}

[[gnu::always_inline]] inline int recv(const char* function, void* buf, MPI_Count count, MPI_Datatype type, int source,
    int tag, MPI_Comm comm, MPI_Status* status) noexcept {
    auto* from = probed_object<Communicator>(comm);
    const auto* layout = probed_object<Datatype>(type);
    if (!thread_is_known() || !receives_plainly(from, layout, buf, count, source, tag)) [[unlikely]] {
        return recv_in_full(function, buf, count, type, source, tag, comm, status);
    }
    const int code = from->pml->recv(buf, count, *layout, source, tag, *from, status);
    return code == MPI_SUCCESS ? code : report_code(function, from, code);
}

[[gnu::noinline]] int isend_in_full(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest,
    int tag, MPI_Comm comm, SendMode mode, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(send_args(args, buf, count, type, dest, tag) && args.pointer("request", handle))) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return give_null(args, handle);
    }
    Communicator& target = *args.comm();
    Request* request = nullptr;
    const int code = target.pml->isend(buf, count, type_of(type), dest, tag, mode, target, &request);
    return give(args, code, request, handle);
}

[[gnu::always_inline]] inline int isend(const char* function, const void* buf, MPI_Count count, MPI_Datatype type,
    int dest, int tag, MPI_Comm comm, SendMode mode, MPI_Request* handle) noexcept {
    auto* target = probed_object<Communicator>(comm);
    const auto* layout = probed_object<Datatype>(type);
    if (!thread_is_known() || !sends_plainly(target, layout, buf, count, dest, tag) || handle == nullptr) [[unlikely]] {
        return isend_in_full(function, buf, count, type, dest, tag, comm, mode, handle);
    }
    const int code = target->pml->isend(buf, count, *layout, dest, tag, mode, *target, place_of(handle));
    return code == MPI_SUCCESS ? code : give_error(function, *target, code, handle);
}

[[gnu::noinline]] int irecv_in_full(const char* function, void* buf, MPI_Count count, MPI_Datatype type, int source,
    int tag, MPI_Comm comm, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(recv_args(args, buf, count, type, source, tag) && args.pointer("request", handle))) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        return give_null(args, handle);
    }
    Communicator& from = *args.comm();
    Request* request = nullptr;
    const int code = from.pml->irecv(buf, count, type_of(type), source, tag, from, &request);
    return give(args, code, request, handle);
}

[[gnu::always_inline]] inline int irecv(const char* function, void* buf, MPI_Count count, MPI_Datatype type, int source,
    int tag, MPI_Comm comm, MPI_Request* handle) noexcept {
    auto* from = probed_object<Communicator>(comm);
    const auto* layout = probed_object<Datatype>(type);
    if (!thread_is_known() || !receives_plainly(from, layout, buf, count, source, tag) || handle == nullptr)
        [[unlikely]] {
        return irecv_in_full(function, buf, count, type, source, tag, comm, handle);
    }
    const int code = from->pml->irecv(buf, count, *layout, source, tag, *from, place_of(handle));
    return code == MPI_SUCCESS ? code : give_error(function, *from, code, handle);
}

} // namespace

} // namespace patchbay::api

int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::send("MPI_Send", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::standard);
}
int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::send("MPI_Send_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::standard);
}
int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::send(
        "MPI_Ssend", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::synchronous);
}
int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::send(
        "MPI_Ssend_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::synchronous);
}
int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::send("MPI_Rsend", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::ready);
}
int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::send("MPI_Rsend_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::ready);
}
int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return patchbay::api::recv("MPI_Recv", buf, count, datatype, source, tag, comm, status);
}
int PMPI_Recv_c(
    void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return patchbay::api::recv("MPI_Recv_c", buf, count, datatype, source, tag, comm, status);
}
int PMPI_Isend(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isend(
        "MPI_Isend", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::standard, request);
}
int PMPI_Isend_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isend(
        "MPI_Isend_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::standard, request);
}
int PMPI_Issend(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isend(
        "MPI_Issend", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::synchronous, request);
}
int PMPI_Issend_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isend(
        "MPI_Issend_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::synchronous, request);
}
int PMPI_Irsend(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isend(
        "MPI_Irsend", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::ready, request);
}
int PMPI_Irsend_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isend(
        "MPI_Irsend_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::ready, request);
}
int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::irecv("MPI_Irecv", buf, count, datatype, source, tag, comm, request);
}
int PMPI_Irecv_c(
    void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::irecv("MPI_Irecv_c", buf, count, datatype, source, tag, comm, request);
}
