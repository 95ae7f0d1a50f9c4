// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/dynamic/spawn.h"

#include "core/base/out_of_memory.h"
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

void start_none(SpawnResult* result) noexcept {
    for (SpawnResult::Started& program : result->programs) {
        program.started = 0;
    }
}

// What the root does.
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
        result->programs.push_back({std::uint64_t(one.maxprocs), 0});
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
    for (std::size_t i = 0; i < programs.size(); ++i) {
        result->programs[i].started = std::uint64_t(programs[i].processes);
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
    start_none(result);
    result->problem = "the processes were started, but do not take part in MPI: " + std::string(noted_cause(code));
    return MPI_ERR_SPAWN;
}

// Tells all processes of `comm` what the root has started.
int distribute_numbers(Communicator& comm, int root, std::vector<SpawnResult::Started>* programs) {
    Words words;
    for (const SpawnResult::Started& program : *programs) {
        words.insert(words.end(), {program.wanted, program.started});
    }
    const Refusal failure = distribute(comm, root, {}, &words);
    programs->clear();
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        programs->push_back({words[i], words[i + 1]});
    }
    return failure.code;
}

} // namespace

void SpawnResult::write_codes(int* codes) const noexcept {
    for (const Started& program : programs) {
        codes = std::fill_n(codes, program.started, MPI_SUCCESS);
        codes = std::fill_n(codes, program.wanted - program.started, MPI_ERR_SPAWN);
    }
}

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
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { // the others wait for what it tells
            Root starter(comm);
            const int started = starter.start(programs, result);
            return started == MPI_SUCCESS ? starter.connect(&leaders, result) : started;
        });
    }
    if (const int failed = distribute_numbers(comm, root, &result->programs); failed != MPI_SUCCESS) {
        return failed;
    }
    std::string problem;
    const int connected = connect_groups(comm, root, code, std::move(leaders), &result->intercommunicator, &problem);
    if (result->problem.empty()) {
        result->problem = problem;
    }
    if (connected != MPI_SUCCESS) {
        start_none(result);
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
