// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "frameworks/pml/pml.h"
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "mpi/api/null_request.h"
#include "mpi/instance/instance.h"
#include "object/immediate_request.h"

#include <new>

// Functions that the point-to-point bindings use.
namespace patchbay::api {

[[gnu::always_inline]] inline bool send_args(
    Arguments& args, const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag) noexcept {
    return args.communicator() && args.count("count", count) && args.datatype("datatype", type) &&
        args.buffer("buf", buf, count, type) && args.dest("dest", dest) && args.send_tag("tag", tag);
}
[[gnu::always_inline]] inline bool recv_args(
    Arguments& args, const void* buf, MPI_Count count, MPI_Datatype type, int source, int tag) noexcept {
    return args.communicator() && args.count("count", count) && args.datatype("datatype", type) &&
        args.buffer("buf", buf, count, type) && args.source("source", source) && args.receive_tag("tag", tag);
}

// Whether the communicator and the message pass all checks, and the buffer is no special address. The objects are what
// probed_object() found.
[[gnu::always_inline]] inline bool is_plain(
    const Communicator* comm, const Datatype* type, const void* buf, MPI_Count count) noexcept {
    return comm != nullptr && type != nullptr && type->committed && count >= 0 && !is_special_address(buf);
}
// Whether these arguments of a send pass all checks, and ask for nothing special: a rank of the remote group, and a tag
// that every pml allows. false: the functions above decide, and report what is wrong.
[[gnu::always_inline]] inline bool sends_plainly(
    const Communicator* comm, const Datatype* type, const void* buf, MPI_Count count, int dest, int tag) noexcept {
    return is_plain(comm, type, buf, count) && static_cast<unsigned>(dest) < static_cast<unsigned>(comm->remote_size) &&
        static_cast<unsigned>(tag) <= smallest_tag_limit;
}
// The same for a receive, which may have MPI_ANY_SOURCE and MPI_ANY_TAG.
[[gnu::always_inline]] inline bool receives_plainly(
    const Communicator* comm, const Datatype* type, const void* buf, MPI_Count count, int source, int tag) noexcept {
    return is_plain(comm, type, buf, count) &&
        (static_cast<unsigned>(source) < static_cast<unsigned>(comm->remote_size) || source == MPI_ANY_SOURCE) &&
        (static_cast<unsigned>(tag) <= smallest_tag_limit || tag == MPI_ANY_TAG);
}

inline Progress& progress_of(const Communicator& comm) noexcept {
    return comm.progress != nullptr ? *comm.progress : comm.instance->progress();
}

inline void return_proc_null(MPI_Status* status) noexcept {
    if (status != MPI_STATUS_IGNORE) {
        fill_proc_null_status(*status);
    }
}

// A request for an operation with MPI_PROC_NULL; nullptr: out of memory.
inline NullRequest* make_null_request(const Communicator& comm) noexcept {
    return new (std::nothrow) NullRequest(progress_of(comm));
}

// Where a pml stores the request of a nonblocking binding: a request has no predefined handle, so that its address is
// its handle.
inline Request** place_of(MPI_Request* handle) noexcept {
    return reinterpret_cast<Request**>(handle);
}
// End a nonblocking or persistent binding.
[[gnu::cold, gnu::noinline]] inline int give_error(
    const char* function, Communicator& comm, int code, MPI_Request* handle) noexcept {
    *handle = MPI_REQUEST_NULL;
    return report(ErrorTarget(&comm), function, code, {});
}
inline int give(const Arguments& args, int code, const Request* request, MPI_Request* handle) noexcept {
    if (code == MPI_SUCCESS) [[likely]] {
        *handle = to_handle<Request>(request);
        return MPI_SUCCESS;
    }
    *handle = MPI_REQUEST_NULL;
    return args.result(code);
}
inline void note_persistent(const Arguments& args, const Request& request) noexcept {
    if (Origins* const origins = Origins::active()) [[unlikely]] {
        origins->add(to_handle(&request), ObjectKind::request, args.function(), args.comm()->describe());
    }
}
// The same for a persistent binding.
inline int give_persistent(const Arguments& args, int code, Request* request, MPI_Request* handle) noexcept {
    if (code == MPI_SUCCESS) [[likely]] {
        request->enter_list();
        note_persistent(args, *request);
    }
    return give(args, code, request, handle);
}
inline int give_null(const Arguments& args, MPI_Request* handle) noexcept {
    NullRequest* request = make_null_request(*args.comm());
    if (request != nullptr) {
        request->note.add_request(*request, args.function(), *args.comm());
    }
    return give(args, request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM, request, handle);
}
// `what`.peer is MPI_PROC_NULL.
inline int give_persistent_null(
    const Arguments& args, const pml::PersistentRequest& what, MPI_Request* handle) noexcept {
    Communicator& comm = *args.comm();
    Request* request = new (std::nothrow) PersistentNullRequest(what, progress_of(comm), comm);
    return give_persistent(args, request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM, request, handle);
}

} // namespace patchbay::api
