// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/args.h"

#include "frameworks/pml/pml.h"
#include "object/topology.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>

namespace patchbay::api {

namespace {

// The name of a predefined datatype, as mpi.h has it; the handle of a derived one is an address.
// nullptr: it is no null handle.
const char* name_of_null(std::uintptr_t handle) noexcept {
    struct Null {
        const void* handle;
        const char* name;
    };
    static const Null nulls[] = {{MPI_COMM_NULL, "MPI_COMM_NULL"}, {MPI_GROUP_NULL, "MPI_GROUP_NULL"},
        {MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL"}, {MPI_OP_NULL, "MPI_OP_NULL"}, {MPI_REQUEST_NULL, "MPI_REQUEST_NULL"},
        {MPI_MESSAGE_NULL, "MPI_MESSAGE_NULL"}, {MPI_WIN_NULL, "MPI_WIN_NULL"}, {MPI_FILE_NULL, "MPI_FILE_NULL"},
        {MPI_INFO_NULL, "MPI_INFO_NULL"}, {MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL"},
        {MPI_SESSION_NULL, "MPI_SESSION_NULL"}};
    const auto* found = std::ranges::find(nulls, reinterpret_cast<const void*>(handle), &Null::handle);
    return found != std::end(nulls) ? found->name : nullptr;
}

std::string describe(MPI_Datatype handle) {
    const Datatype* type = probed_object<Datatype>(handle);
    if (type != nullptr && !type->name.empty()) {
        return type->name;
    }
    return handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL"
                                       : fmt::format("{:#x}", reinterpret_cast<std::uintptr_t>(handle));
}

const char* describe(const Topology* topology) noexcept {
    if (topology == nullptr) {
        return "no virtual topology";
    }
    switch (topology->kind()) {
    case MPI_CART:
        return "a Cartesian topology";
    case MPI_GRAPH:
        return topology->has_neighborhoods() ? "a graph topology" : "a graph topology that is not symmetric";
    default:
        return "a distributed graph topology";
    }
}

} // namespace

int Arguments::bad_inter(Communicator* comm, const char* function, bool wanted) noexcept {
    return report(comm, function, MPI_ERR_COMM,
        wanted ? "comm is an intracommunicator, but the call needs an intercommunicator"
               : "comm is an intercommunicator, but the call needs an intracommunicator");
}

int Arguments::bad_threads(Communicator* comm, const char* function) noexcept {
    return report(
        comm, function, MPI_ERR_COMM, "the ranks of comm are threads, but the call needs a communicator of processes");
}

int Arguments::bad_value(
    ErrorTarget target, const char* function, int code, const char* name, MPI_Count value, const char* rule) noexcept {
    return report(target, function, code, fmt::format("{} is {} and {}", name, value, rule));
}

int Arguments::bad_pointer(ErrorTarget target, const char* function, int code, const char* name) noexcept {
    return report(target, function, code, fmt::format("{} is a null pointer", name));
}

int Arguments::bad_handle(ErrorTarget target, const char* function, int code, const char* name, const char* handle_type,
    std::uintptr_t handle) noexcept {
    if (code == MPI_ERR_REQUEST && bundled_request(reinterpret_cast<MPI_Request>(handle)) != nullptr) {
        return report(target, function, code,
            fmt::format(
                "{} is {:#x}, which is a member of a bundle: until MPI_Request_free of the bundle only the bundle "
                "starts and completes it",
                name, handle));
    }
    if (const char* null = name_of_null(handle); null != nullptr) {
        return report(target, function, code, fmt::format("{} is {}, which is no {}", name, null, handle_type));
    }
    const char* hint = "";
    if (handle == 0) {
        hint = " (the variable may not have been initialized)";
    } else if (handle == reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD) ||
        handle == reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF)) {
        hint = " now: MPI is not initialized, or has been finalized";
    } else if (is_thread_handle(handle)) {
        hint = " of this thread: a thread communicator can be used between MPIX_Threadcomm_start and "
               "MPIX_Threadcomm_finish of the calling thread";
    }
    return report(
        target, function, code, fmt::format("{} is {:#x}, which is no {}{}", name, handle, handle_type, hint));
}

int Arguments::bad_sessions(
    ErrorTarget target, const char* function, const char* what, const Session* a, const Session* b) noexcept {
    const char* whose = a != nullptr && b != nullptr ? "two different sessions" : "a session and to the world model";
    return report(target, function, MPI_ERR_SESSION,
        fmt::format("{} belong to {}, which must not be used in one call", what, whose));
}

int Arguments::bad_aliases(ErrorTarget target, const char* function) noexcept {
    return report(target, function, MPI_ERR_BUFFER,
        "data would be received into the memory that is sent; where that is wanted and allowed, MPI_IN_PLACE says so");
}

int Arguments::bad_type(ErrorTarget target, const char* function, const char* name, MPI_Datatype handle) noexcept {
    const char* reason = probed_object<Datatype>(handle) == nullptr ? "is no datatype" : "has not been committed";
    return report(target, function, MPI_ERR_TYPE, fmt::format("{} is {}, which {}", name, describe(handle), reason));
}

int Arguments::bad_op(ErrorTarget target, const char* function, MPI_Op handle, MPI_Datatype type) noexcept {
    if (probed_object<Op>(handle) == nullptr) {
        return bad_handle(target, function, MPI_ERR_OP, "op", "MPI_Op", reinterpret_cast<std::uintptr_t>(handle));
    }
    return report(target, function, MPI_ERR_OP,
        fmt::format(
            "op {:#x} is not defined for the datatype {}", reinterpret_cast<std::uintptr_t>(handle), describe(type)));
}

int Arguments::bad_rank(Communicator* comm, const char* function, const char* name, int rank, bool receiving) noexcept {
    return report(comm, function, MPI_ERR_RANK,
        fmt::format("{} is {}, but must be from 0 to {} or MPI_PROC_NULL{}", name, rank, comm->remote_size - 1,
            receiving ? " or MPI_ANY_SOURCE" : ""));
}

int Arguments::bad_topology(Communicator* comm, const char* function, const char* wanted) noexcept {
    return report(comm, function, MPI_ERR_TOPOLOGY,
        fmt::format("{} has {}, but the call needs {}", comm->describe(), describe(comm->topology.get()), wanted));
}

int Arguments::bad_root(Communicator* comm, const char* function, int rank) noexcept {
    return report(comm, function, MPI_ERR_ROOT,
        fmt::format("root is {}, but must be from 0 to {}{}", rank, comm->remote_size - 1,
            comm->is_inter ? " or MPI_ROOT or MPI_PROC_NULL" : ""));
}

int Arguments::check_special_buffer(
    ErrorTarget target, const char* function, const char* name, const void* address, MPI_Datatype handle) noexcept {
    if (address == MPI_BOTTOM) {
        // With MPI_BOTTOM the datatype contains absolute addresses. A null pointer is an error if it contains none.
        const Datatype* type = to_object<Datatype>(handle);
        if (type == nullptr || type->size == 0 || type->true_lower_bound != 0) {
            return MPI_SUCCESS;
        }
        return report(
            target, function, MPI_ERR_BUFFER, fmt::format("{} is a null pointer, but the count is not zero", name));
    }
    return report(target, function, MPI_ERR_BUFFER,
        fmt::format("{} is {}, which is not allowed here", name,
            address == MPI_IN_PLACE ? "MPI_IN_PLACE" : "MPI_BUFFER_AUTOMATIC"));
}

int Arguments::check_large_tag(Communicator* comm, const char* function, const char* name, int tag) noexcept {
    const int limit = comm->pml->max_tag();
    if (tag >= 0 && tag <= limit) {
        return MPI_SUCCESS;
    }
    return report(comm, function, MPI_ERR_TAG, fmt::format("{} is {}, but must be from 0 to {}", name, tag, limit));
}

} // namespace patchbay::api
