// SPDX-License-Identifier: BSD-3-Clause
// Communicators: inquiry (MPI-5.0, 7.4.1, 7.4.4, 7.8), construction and destruction (7.4.2, 7.4.3). For the
// constructors with two groups see intercommunicator.cpp.
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/hints.h"
#include "mpi/library/world.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace patchbay::api {

namespace {

// Implements the local inquiries with an int as result.
template <class Get>
int inquire(const char* function, MPI_Comm comm, const char* name, int* result, Get&& get) {
    Arguments args(function, comm);
    if (checking() && !(args.communicator() && args.pointer(name, result))) {
        return args.code();
    }
    *result = get(*args.comm());
    return MPI_SUCCESS;
}

int dup(const char* function, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
    Arguments args(function, comm);
    if (checking() && !(args.communicator() && args.info_or_null("info", info) && args.pointer("newcomm", newcomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    const int code = run_constructor(args, [&] { return duplicate(*args.comm(), to_object<Info>(info), &made); });
    return give_handle(args, code, made, newcomm);
}

int idup(const char* function, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    Arguments args(function, comm);
    if (checking() &&
        !(args.communicator() && args.info_or_null("info", info) && args.pointer("newcomm", newcomm) &&
            args.pointer("request", request))) {
        return args.code();
    }
    *newcomm = MPI_COMM_NULL;
    Request* started = nullptr;
    const int code = unless_out_of_memory(
        MPI_ERR_NO_MEM, [&] { return start_duplicate(*args.comm(), to_object<Info>(info), newcomm, &started); });
    *request = started != nullptr ? to_handle(started) : MPI_REQUEST_NULL;
    return args.result(code);
}

// All members of the group must belong to the communicator.
bool check_subgroup(Arguments& args, MPI_Group handle) {
    if (!args.group("group", handle)) {
        return false;
    }
    const Group& group = *to_object<Group>(handle);
    if (!args.same_session(*args.comm(), group)) {
        return false;
    }
    const Group& all = *args.comm()->group;
    for (int rank = 0; rank < group.size(); ++rank) {
        if (!args.require(all.rank_of(group.process(rank)) != MPI_UNDEFINED, MPI_ERR_GROUP, "a rank of group", rank,
                "must be that of a process of comm")) {
            return false;
        }
    }
    return true;
}

bool is_split_type(int type) noexcept {
    return type == MPI_COMM_TYPE_SHARED || type == MPI_COMM_TYPE_HW_UNGUIDED || type == MPI_COMM_TYPE_HW_GUIDED ||
        type == MPI_COMM_TYPE_RESOURCE_GUIDED || type == MPI_UNDEFINED;
}

// A communicator that the program may free: not a predefined one.
bool check_freeable(Arguments& args, MPI_Comm handle) noexcept {
    return args.communicator() &&
        args.require(!args.comm()->is_predefined(), MPI_ERR_COMM, "comm", reinterpret_cast<std::intptr_t>(handle),
            args.comm()->view != nullptr ? "is a thread communicator, which MPIX_Threadcomm_free frees"
                                         : "must not be MPI_COMM_WORLD or MPI_COMM_SELF");
}

int release(const char* function, MPI_Comm* comm, int (*act)(Communicator&)) {
    Arguments args(function, comm != nullptr ? *comm : MPI_COMM_NULL);
    if (checking() && !(args.pointer("comm", comm) && check_freeable(args, *comm))) {
        return args.code();
    }
    const MPI_Comm freed = *comm;
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return act(*args.comm()); });
    if (code == MPI_SUCCESS) {
        note_freed(freed);
        library().world().forget(args.comm());
        *comm = MPI_COMM_NULL;
    }
    return args.result(code);
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
    return api::inquire("MPI_Comm_rank", comm, "rank", rank, [](const Communicator& c) { return c.rank; });
}

int PMPI_Comm_size(MPI_Comm comm, int* size) {
    return api::inquire("MPI_Comm_size", comm, "size", size, [](const Communicator& c) { return c.size; });
}

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
    return api::inquire(
        "MPI_Comm_test_inter", comm, "flag", flag, [](const Communicator& c) { return int(c.is_inter); });
}

int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
    api::Arguments args("MPI_Comm_remote_size", comm);
    if (api::checking() && !(args.intercommunicator() && args.pointer("size", size))) {
        return args.code();
    }
    *size = args.comm()->remote_size;
    return MPI_SUCCESS;
}

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
    api::Arguments args("MPI_Comm_remote_group", comm);
    if (api::checking() && !(args.intercommunicator() && args.pointer("group", group))) {
        return args.code();
    }
    return api::give_handle(args, Ref<Group>::share(args.comm()->remote_group), group);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
    api::Arguments args("MPI_Comm_group", comm);
    if (api::checking() && !(args.communicator() && args.pointer("group", group))) {
        return args.code();
    }
    return api::give_handle(args, args.comm()->group, group);
}

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
    api::Arguments args("MPI_Comm_compare", comm1);
    if (api::checking() &&
        !(args.communicator() && args.valid<Communicator>(MPI_ERR_COMM, "comm2", comm2) &&
            args.same_session(*args.comm(), *to_object<Communicator>(comm2)) && args.pointer("result", result))) {
        return args.code();
    }
    *result = compare(*args.comm(), *to_object<Communicator>(comm2));
    return MPI_SUCCESS;
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
    return api::dup("MPI_Comm_dup", comm, MPI_INFO_NULL, newcomm);
}

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
    return api::dup("MPI_Comm_dup_with_info", comm, info, newcomm);
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
    return api::idup("MPI_Comm_idup", comm, MPI_INFO_NULL, newcomm, request);
}

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    return api::idup("MPI_Comm_idup_with_info", comm, info, newcomm, request);
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
    api::Arguments args("MPI_Comm_create", comm);
    if (api::checking() &&
        !(args.communicator() && api::check_subgroup(args, group) && args.pointer("newcomm", newcomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    const int code =
        api::run_constructor(args, [&] { return create_from_subgroup(*args.comm(), *to_object<Group>(group), &made); });
    return api::give_handle(args, code, made, newcomm);
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
    api::Arguments args("MPI_Comm_create_group", comm);
    if (api::checking() &&
        !(args.intracommunicator() && api::check_subgroup(args, group) && args.send_tag("tag", tag) &&
            args.pointer("newcomm", newcomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    const int code = unless_out_of_memory(
        MPI_ERR_NO_MEM, [&] { return create_group(*args.comm(), *to_object<Group>(group), tag, &made); });
    return api::give_handle(args, code, made, newcomm);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
    api::Arguments args("MPI_Comm_split", comm);
    if (api::checking() &&
        !(args.communicator() &&
            args.require(color >= 0 || color == MPI_UNDEFINED, MPI_ERR_ARG, "color", color,
                "must not be negative, unless it is MPI_UNDEFINED") &&
            args.pointer("newcomm", newcomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    const int code = api::run_constructor(args, [&] { return split(*args.comm(), color, key, nullptr, &made); });
    return api::give_handle(args, code, made, newcomm);
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
    api::Arguments args("MPI_Comm_split_type", comm);
    if (api::checking() &&
        !(args.communicator() &&
            args.require(api::is_split_type(split_type), MPI_ERR_ARG, "split_type", split_type,
                "must be one of MPI_COMM_TYPE_* or MPI_UNDEFINED") &&
            args.info_or_null("info", info) && args.pointer("newcomm", newcomm))) {
        return args.code();
    }
    Communicator* made = nullptr;
    const int code = api::run_constructor(
        args, [&] { return split_by_type(*args.comm(), split_type, key, to_object<Info>(info), &made); });
    return api::give_handle(args, code, made, newcomm);
}

int PMPI_Comm_free(MPI_Comm* comm) {
    return api::release("MPI_Comm_free", comm, &free_communicator);
}

int PMPI_Comm_disconnect(MPI_Comm* comm) {
    return api::release("MPI_Comm_disconnect", comm, &disconnect);
}

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    api::Arguments args("MPI_Comm_set_info", comm);
    if (api::checking() && !(args.communicator() && args.info_or_null("info", info))) {
        return args.code();
    }
    if (const Info* object = to_object<Info>(info); object != nullptr) {
        return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            set_hints(*args.comm(), *object);
            return MPI_SUCCESS;
        }));
    }
    return MPI_SUCCESS;
}

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
    api::Arguments args("MPI_Comm_get_info", comm);
    if (api::checking() && !(args.communicator() && args.pointer("info_used", info_used))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *info_used = api::handle_of_new(args, get_hints(*args.comm()).detach());
        return MPI_SUCCESS;
    }));
}

// A longer name is truncated, as the standard allows (MPI-5.0, 7.8).
int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
    api::Arguments args("MPI_Comm_set_name", comm);
    if (api::checking() && !(args.communicator() && args.pointer("comm_name", comm_name))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::lock_guard lock(args.comm()->mutex);
        args.comm()->name.assign(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
        return MPI_SUCCESS;
    }));
}

int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
    api::Arguments args("MPI_Comm_get_name", comm);
    if (api::checking() &&
        !((comm == MPI_COMM_NULL || args.communicator()) && args.pointer("comm_name", comm_name) &&
            args.pointer("resultlen", resultlen))) {
        return args.code();
    }
    const auto give = [&](std::string_view name) {
        std::memcpy(comm_name, name.data(), name.size());
        comm_name[name.size()] = '\0';
        *resultlen = int(name.size());
    };
    if (comm == MPI_COMM_NULL) { // a valid argument here (MPI-5.0, 7.8)
        give("MPI_COMM_NULL");
        return MPI_SUCCESS;
    }
    std::lock_guard lock(args.comm()->mutex);
    give(args.comm()->name);
    return MPI_SUCCESS;
}
