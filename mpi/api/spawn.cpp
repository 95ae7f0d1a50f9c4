// SPDX-License-Identifier: BSD-3-Clause
// Starting processes (MPI-5.0, 11.8).
#include "mpi/dynamic/spawn.h"
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"
#include "mpi/library/world.h"

namespace patchbay::api {

namespace {

// The arguments that are significant at the root.
struct RootArguments {
    int count;
    const char* const* commands;
    char*** argvs; // may be null
    const int* maxprocs;
    const MPI_Info* infos;
};

bool check_root(Arguments& args, const RootArguments& root) {
    const bool arrays = args.require(root.count > 0, MPI_ERR_COUNT, "count", root.count, "must be positive") &&
        args.pointer("array_of_commands", root.commands) && args.pointer("array_of_maxprocs", root.maxprocs) &&
        args.pointer("array_of_info", root.infos);
    bool fine = arrays;
    for (int i = 0; fine && i < root.count; ++i) {
        fine = args.pointer("command", root.commands[i]) &&
            args.require(root.maxprocs[i] > 0, MPI_ERR_ARG, "maxprocs", root.maxprocs[i], "must be positive") &&
            args.info_or_null("info", root.infos[i]);
    }
    return fine;
}

std::vector<SpawnArguments> programs_of(const RootArguments& root) {
    std::vector<SpawnArguments> programs;
    for (int i = 0; i < root.count; ++i) {
        programs.push_back({root.commands[i], root.argvs != nullptr ? root.argvs[i] : nullptr, root.maxprocs[i],
            to_object<Info>(root.infos[i])});
    }
    return programs;
}

int spawn_programs(const char* function, const RootArguments& root_arguments, int root, MPI_Comm comm,
    MPI_Comm* intercomm, int* errcodes) {
    Arguments args(function, comm);
    if (checking() && !(args.intracommunicator() && args.of_processes())) {
        return args.code();
    }
    Communicator& parents = *args.comm();
    const bool has_root = root >= 0 && root < parents.size;
    // A process that has detected an error still takes part, so that the others return an error, too.
    const bool refuses = checking() &&
        !(args.require(has_root, MPI_ERR_ROOT, "root", root, "must be a rank of comm") &&
            args.pointer("intercomm", intercomm) && (parents.rank != root || check_root(args, root_arguments)));
    SpawnResult result;
    const int code = run_constructor(args, [&] {
        const bool starts = !refuses && parents.rank == root;
        return spawn(parents, has_root ? root : -1,
            starts ? programs_of(root_arguments) : std::vector<SpawnArguments>(), refuses ? args.code() : MPI_SUCCESS,
            &result);
    });
    if (refuses) {
        return args.code();
    }
    if (errcodes != MPI_ERRCODES_IGNORE) {
        result.write_codes(errcodes);
    }
    return give_handle(args, code, result.intercommunicator, intercomm, result.problem);
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm* intercomm, int array_of_errcodes[]) {
    return api::spawn_programs(
        "MPI_Comm_spawn", {1, &command, &argv, &maxprocs, &info}, root, comm, intercomm, array_of_errcodes);
}

int PMPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm* intercomm,
    int array_of_errcodes[]) {
    return api::spawn_programs("MPI_Comm_spawn_multiple",
        {count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info}, root, comm, intercomm,
        array_of_errcodes);
}

int PMPI_Comm_get_parent(MPI_Comm* parent) {
    api::Arguments args("MPI_Comm_get_parent");
    if (api::checking() && !args.pointer("parent", parent)) {
        return args.code();
    }
    int code = MPI_SUCCESS;
    if (api::initialized(args, &code) == nullptr) {
        return code;
    }
    Communicator* comm = library().world().running() ? library().world().parent() : nullptr;
    *parent = comm != nullptr ? to_handle(comm) : MPI_COMM_NULL;
    return MPI_SUCCESS;
}
