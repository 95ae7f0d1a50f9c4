// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/launcher_services.h"
#include "object/communicator.h"

#include <cstdint>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI-5.0, 11.8).

// The arguments of the root for one program. The strings exist until the call returns.
struct SpawnArguments {
    const char* command = nullptr;
    char** argv = nullptr; // MPI_ARGV_NULL, or ends with a null pointer
    int maxprocs = 0;
    const Info* info = nullptr; // may be null
};

struct SpawnResult {
    Communicator* intercommunicator = nullptr;
    struct Started {
        std::uint64_t wanted; // maxprocs
        std::uint64_t started;
    };
    std::vector<Started> programs; // the same in all processes
    std::string problem;           // a text about the error

    // Writes array_of_errcodes: for each process that was wanted MPI_SUCCESS or MPI_ERR_SPAWN.
    void write_codes(int* codes) const noexcept;
};

// Collective over the intracommunicator `comm`. `root` is -1 if the argument is no rank of it. `programs` are
// significant at the root. `refused` is the error of this process, or MPI_SUCCESS; then all processes return an error.
// Returns an MPI code.
int spawn(Communicator& comm, int root, const std::vector<SpawnArguments>& programs, int refused, SpawnResult* result);

// Called by MPI_Init in all processes of a job: constructs the intercommunicator to the job that has spawned it, over
// `world`. *made is nullptr in a job that was not spawned. Returns an MPI code; an error is one of all processes of the
// job, because none of them can go on without the others.
int connect_to_parent(Communicator& world, Communicator** made, std::string* problem);

} // namespace patchbay
