// SPDX-License-Identifier: BSD-3-Clause
#include "launch/launcher.h"

#include "core/memory/node_segment.h"
#include "core/runtime/ready_protocol.h"
#include "core/runtime/runtime.h"
#include "launch/control_socket.h"
#include "launch/environment.h"
#include "launch/event_loop.h"
#include "launch/output.h"
#include "launch/placement.h"
#include "launch/pmix/server.h"
#include "launch/process_spawn.h"
#include "launch/program_search.h"
#include "launch/report.h"
#include "launch/supervisor.h"
#include "launch/topology.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>

namespace patchbay::launch {

namespace {

// Raises the soft limit on descriptors for the pipes of this process and the sockets of PMIx. The ranks get the limit
// of the user.
rlimit raise_file_limit(int ranks) {
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    rlimit needed = before;
    needed.rlim_cur = std::clamp<rlim_t>(static_cast<rlim_t>(ranks) * 4 + 128, before.rlim_cur, before.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &needed);
    return before;
}

// Prints a line and exits with a status, before anything has been started.
struct CannotRun {
    int exit_status;
    std::string text;
};

class Launcher {
public:
    Launcher(const JobSpec& job, LauncherInputs inputs)
        : _job(job),
          _inputs(std::move(inputs)),
          _environment(Environment::inherited()) {}

    int run();

private:
    std::optional<CannotRun> prepare();
    std::optional<CannotRun> find_programs();
    std::optional<CannotRun> start_server();
    void make_environment();
    void watch_events();
    void start_ranks();
    bool start_rank(int rank);
    ProcessPlan plan_of(int rank, const AppSpec& app, std::size_t app_index);
    void watch_control();
    void finish();

    const JobSpec& _job;
    LauncherInputs _inputs;
    Environment _environment; // of every rank, without the variables of one program or one rank
    EventLoop _loop;
    std::optional<Topology> _topology;
    Placement _placement;
    std::vector<std::string> _programs; // path per app
    FileDescriptor _node_segment;
    FileDescriptor _null;
    FileDescriptor _signals;
    rlimit _user_file_limit{};
    std::optional<Output> _output;
    std::optional<Supervisor> _supervisor;
    PmixServer* _server = nullptr;
};

int Launcher::run() {
    if (std::optional<CannotRun> reason = prepare()) {
        report(reason->text);
        return reason->exit_status;
    }
    watch_events();
    start_ranks();
    _loop.run();
    _inputs.timing.mark(Moment::torn_down);
    if (_job.timing) {
        std::string table = _inputs.timing.table();
        [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, table.data(), table.size());
    }
    return _supervisor->exit_status();
}

std::optional<CannotRun> Launcher::prepare() {
    if (std::optional<CannotRun> reason = find_programs()) {
        return reason;
    }
    Result<Topology> topology = Topology::discover();
    if (!topology) {
        return CannotRun{exit_failure, topology.error().text};
    }
    _topology = std::move(*topology);
    Result<Placement> placement = place(_job, *_topology);
    if (!placement) {
        return CannotRun{exit_usage, placement.error().text};
    }
    _placement = std::move(*placement);
    _user_file_limit = raise_file_limit(_placement.layout.ranks);
    _inputs.timing.mark(Moment::topology);

    _null = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    // The memfd is empty until the first rank sets its size. It exists exactly as long as a process has it open.
    _node_segment = FileDescriptor(::memfd_create("patchbay-node", MFD_CLOEXEC));
    if (!_null || !_node_segment) {
        return CannotRun{
            exit_failure, std::string(_null ? "memfd_create" : "cannot open /dev/null") + ": " + errno_text(errno)};
    }
    make_environment();
    return start_server();
}

std::optional<CannotRun> Launcher::find_programs() {
    for (const AppSpec& app : _job.apps) {
        FoundProgram found = find_program(app, _environment.get("PATH"));
        if (!found.error.empty()) {
            return CannotRun{found.exit_status, found.error};
        }
        _programs.push_back(found.path);
    }
    return std::nullopt;
}

void Launcher::make_environment() {
    add_parameters(_environment, _job.parameters);
    _environment.set(node_segment_variable, "fd=" + std::to_string(_node_segment.get()));
    _environment.set(node_cores_variable, std::to_string(_topology->cpu_count()));
    if (_job.timing) {
        _environment.set(ready_variable, "1");
    }
}

std::optional<CannotRun> Launcher::start_server() {
    _output.emplace(_loop, _job, _placement.layout.ranks);
    auto rank_ended = [this](int rank, int exit_status, int ended_by) {
        PmixServer::End end = ended_by != 0 ? PmixServer::End::signal
            : exit_status != 0              ? PmixServer::End::exit_status
                                            : PmixServer::End::clean;
        _server->rank_ended(rank, end);
    };
    _supervisor.emplace(
        _loop, *_output, _inputs.timing, _placement.layout, Supervisor::Hooks{rank_ended, [this] { finish(); }});
    auto server = PmixServer::start(_loop, *_supervisor, _placement.layout, *_topology);
    if (!server) {
        return CannotRun{exit_failure, server.error().text};
    }
    _server = *server;
    _inputs.timing.mark(Moment::server);
    if (Status status = _server->register_job(); !status) {
        return CannotRun{exit_failure, status.error().text};
    }
    _inputs.timing.mark(Moment::registered);
    return std::nullopt;
}

void Launcher::watch_events() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    _signals = FileDescriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    _loop.watch(_signals.get(), EPOLLIN, [this] {
        signalfd_siginfo info;
        while (::read(_signals.get(), &info, sizeof info) == sizeof info) {
        }
        _supervisor->reap();
    });
    _loop.watch(_inputs.control.get(), EPOLLIN, [this] { watch_control(); });
    if (_job.timeout) {
        _loop.after(*_job.timeout, [this] { _supervisor->time_limit_reached(*_job.timeout); });
    }
}

void Launcher::watch_control() {
    while (std::optional<int> signal = receive_signal_number(_inputs.control.get())) {
        if (*signal == 0) {
            _loop.unwatch(_inputs.control.get());
            _supervisor->front_end_is_gone();
            return;
        }
        _supervisor->pass_on(*signal);
    }
}

void Launcher::start_ranks() {
    for (int rank = 0; rank < _placement.layout.ranks; ++rank) {
        if (!start_rank(rank)) {
            return;
        }
    }
    // From now on only the ranks have these descriptors open, so that the writer of rank 0's input gets an error when
    // rank 0 has closed it.
    _inputs.standard_input.reset();
    _inputs.timing.mark(Moment::spawned);
    _supervisor->all_started();
}

bool Launcher::start_rank(int rank) {
    std::size_t app_index = static_cast<std::size_t>(_placement.layout.app_of(rank));
    const AppSpec& app = _job.apps[app_index];
    Environment environment = _environment;
    for (const auto& [name, value] : app.environment) {
        environment.set(name, value);
    }
    Result<Output::RankEnds> output = _output->add_rank(rank);
    Status status = output ? _server->add_to_environment(rank, environment) : output.error();
    if (!status) {
        _supervisor->cannot_start(exit_failure, status.error().text);
        return false;
    }
    ProcessPlan plan = plan_of(rank, app, app_index);
    plan.environment = environment.pointers();
    plan.standard_fds[1] = output->out.get();
    plan.standard_fds[2] = output->err.get();
    SpawnResult spawned = spawn(plan);
    if (spawned.error != 0) {
        int exit_status = spawned.error == ENOENT ? exit_not_found : exit_cannot_run;
        _supervisor->cannot_start(exit_status,
            "cannot start rank " + std::to_string(rank) + " (" + plan.path + "): " + spawned.step + ": " +
                errno_text(spawned.error));
        return false;
    }
    _supervisor->started(rank, spawned.pid);
    return true;
}

ProcessPlan Launcher::plan_of(int rank, const AppSpec& app, std::size_t app_index) {
    ProcessPlan plan;
    plan.path = _programs[app_index];
    for (const std::string& word : app.argv) {
        plan.argv.push_back(const_cast<char*>(word.c_str()));
    }
    plan.argv.push_back(nullptr);
    plan.working_directory = app.working_directory;
    plan.standard_fds[0] = rank == 0 ? _inputs.standard_input.get() : _null.get();
    plan.inherited_fd = _node_segment.get();
    plan.cpus = _placement.cpus[static_cast<std::size_t>(rank)];
    plan.signal_mask = _inputs.user_signal_mask;
    plan.file_limit = _user_file_limit;
    return plan;
}

void Launcher::finish() {
    _output->finish([this] { _loop.stop(); });
}

} // namespace

void run_launcher(const JobSpec& job, LauncherInputs inputs) {
    auto* launcher = new Launcher(job, std::move(inputs)); // the PMIx server refers to it until the end
    ::_exit(launcher->run());
}

} // namespace patchbay::launch
