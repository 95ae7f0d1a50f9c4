// SPDX-License-Identifier: BSD-3-Clause
// Connecting groups of processes that have no communicator in common: ports, names of services, sockets (MPI-5.0, 11.9
// and 11.10).
#include "core/base/out_of_memory.h"
#include "core/base/strings.h"
#include "core/runtime/launcher_services.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"
#include "mpi/dynamic/ports.h"
#include "mpi/library/world.h"

#include <charconv>
#include <cstring>
#include <fmt/core.h>

namespace patchbay::api {

namespace {

bool port_name(Arguments& args, const char* name) {
    return args.pointer("port_name", name) &&
        args.require(strnlen(name, MPI_MAX_PORT_NAME) < MPI_MAX_PORT_NAME, MPI_ERR_PORT, "the length of port_name",
            MPI_MAX_PORT_NAME, "must be less than MPI_MAX_PORT_NAME");
}

bool service_name(Arguments& args, const char* name) {
    constexpr std::size_t longest = LauncherServices::longest_service;
    return args.pointer("service_name", name) &&
        args.require(*name != '\0' && strnlen(name, longest + 1) <= longest, MPI_ERR_ARG, "the length of service_name",
            MPI_Count(std::strlen(name)), "must be from 1 to 480");
}

// Calls `act` with the instance; the function is on no object.
template <class Act>
int with_instance(const Arguments& args, Act&& act) {
    int code = MPI_SUCCESS;
    Instance* instance = with_locking_chosen(args, initialized(args, &code), &code);
    if (instance == nullptr) {
        return code;
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return act(*instance); }));
}

// Info key `timeout`: seconds; without it parameter mpi_connect_timeout. For MPI_Comm_accept there is no limit.
bool read_limit(
    Arguments& args, PortSide side, const Info* info, Instance& instance, std::chrono::milliseconds* limit) {
    *limit = side == PortSide::connect ? connect_limit(instance) : std::chrono::milliseconds(0);
    const auto text = info != nullptr ? info->get("timeout") : std::nullopt;
    if (!text) {
        return true;
    }
    unsigned seconds = 0;
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    *limit = std::chrono::seconds(seconds);
    return (failed == std::errc() && end == text->data() + text->size()) ||
        args.refuse(
            MPI_ERR_INFO_VALUE, fmt::format("the info key timeout is \"{}\", and must be a number of seconds", *text));
}

// Info key `scope`, a choice of parameter mpi_name_scope, which is used without the key.
bool read_scope(Arguments& args, const Info* info, Instance& instance, LauncherServices::Scope* scope) {
    const auto text = info != nullptr ? info->get("scope") : std::nullopt;
    *scope = !text        ? name_scope(instance)
        : *text == "user" ? LauncherServices::Scope::user
                          : LauncherServices::Scope::mpirun;
    return !text || *text == "user" || *text == "mpirun" ||
        args.refuse(MPI_ERR_INFO_VALUE, fmt::format("the info key scope is \"{}\", and must be mpirun or user", *text));
}

// As with_instance(), with the scope of a name.
template <class Act>
int with_scope(Arguments& args, MPI_Info info, Act&& act) {
    int code = MPI_SUCCESS;
    Instance* instance = with_locking_chosen(args, initialized(args, &code), &code);
    if (instance == nullptr) {
        return code;
    }
    bool refuses = false;
    code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        LauncherServices::Scope scope{};
        refuses = !read_scope(args, to_object<Info>(info), *instance, &scope);
        return refuses ? args.code() : act(*instance, scope);
    });
    return refuses ? code : args.result(code);
}

int connect(
    const char* function, PortSide side, const char* name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
    Arguments args(function, comm);
    if (checking() && !(args.intracommunicator() && args.of_processes())) {
        return args.code();
    }
    Communicator& local = *args.comm();
    const bool is_root = local.rank == root;
    const bool has_root = root >= 0 && root < local.size;
    std::chrono::milliseconds limit{0};
    // A process that has detected an error still takes part, so that the others return an error, too.
    const bool refuses = !(!checking() ||
                             (args.require(has_root, MPI_ERR_ROOT, "root", root, "must be a rank of comm") &&
                                 args.pointer("newcomm", newcomm) &&
                                 (!is_root || (port_name(args, name) && args.info_or_null("info", info))))) ||
        (is_root && !read_limit(args, side, to_object<Info>(info), *local.instance, &limit));
    Communicator* made = nullptr;
    std::string problem;
    const int code = run_constructor(args, [&] {
        return connect_at_port(side, is_root && !refuses ? name : "", limit, has_root ? root : -1, local,
            refuses ? args.code() : MPI_SUCCESS, &made, &problem);
    });
    if (refuses) {
        return args.code();
    }
    return give_handle(args, code, made, newcomm, problem);
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Open_port(MPI_Info info, char* port_name) {
    api::Arguments args("MPI_Open_port");
    if (api::checking() && !(args.info_or_null("info", info) && args.pointer("port_name", port_name))) {
        return args.code();
    }
    return api::with_instance(args, [&](Instance& instance) {
        std::string name;
        const int code = open_port(instance, &name);
        if (code == MPI_SUCCESS) {
            std::strcpy(port_name, name.c_str());
        }
        return code;
    });
}

int PMPI_Close_port(const char* port_name) {
    api::Arguments args("MPI_Close_port");
    if (api::checking() && !api::port_name(args, port_name)) {
        return args.code();
    }
    return api::with_instance(args, [&](Instance& instance) { return close_port(instance, port_name); });
}

int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
    return api::connect("MPI_Comm_accept", PortSide::accept, port_name, info, root, comm, newcomm);
}

int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
    return api::connect("MPI_Comm_connect", PortSide::connect, port_name, info, root, comm, newcomm);
}

int PMPI_Comm_join(int fd, MPI_Comm* intercomm) {
    api::Arguments args("MPI_Comm_join", MPI_COMM_SELF);
    if (api::checking() &&
        !(args.communicator() && args.pointer("intercomm", intercomm) &&
            args.require(fd >= 0, MPI_ERR_ARG, "fd", fd, "must be a descriptor"))) {
        return args.code();
    }
    Communicator* made = nullptr;
    std::string problem;
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return join(fd, *args.comm(), &made, &problem); });
    return give_handle(args, code, made, intercomm, problem);
}

int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
    api::Arguments args("MPI_Publish_name");
    if (api::checking() &&
        !(api::service_name(args, service_name) && args.info_or_null("info", info) &&
            api::port_name(args, port_name))) {
        return args.code();
    }
    return api::with_scope(args, info, [&](Instance& instance, LauncherServices::Scope scope) {
        return publish_name(instance, service_name, port_name, scope);
    });
}

int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
    api::Arguments args("MPI_Lookup_name");
    if (api::checking() &&
        !(api::service_name(args, service_name) && args.info_or_null("info", info) &&
            args.pointer("port_name", port_name))) {
        return args.code();
    }
    return api::with_scope(args, info, [&](Instance& instance, LauncherServices::Scope scope) {
        std::string name;
        const int code = look_up_name(instance, service_name, scope, &name);
        if (code == MPI_SUCCESS) {
            name.copy(port_name, MPI_MAX_PORT_NAME - 1);
            port_name[std::min<std::size_t>(name.size(), MPI_MAX_PORT_NAME - 1)] = '\0';
        }
        return code;
    });
}

int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
    api::Arguments args("MPI_Unpublish_name");
    if (api::checking() &&
        !(api::service_name(args, service_name) && args.info_or_null("info", info) &&
            api::port_name(args, port_name))) {
        return args.code();
    }
    return api::with_instance(args, [&](Instance& instance) { return unpublish_name(instance, service_name); });
}
