// SPDX-License-Identifier: BSD-3-Clause
#include "launch/local_ranks.h"

#include "core/memory/node_segment.h"
#include "core/runtime/announced_descriptor.h"
#include "core/runtime/dynamic_protocol.h"
#include "core/runtime/launch_environment.h"
#include "core/runtime/node_reports.h"
#include "core/runtime/ready_protocol.h"
#include "core/runtime/runtime.h"
#include "launch/placement.h"
#include "launch/pmix/server.h"
#include "launch/report.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>

namespace patchbay::launch {

namespace {

// Of mpirun itself: its pipes, sockets, event loop and PMIx.
constexpr std::int64_t files_beside_ranks = 128;
constexpr std::int64_t fewest_files_beside_ranks = 24;

std::string name_of(ProcessId rank) {
    return (rank.job == 0 ? "" : std::to_string(rank.job) + ".") + std::to_string(rank.rank);
}

// Variables that the library and its PMIx client would add in MPI_Init: other threads of the program may read the
// environment then.
void prepare_for_library(Environment& environment, ProcessId rank) {
    environment.set(hidden_name(child_variable), std::to_string(rank.rank));
    const char* security = environment.get("PMIX_SECURITY_MODE");
    if (security != nullptr && environment.get("PMIX_MCA_psec") == nullptr) {
        environment.set("PMIX_MCA_psec", std::string(security));
    }
}

// It began with a process group of its own.
void signal_rank(pid_t pid, int number) {
    ::kill(-pid, number);
    if (::getpgid(pid) != pid) {
        ::kill(pid, number);
    }
}

} // namespace

LocalRanks::LocalRanks(Output& output, FileDescriptor standard_input, const sigset_t& user_signal_mask)
    : _output(output),
      _standard_input(std::move(standard_input)),
      _null(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      _segment(::memfd_create("patchbay-node", MFD_CLOEXEC)), // empty until the first rank sets its size
      _user_signal_mask(user_signal_mask) {
    if (!_null || !_segment) {
        _missing = (_null ? "memfd_create: " : "cannot open /dev/null: ") + errno_text(errno);
    }
    if (Result<int> reports = make_node_reports()) { // without it, each rank prints its errors
        _reports = FileDescriptor(*reports);
    }
    ::getrlimit(RLIMIT_NOFILE, &_user_file_limit);
    raise_file_limit(0); // for the server of PMIx, which comes next
}

// Raises the soft limit on descriptors for the pipes and files of this process and the sockets of PMIx. The ranks get
// the limit of the user.
void LocalRanks::raise_file_limit(std::int64_t running) {
    rlimit needed = _user_file_limit;
    needed.rlim_cur =
        std::clamp<rlim_t>(rlim_t(files_of(running) + files_beside_ranks), needed.rlim_cur, _user_file_limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &needed);
}

Status LocalRanks::check_room(int ranks) const {
    const std::int64_t total = std::int64_t(_by_pid.size()) + ranks; // those that have ended need nothing
    if (Status possible = check_number_of_ranks(total); !possible) {
        return possible;
    }
    const std::int64_t needed = files_of(total);
    const rlim_t limit = _user_file_limit.rlim_max;
    if (limit != RLIM_INFINITY && rlim_t(needed + fewest_files_beside_ranks) > limit) {
        return Error{Errc::out_of_memory,
            std::to_string(total) + " ranks need " + std::to_string(needed) +
                " open files in mpirun and more, but the limit is " + std::to_string(limit) +
                "; raise it (ulimit -Hn)"};
    }
    return {};
}

LocalRanks::Started LocalRanks::start(const StartJob& job, const JobLayout& layout,
    const std::vector<std::optional<cpu_set_t>>& cpus, PmixServer& server, const Node& node) {
    _total += layout.ranks;
    raise_file_limit(std::int64_t(_by_pid.size()) + layout.ranks);
    if (!_missing.empty()) {
        return {0, exit_failure, _missing};
    }
    Started started;
    for (int rank = 0; rank < layout.ranks && started.error.empty(); ++rank) {
        const Program& program = job.programs[static_cast<std::size_t>(layout.app_of(rank))];
        Environment environment(program.environment);
        environment.set(node_segment_variable, announce_descriptor(_segment.get()));
        if (_reports) {
            environment.set(node_reports_variable, announce_descriptor(_reports.get()));
        }
        environment.set(node_cores_variable, std::to_string(node.cpus));
        if (!layout.parent_key.empty()) {
            environment.set(parent_variable, layout.parent_key);
        }
        if (node.timed) {
            environment.set(ready_variable, "1");
        }
        Started one = start_rank(
            {job, cpus, server}, {job.job, static_cast<std::uint32_t>(rank)}, program, std::move(environment));
        started = {started.count + one.count, one.exit_status, std::move(one.error)};
    }
    // From now on only the ranks have this descriptor open, so that the writer of rank 0's input gets an error when
    // rank 0 has closed it.
    _standard_input.reset();
    return started;
}

LocalRanks::Started LocalRanks::start_rank(
    const Shared& shared, ProcessId rank, const Program& program, Environment environment) {
    Result<Output::RankEnds> output = _output.add_rank(name_of(rank));
    const Status status = output ? shared.server.add_to_environment(rank, environment) : output.error();
    if (!status) {
        return {0, exit_failure, status.error().text};
    }
    prepare_for_library(environment, rank);
    ProcessPlan plan = plan_of(shared, rank, program);
    plan.environment = environment.pointers();
    plan.standard_fds[1] = output->out.get();
    plan.standard_fds[2] = output->err.get();
    const SpawnResult spawned = spawn(plan);
    if (spawned.error != 0) {
        const int exit_status = !spawned.at_exec ? exit_failure
            : spawned.error == ENOENT            ? exit_not_found
                                                 : exit_cannot_run;
        const char* hint = spawned.at_exec && spawned.error == ENOENT
            ? "; the interpreter that its first line, or its ELF header, names does not exist"
            : "";
        return {0, exit_status,
            "cannot start rank " + name_of(rank) + " (" + plan.path + "): " + spawned.step + ": " +
                errno_text(spawned.error) + hint};
    }
    _by_pid.emplace(spawned.pid, rank);
    return {1, 0, ""};
}

ProcessPlan LocalRanks::plan_of(const Shared& shared, ProcessId rank, const Program& program) {
    ProcessPlan plan;
    plan.path = program.path;
    for (const std::string& word : program.argv) {
        plan.argv.push_back(const_cast<char*>(word.c_str()));
    }
    plan.argv.push_back(nullptr);
    plan.working_directory = program.working_directory;
    const bool reads = rank == ProcessId{0, 0} && _standard_input;
    plan.standard_fds[0] = reads ? _standard_input.get() : _null.get();
    plan.inherited_fds = {_segment.get()};
    if (_reports) {
        plan.inherited_fds.push_back(_reports.get());
    }
    plan.cpus = shared.cpus[rank.rank];
    plan.signal_mask = _user_signal_mask;
    plan.file_limit = _user_file_limit;
    return plan;
}

std::optional<ProcessId> LocalRanks::ended(pid_t pid) {
    const auto found = _by_pid.find(pid);
    if (found == _by_pid.end()) {
        return std::nullopt;
    }
    const ProcessId rank = found->second;
    _by_pid.erase(found); // another process may get the same number
    return rank;
}

void LocalRanks::kill(JobNumber job) const {
    for (const auto& [pid, rank] : _by_pid) {
        if (rank.job == job) {
            signal_rank(pid, SIGKILL);
        }
    }
}

void LocalRanks::signal(int number) const {
    for (const auto& [pid, rank] : _by_pid) {
        signal_rank(pid, number);
    }
}

} // namespace patchbay::launch
