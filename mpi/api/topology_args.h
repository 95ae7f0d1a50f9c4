// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "object/topology.h"

// Functions that the bindings of virtual topologies use.
namespace patchbay::api {

// A communicator with a topology of that kind.
inline bool cartesian(Arguments& args) noexcept {
    return args.communicator() &&
        args.topology(
            args.comm()->topology != nullptr && args.comm()->topology->grid() != nullptr, "a Cartesian topology");
}
inline bool has_graph(Arguments& args) noexcept {
    return args.communicator() &&
        args.topology(
            args.comm()->topology != nullptr && args.comm()->topology->graph() != nullptr, "a graph topology");
}
inline bool has_distributed_graph(Arguments& args) noexcept {
    return args.communicator() &&
        args.topology(args.comm()->topology != nullptr && args.comm()->topology->adjacency() != nullptr,
            "a distributed graph topology");
}

// The rank of a member, which is no neighbour beyond a border.
inline bool rank_of_member(Arguments& args, const char* name, int rank) noexcept {
    return args.require(rank >= 0 && rank < args.comm()->size, MPI_ERR_RANK, name, rank,
        "must be from 0 to the size of the communicator - 1");
}

inline bool not_negative(Arguments& args, int code, const char* name, MPI_Count value) noexcept {
    return args.require(value >= 0, code, name, value, "must not be negative");
}

// The beginning of a constructor of topologies, whose communicator is `name`: MPI_COMM_NULL is the result until it
// succeeds.
inline bool begins(Arguments& args, const char* name, MPI_Comm* made) noexcept {
    if (made != nullptr) {
        *made = MPI_COMM_NULL;
    }
    return args.intracommunicator() && args.pointer(name, made);
}

// Ends such a constructor: `construct` is called with the place for the communicator.
template <class Construct>
int give_communicator(const Arguments& args, MPI_Comm* handle, Construct&& construct) noexcept {
    Communicator* made = nullptr;
    const int code = run_constructor(args, [&] { return construct(&made); });
    *handle = code == MPI_SUCCESS && made != nullptr ? handle_of_new(args, made) : MPI_COMM_NULL;
    return args.result(code);
}

} // namespace patchbay::api
