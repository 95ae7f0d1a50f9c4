// SPDX-License-Identifier: BSD-3-Clause
// Persistent sends and receives (MPI-5.0, 3.9). MPI_Bsend_init: buffer.cpp.
#include "mpi/api/completion.h"
#include "mpi/api/message_args.h"

namespace patchbay::api {

namespace {

int send_init(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
    MPI_Comm comm, pml::SendMode mode, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(send_args(args, buf, count, type, dest, tag) && args.pointer("request", handle))) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return give_persistent_null(args, {const_cast<void*>(buf), count, &type_of(type), dest, tag, mode}, handle);
    }
    Communicator& target = *args.comm();
    Request* request = nullptr;
    const int code = target.pml->send_init(buf, count, type_of(type), dest, tag, mode, target, &request);
    return give_persistent(args, code, request, handle);
}

int recv_init(const char* function, void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
    MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(recv_args(args, buf, count, type, source, tag) && args.pointer("request", handle))) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        return give_persistent_null(args, {buf, count, &type_of(type), source, tag, {}}, handle);
    }
    Communicator& from = *args.comm();
    Request* request = nullptr;
    const int code = from.pml->recv_init(buf, count, type_of(type), source, tag, from, &request);
    return give_persistent(args, code, request, handle);
}

bool can_start(Arguments& args, MPI_Request handle) noexcept {
    args.report_to(nullptr);
    if (!args.request("request", handle)) {
        return false;
    }
    const Request& request = *to_object<Request>(handle);
    args.report_to(error_comm(request));
    return args.require(request.is_persistent(), MPI_ERR_REQUEST, "request", 0, "must be a persistent request") &&
        args.require(request.may_start(), MPI_ERR_REQUEST, "request", 0,
            request.most_starts == 1 ? "must not be active"
                                     : "must not have more starts outstanding than its slackness allows");
}

[[gnu::noinline]] int start_in_full(MPI_Request* handle) noexcept {
    Arguments args("MPI_Start", Arguments::Pending());
    if (checking() && !(args.permitted() && args.pointer("request", handle) && can_start(args, *handle))) {
        return args.code();
    }
    Request& request = *to_object<Request>(*handle);
    return report_code("MPI_Start", request.comm, request.start());
}

int start(MPI_Request* handle) noexcept {
    Request* request = handle != nullptr ? probed_object<Request>(*handle) : nullptr;
    if (request == nullptr || !thread_is_known() || !request->is_persistent() || !request->may_start()) [[unlikely]] {
        return start_in_full(handle);
    }
    const int code = request->start();
    return code == MPI_SUCCESS ? code : report_code("MPI_Start", request->comm, code);
}

int start_all(int count, MPI_Request* handles) noexcept {
    Arguments args("MPI_Startall", Arguments::Pending());
    if (checking()) {
        if (!(args.permitted() && args.count("count", count) && args.array("array_of_requests", handles, count))) {
            return args.code();
        }
        CommonSession session;
        for (int i = 0; i < count; ++i) {
            const Request* request = to_object<Request>(handles[i]);
            if (!can_start(args, handles[i]) || (!session.has(request) && !session.may_start(args, *request))) {
                return args.code();
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        Request& request = *to_object<Request>(handles[i]);
        if (checking() && !request.may_start()) {
            args.report_to(request.comm);
            return args.fail(MPI_ERR_REQUEST,
                request.most_starts == 1 ? "the array contains a request twice; it has been started once"
                                         : "the array contains a request more often than its slackness allows; it has "
                                           "been started so often");
        }
        const int code = request.start();
        if (code != MPI_SUCCESS) {
            return report_code("MPI_Startall", request.comm, code);
        }
    }
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

int PMPI_Send_init(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::send_init(
        "MPI_Send_init", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::standard, request);
}
int PMPI_Send_init_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::send_init(
        "MPI_Send_init_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::standard, request);
}
int PMPI_Ssend_init(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::send_init(
        "MPI_Ssend_init", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::synchronous, request);
}
int PMPI_Ssend_init_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::send_init(
        "MPI_Ssend_init_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::synchronous, request);
}
int PMPI_Rsend_init(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::send_init(
        "MPI_Rsend_init", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::ready, request);
}
int PMPI_Rsend_init_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::send_init(
        "MPI_Rsend_init_c", buf, count, datatype, dest, tag, comm, patchbay::pml::SendMode::ready, request);
}
int PMPI_Recv_init(
    void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::recv_init("MPI_Recv_init", buf, count, datatype, source, tag, comm, request);
}
int PMPI_Recv_init_c(
    void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::recv_init("MPI_Recv_init_c", buf, count, datatype, source, tag, comm, request);
}
int PMPI_Start(MPI_Request* request) {
    return patchbay::api::start(request);
}
int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
    return patchbay::api::start_all(count, array_of_requests);
}
