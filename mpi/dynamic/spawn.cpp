// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/dynamic/spawn.h"

#include "core/base/random.h"
#include "core/runtime/runtime.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/highest_code.h"
#include "mpi/communicators/leader_exchange.h"
#include "mpi/dynamic/leaders.h"
#include "mpi/dynamic/spawn_info.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"

#include <algorithm>

namespace patchbay {

namespace {

constexpr std::size_t key_digits = 32;

// What the root does. The codes are those of the processes that were to be started.
class Root {
public:
    explicit Root(Communicator& comm) noexcept
        : _instance(*comm.instance),
          _services(_instance.runtime()) {}

    int start(const std::vector<SpawnArguments>& arguments, SpawnResult* result);
    int connect(Ref<Communicator>* leaders, SpawnResult* result);

private:
    int cause_of_failure();

    Instance& _instance;
    LauncherServices _services;
    std::string _key;
    std::string _nspace;
};

int Root::start(const std::vector<SpawnArguments>& arguments, SpawnResult* result) {
    std::vector<SpawnProgram> programs;
    for (const SpawnArguments& one : arguments) {
        result->codes.resize(result->codes.size() + std::size_t(one.maxprocs), MPI_ERR_SPAWN);
    }
    for (const SpawnArguments& one : arguments) {
        SpawnProgram& program = programs.emplace_back();
        if (const int code = describe(one, _instance.runtime().hostname(), &program, &result->problem);
            code != MPI_SUCCESS) {
            return code;
        }
    }
    _key = "spawn " + random_hex(key_digits);
    const Result<LauncherRequest> request = _services.spawn(programs, _key);
    if (complete(_instance, request) != MPI_SUCCESS) {
        // Processes could not be started: its class is the only one that programs know for that.
        return request ? cause_of_failure() : note_cause(MPI_ERR_SPAWN, request.error().text);
    }
    _nspace = request.value().text();
    std::size_t first = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        std::fill_n(result->codes.begin() + std::ptrdiff_t(first), programs[i].processes, MPI_SUCCESS);
        first += std::size_t(arguments[i].maxprocs);
    }
    return MPI_SUCCESS;
}

int Root::cause_of_failure() {
    const Result<LauncherRequest> cause = _services.failure(_key);
    if (complete(_instance, cause) != MPI_SUCCESS) {
        return note_cause(MPI_ERR_SPAWN, "mpirun could not start the processes");
    }
    const std::string text = cause.value().text();
    complete(_instance, _services.forget_failure(_key));
    return note_cause(MPI_ERR_SPAWN, text);
}

// Processes that have ended before they called MPI_Init were not started as far as the program is concerned.
int Root::connect(Ref<Communicator>* leaders, SpawnResult* result) {
    const int code = connect_leaders(_instance, {{_nspace, 0}, _key, false}, leaders);
    if (code == MPI_SUCCESS || code == MPI_ERR_NO_MEM) {
        return code;
    }
    std::ranges::fill(result->codes, MPI_ERR_SPAWN);
    result->problem = "the processes were started, but do not take part in MPI: " + std::string(noted_cause(code));
    return MPI_ERR_SPAWN;
}

// Gives the codes of the root to all processes of `comm`.
int distribute_codes(Communicator& comm, int root, std::vector<int>* codes) {
    Words words(codes->begin(), codes->end());
    const Refusal failure = distribute(comm, root, {}, &words);
    codes->assign(words.begin(), words.end());
    return failure.code;
}

} // namespace

int spawn(Communicator& comm, int root, const std::vector<SpawnArguments>& programs, int refused, SpawnResult* result) {
    const GroupArguments arguments = compare_arguments(comm, root, refused);
    if (arguments.refusal.happened()) {
        result->problem = arguments.refusal.text();
        return arguments.refusal.code;
    }
    comm.instance->forget_ended_jobs(); // the new processes get the slots of those that were started before
    int code = MPI_SUCCESS;
    Ref<Communicator> leaders;
    if (comm.rank == root) {
        Root starter(comm);
        code = starter.start(programs, result);
        code = code == MPI_SUCCESS ? starter.connect(&leaders, result) : code;
    }
    if (const int failed = distribute_codes(comm, root, &result->codes); failed != MPI_SUCCESS) {
        return failed;
    }
    std::string problem;
    const int connected = connect_groups(comm, root, code, std::move(leaders), &result->intercommunicator, &problem);
    if (result->problem.empty()) {
        result->problem = problem;
    }
    if (connected != MPI_SUCCESS) {
        std::ranges::fill(result->codes, MPI_ERR_SPAWN);
    }
    return connected;
}

int connect_to_parent(Communicator& world, Communicator** made, std::string* problem) {
    *made = nullptr;
    const std::string key = LauncherServices::parent_key();
    Runtime& runtime = world.instance->runtime();
    if (key.empty() || runtime.is_singleton()) {
        return MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    Ref<Communicator> leaders;
    if (world.rank == 0) {
        const Result<ProcessName> parent = LauncherServices(runtime).parent();
        code = parent ? connect_leaders(*world.instance, {parent.value(), key, true}, &leaders)
                      : note_cause(MPI_ERR_OTHER, parent.error().text);
    }
    code = connect_groups(world, 0, code, std::move(leaders), made, problem);
    const int highest = highest_code(world, code);
    if (highest != MPI_SUCCESS && *made != nullptr) {
        free_communicator(**made);
        *made = nullptr;
        *problem = "another process of this job has no connection to it";
    }
    return highest;
}

} // namespace patchbay
