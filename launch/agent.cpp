// SPDX-License-Identifier: BSD-3-Clause
#include "launch/agent.h"

#include "launch/placement.h"
#include "launch/pmix/pmix_thread.h"
#include "launch/process_tree.h"
#include "launch/report.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

namespace patchbay::launch {

namespace {

constexpr std::chrono::milliseconds grace{500};
constexpr std::chrono::milliseconds kill_again{20};
// The first one may run before PMIx's thread looks at its sockets, and a message is read and then handled.
constexpr int rounds_of_pmix = 5;

} // namespace

Agent::Agent(EventLoop& loop, Output& output, Timing& timing, AgentInputs inputs)
    : _loop(loop),
      _output(output),
      _timing(timing),
      _ranks(output, std::move(inputs.standard_input), inputs.user_signal_mask),
      _socket_file(std::move(inputs.socket_file)),
      _link(
          loop, std::move(inputs.link), [this](std::string_view bytes) { received(bytes); },
          [this] { head_is_gone(); }) {}

void Agent::received(std::string_view bytes) {
    const Result<ToAgent> message = decode_to_agent(bytes);
    if (!message) {
        _output.message(message.error().text);
        head_is_gone();
        return;
    }
    std::visit([this](const auto& m) { take(m); }, message.value());
}

void Agent::take(const Setup& setup) {
    AgentReady answer;
    if (Status status = prepare(setup); !status) {
        answer.error = status.error().text;
    } else {
        answer.hostname = host_name();
        answer.cores = _topology->core_count();
    }
    send(answer);
}

Status Agent::prepare(const Setup& setup) {
    _timed = setup.timing;
    Result<Topology> topology = Topology::discover();
    if (!topology) {
        return topology.error();
    }
    _topology = std::move(*topology);
    _timing.mark(Moment::topology);
    auto server = PmixServer::start(_loop, *this, host_name(), setup.group_prefix, _socket_file, *_topology);
    if (!server) {
        return server.error();
    }
    _server = *server;
    _timing.mark(Moment::server);
    return watch_children();
}

Status Agent::watch_children() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    _signals = FileDescriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!_signals) {
        return Error{Errc::system, "signalfd: " + errno_text(errno)};
    }
    _loop.watch(_signals.get(), EPOLLIN, [this] {
        signalfd_siginfo info;
        while (::read(_signals.get(), &info, sizeof info) == sizeof info) {
        }
        reap();
    });
    return {};
}

void Agent::take(const StartJob& start) {
    JobLayout layout = start.layout;
    const auto cpus = bind_ranks(layout, start.bind_to, start.map_by, *_topology);
    add_psets_of_places(layout, cpus, *_topology);
    layout.first_node_rank = _ranks.total();
    LocalRanks::Started started;
    Status status = _ranks.check_room(layout.ranks);
    if (status) {
        status = _server->register_job(start.job, layout);
    }
    if (!status) {
        started.error = status.error().text;
        started.exit_status = exit_failure;
    } else {
        _timing.mark(Moment::registered);
        started = _ranks.start(start, layout, cpus, *_server, LocalRanks::Node{_topology->cpu_count(), _timed});
    }
    _has_started = true;
    if (started.count > 0) {
        _left.emplace(start.job, started.count);
    }
    _told_left.reset();
    if (started.error.empty()) {
        _timing.mark(Moment::spawned);
        send(JobStarted{start.job});
    } else {
        if (status) { // otherwise the server does not know the job
            give_up(start, started.count);
        }
        send(CannotStart{start.job, started.count, started.exit_status, started.error});
    }
    look_for_leftovers();
}

// The others of a spawned job must not run: the call that has spawned it fails, and the run goes on.
void Agent::give_up(const StartJob& start, int started) {
    if (!start.layout.parent) {
        return;
    }
    if (started > 0) {
        _ranks.kill(start.job);
    } else {
        _server->drop_job(start.job);
    }
}

void Agent::take(const PassSignal& pass) {
    _ranks.signal(pass.signal);
}

void Agent::take(const EndAll&) {
    if (_ending) {
        return;
    }
    _ending = true;
    signal_all(SIGTERM);
    signal_all(SIGCONT); // a stopped process handles no signal but SIGKILL
    _loop.after(grace, [this] {
        if (!_killing) {
            kill_until_nothing_left();
        }
    });
}

void Agent::take(const KillAll&) {
    _ending = true;
    if (!_killing) {
        kill_until_nothing_left();
    }
}

// Where the processes cannot be seen, only the ranks are known.
void Agent::signal_all(int signal) {
    if (sees_processes()) {
        signal_descendants(signal);
    } else {
        _ranks.signal(signal);
    }
}

// Repeated, because a process may have started another one during the search.
void Agent::kill_until_nothing_left() {
    _killing = true;
    if (!has_children() || (_ranks.are_none() && !sees_processes())) {
        _killing = false;
        return;
    }
    signal_all(SIGKILL);
    _loop.after(kill_again, [this] { kill_until_nothing_left(); });
}

void Agent::take(const AnswerAborts&) {
    for (const auto& done : std::exchange(_aborting, {})) {
        done();
    }
}

void Agent::take(const SpawnAnswer& answer) {
    auto waiting = _spawning.extract(answer.token);
    if (!waiting.empty()) {
        waiting.mapped()(answer.nspace, answer.error);
    }
}

// Without a head there is no run.
void Agent::head_is_gone() {
    take(KillAll{});
}

void Agent::connected(ProcessId rank) {
    _in_pmix.insert(rank);
    send(RankConnected{rank});
}

void Agent::finalized(ProcessId rank) {
    _in_pmix.erase(rank);
    send(RankFinalized{rank});
}

void Agent::aborted(ProcessId rank, int status, const std::string& message, std::function<void()> done) {
    _aborting.push_back(std::move(done));
    send(RankAborted{rank, status, message});
}

void Agent::spawn(ProcessId parent, std::vector<AppSpec> apps, std::string key, SpawnDone done) {
    const std::uint64_t token = _next_token++;
    _spawning.emplace(token, std::move(done));
    send(SpawnRequest{token, parent, std::move(apps), std::move(key)});
}

void Agent::reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
        if (const std::optional<ProcessId> rank = _ranks.ended(pid)) {
            // Posted after everything that PMIx has posted about this rank before it ended.
            _loop.post([this, rank = *rank, status] { rank_exited(rank, status, rounds_of_pmix); });
        }
    }
    _loop.post([this] { look_for_leftovers(); });
}

// A rank that has exited may have finalized nevertheless: PMIx_Finalize gives up when the server has not answered for
// two seconds, because the machine is overloaded or mpirun was stopped. Its message has arrived then, and PMIx's thread
// reads it before it has run so many closures.
void Agent::rank_exited(ProcessId rank, int wait_status, int rounds) {
    if (rounds > 0 && WIFEXITED(wait_status) && _in_pmix.contains(rank)) {
        on_pmix_thread([this, rank, wait_status, rounds] {
            _loop.post([this, rank, wait_status, rounds] { rank_exited(rank, wait_status, rounds - 1); });
        });
        return;
    }
    rank_ended(rank, wait_status);
    look_for_leftovers();
}

void Agent::rank_ended(ProcessId rank, int wait_status) {
    send(RankEnded{rank, wait_status});
    // A rank that exits with 0 in the middle of MPI has failed for those that wait for it.
    const bool finalized = _in_pmix.erase(rank) == 0;
    const bool clean = finalized && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
    _server->rank_ended(rank,
        WIFSIGNALED(wait_status) ? RankEnd::signal
            : clean              ? RankEnd::clean
                                 : RankEnd::exit_status);
    if (--_left.at(rank.job) == 0) {
        _left.erase(rank.job);
        if (!_left.empty()) {
            _server->drop_job(rank.job); // other jobs go on
        }
    }
}

void Agent::look_for_leftovers() {
    if (!_has_started || !_left.empty()) {
        return;
    }
    const bool any = has_children();
    const bool others = any && sees_processes();
    if (_told_left != others) {
        _told_left = others;
        if (any && !others) {
            _output.message(
                "/proc is not that of this PID namespace: processes that the ranks have started may be left; "
                "mount it anew (unshare --mount-proc)");
        }
        send(NoRankLeft{others});
    }
}

} // namespace patchbay::launch
