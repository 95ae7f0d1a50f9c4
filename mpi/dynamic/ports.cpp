// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/dynamic/ports.h"

#include "core/base/random.h"
#include "core/runtime/runtime.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/dynamic/leaders.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"
#include "object/error_code.h"

namespace patchbay {

namespace {

constexpr std::string_view port_scheme = "patchbay-port:";
constexpr std::size_t port_digits = 32;

// As complete(), with an error class of MPI for a port or a name that does not exist.
int complete_with(Instance& instance, const Result<LauncherRequest>& request, int missing) {
    const int code = complete(instance, request);
    if (code == MPI_SUCCESS || !request) {
        return code;
    }
    const Status status = request.value().status();
    switch (status.error().code) {
    case Errc::not_found:
    case Errc::timed_out:
    case Errc::invalid:
    case Errc::peer_failed:
        return note_cause(missing, status.error().text);
    default:
        return code;
    }
}

int check_name(std::string_view port) {
    return port.starts_with(port_scheme)
        ? MPI_SUCCESS
        : note_cause(
              MPI_ERR_PORT, "port_name is \"" + std::string(port) + "\", which is no port name of MPI_Open_port");
}

// What the root does: finds the other root at the port.
int reach(PortSide side, std::string_view name, std::chrono::milliseconds limit, Instance& instance,
    Ref<Communicator>* leaders) {
    LauncherServices services(instance.runtime());
    if (const int code = check_name(name); code != MPI_SUCCESS) {
        return code;
    }
    const Result<LauncherRequest> request =
        side == PortSide::accept ? services.accept(name, limit) : services.connect(name, limit);
    if (const int code = complete_with(instance, request, MPI_ERR_PORT); code != MPI_SUCCESS) {
        return code;
    }
    const std::string key = "port " + std::to_string(request.value().pair());
    return connect_leaders(instance, {request.value().peer(), key, side == PortSide::accept}, leaders);
}

} // namespace

std::chrono::milliseconds connect_limit(Instance& instance) {
    return std::chrono::ceil<std::chrono::milliseconds>(instance.core().params.at("mpi_connect_timeout").as_duration());
}

int open_port(Instance& instance, std::string* name) {
    const std::string wanted = std::string(port_scheme) + random_hex(port_digits);
    const Result<LauncherRequest> request = LauncherServices(instance.runtime()).open_port(wanted);
    const int code = complete_with(instance, request, MPI_ERR_PORT);
    *name = code == MPI_SUCCESS ? request.value().text() : std::string();
    return code;
}

int close_port(Instance& instance, std::string_view name) {
    if (const int code = check_name(name); code != MPI_SUCCESS) {
        return code;
    }
    return complete_with(instance, LauncherServices(instance.runtime()).close_port(name), MPI_ERR_PORT);
}

int connect_at_port(PortSide side, std::string_view name, std::chrono::milliseconds limit, int root, Communicator& comm,
    int refused, Communicator** made, std::string* problem) {
    const GroupArguments arguments = compare_arguments(comm, root, refused);
    if (arguments.refusal.happened()) {
        *problem = arguments.refusal.text();
        return arguments.refusal.code;
    }
    Ref<Communicator> leaders;
    const int code = comm.rank == root ? reach(side, name, limit, *comm.instance, &leaders) : MPI_SUCCESS;
    return connect_groups(comm, root, code, std::move(leaders), made, problem);
}

LauncherServices::Scope name_scope(Instance& instance) {
    return LauncherServices::Scope(instance.core().params.at("mpi_name_scope").as_enum());
}

int publish_name(Instance& instance, std::string_view service, std::string_view port, LauncherServices::Scope scope) {
    LauncherServices services(instance.runtime());
    return complete_with(instance, services.publish(service, std::string(port), scope), MPI_ERR_SERVICE);
}

int look_up_name(Instance& instance, std::string_view service, LauncherServices::Scope scope, std::string* port) {
    const Result<LauncherRequest> request = LauncherServices(instance.runtime()).look_up(service, scope);
    const int code = complete_with(instance, request, MPI_ERR_NAME);
    if (code == MPI_SUCCESS) {
        *port = request.value().text();
    }
    return code;
}

int unpublish_name(Instance& instance, std::string_view service) {
    return complete_with(instance, LauncherServices(instance.runtime()).unpublish(service), MPI_ERR_SERVICE);
}

} // namespace patchbay
