// SPDX-License-Identifier: BSD-3-Clause
#include "launch/supervisor.h"

#include "launch/report.h"
#include "launch/signals.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <utility>

namespace patchbay::launch {

namespace {

// A dying process closes its sockets before its parent gets SIGCHLD, so the processes that lose a connection to it may
// fail first. The supervisor waits this long for the true cause; on an idle machine it arrives within a millisecond.
constexpr std::chrono::milliseconds settle_time{50};

constexpr char never_initialized[] = " exited without having initialized MPI, as others have";

std::string seconds_text(std::chrono::milliseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(time).count());
    return text;
}

} // namespace

Supervisor::Supervisor(EventLoop& loop, Output& output, Timing& timing, bool failures_end_the_run, Hooks hooks)
    : _loop(loop),
      _output(output),
      _timing(timing),
      _failures_end_the_run(failures_end_the_run),
      _hooks(std::move(hooks)) {}

void Supervisor::add_job(JobNumber job, const JobLayout& layout) {
    SupervisedJob& added = _jobs[job];
    added.hostname = layout.hostname;
    added.is_spawned = bool(layout.parent);
    for (int rank = 0; rank < layout.ranks; ++rank) {
        added.ranks.emplace(static_cast<std::uint32_t>(rank), Rank{});
    }
    _running += layout.ranks;
    ++_starting;
}

void Supervisor::all_started(JobNumber job) {
    _jobs.at(job).all_started = true;
    --_starting;
}

// The ranks from `started` on do not run.
void Supervisor::not_started(JobNumber job, int started) {
    all_started(job);
    for (auto& [number, rank] : _jobs.at(job).ranks) {
        if (number >= static_cast<std::uint32_t>(started)) {
            rank.running = false;
            --_running;
        }
    }
}

void Supervisor::cannot_start(JobNumber job, int started, int exit_status, const std::string& text) {
    not_started(job, started);
    fail(exit_status, text);
}

void Supervisor::cannot_spawn(JobNumber job, int started) {
    not_started(job, started);
    _jobs.at(job).given_up = true;
}

void Supervisor::ended(ProcessId rank, int wait_status) {
    rank_of(rank).running = false;
    rank_of(rank).wait_status = wait_status;
    --_running;
    _timing.mark(Moment::last_exit);
    judge(rank, wait_status);
}

// Whether the whole run has to end because this rank has ended.
void Supervisor::judge(ProcessId rank, int wait_status) {
    if (_phase != Phase::running || _jobs.at(rank.job).given_up) {
        return;
    }
    const Rank& state = rank_of(rank);
    // Only the call that has spawned the job fails. Should another rank of it connect later, connected() calls again.
    if (_jobs.at(rank.job).is_spawned && !any_connected(rank.job)) {
        return;
    }
    if (WIFSIGNALED(wait_status)) {
        int signal = WTERMSIG(wait_status);
        std::string core = WCOREDUMP(wait_status) ? ", core dumped" : ", no core dumped";
        std::string text = describe(rank) + " was killed by " + signal_text(signal) + core;
        blame_once(rank, {Cause::signal, exit_signal_base + signal, signal == _passed_on ? "" : text, true});
        return;
    }
    int status = WEXITSTATUS(wait_status);
    std::string text = describe(rank) + " exited with status " + std::to_string(status);
    if (status != 0 && state.finalized) {
        // The rank has finished its work, and the other ranks may not have finished theirs.
        if (!_exit_status) {
            _exit_status = status;
            _output.message(text);
        }
    } else if (status != 0) {
        blame_once(rank, {Cause::exit, status, text + (state.ever_connected ? " without having finalized" : ""), true});
    } else if (state.ever_connected && !state.finalized) {
        blame_once(rank, {Cause::exit, exit_failure, text + ", but without having finalized", true});
    } else if (!state.ever_connected && any_connected(rank.job)) {
        blame_once(rank, {Cause::exit, exit_failure, describe(rank) + never_initialized, true});
    }
}

void Supervisor::blame_once(ProcessId rank, Failure failure) {
    if (!std::exchange(rank_of(rank).blamed, true)) {
        blame(std::move(failure));
    }
}

bool Supervisor::any_connected(JobNumber job) const {
    return std::ranges::any_of(_jobs.at(job).ranks, [](const auto& entry) { return entry.second.ever_connected; });
}

void Supervisor::blame(Failure failure) {
    if (!_failures_end_the_run && failure.cause != Cause::abort) {
        // The others learn of it by an event of PMIx, and go on.
        _exit_status = _exit_status.value_or(failure.exit_status);
        if (!failure.text.empty()) {
            _output.message(failure.text);
        }
        return;
    }
    bool is_first = !_failure;
    if (is_first || failure.cause < _failure->cause) {
        _failure = std::move(failure);
    }
    if (is_first) {
        _loop.after(settle_time, [this] { settle(); });
    }
}

void Supervisor::settle() {
    if (_phase != Phase::running) {
        return;
    }
    std::string text = _failure->text;
    if (!text.empty() && _failure->tell_others && _running > 0) {
        text += _running == 1 ? "; ending the other rank" : "; ending the other " + std::to_string(_running) + " ranks";
    }
    fail(_failure->exit_status, text);
}

std::string Supervisor::describe(ProcessId rank) const {
    return "rank " + std::to_string(rank.rank) + (rank.job == 0 ? "" : " of job " + std::to_string(rank.job)) +
        " on host " + _jobs.at(rank.job).hostname;
}

// The first failure determines the exit status; its text is the one line that is printed.
void Supervisor::fail(int exit_status, const std::string& text) {
    if (!_exit_status) {
        _exit_status = exit_status;
    }
    if (!text.empty()) {
        _output.message(text);
    }
    end_all();
}

void Supervisor::end_all() {
    if (_phase != Phase::running) {
        return;
    }
    _phase = Phase::terminating;
    _hooks.answer_aborts();
    _hooks.end_all();
}

void Supervisor::no_rank_left(bool others) {
    if (_running > 0 || _starting > 0) {
        return; // a job was being started when the node had no rank
    }
    if (_failure) {
        settle(); // no process is left that could report another cause
    }
    if (others) {
        end_all(); // a process that a rank has started is left
    } else {
        _hooks.nothing_left();
    }
}

void Supervisor::pass_on(int signal) {
    if (asks_to_end(signal)) {
        if (_passed_on != 0 || _phase != Phase::running) {
            _output.message(
                "received " + signal_text(signal) + (_passed_on == signal ? " again" : "") + "; killing all ranks");
            _exit_status = exit_signal_base + signal;
            if (_phase != Phase::killing) {
                _phase = Phase::killing;
                _hooks.kill_all();
            }
            return;
        }
        _passed_on = signal;
        _output.message("received " + signal_text(signal) + "; passed on to the ranks, once more kills them");
    }
    _hooks.pass_signal(signal);
}

void Supervisor::front_end_is_gone() {
    if (_phase == Phase::running) {
        fail(exit_signal_base + SIGKILL, "was killed; ending all ranks");
    }
}

void Supervisor::agent_is_gone() {
    _exit_status = _exit_status.value_or(exit_failure);
    _output.message("lost the connection to the agent of the node");
    _hooks.nothing_left();
}

void Supervisor::time_limit_reached(std::chrono::milliseconds limit) {
    if (_phase == Phase::running) {
        _exit_status = exit_timeout;
        fail(exit_timeout, "APPLICATION TIMED OUT, TIMEOUT = " + seconds_text(limit) + "s; ending all ranks");
    }
}

void Supervisor::connected(ProcessId rank) {
    Rank& state = rank_of(rank);
    state.ever_connected = true;
    state.finalized = false;
    _timing.mark(Moment::first_connect);
    _timing.mark(Moment::last_connect);
    const SupervisedJob& job = _jobs.at(rank.job);
    for (const auto& [number, other] : job.ranks) {
        if (job.all_started && !other.running && !other.ever_connected) {
            judge({rank.job, number}, other.wait_status);
        }
    }
}

void Supervisor::ready(ProcessId) {
    _timing.mark(Moment::first_ready);
    _timing.mark(Moment::last_ready);
}

void Supervisor::finalized(ProcessId rank) {
    rank_of(rank).finalized = true;
    _timing.mark(Moment::first_finalize);
}

void Supervisor::aborted(ProcessId rank, int status, const std::string& message) {
    if (_phase != Phase::running) {
        _hooks.answer_aborts();
        return;
    }
    // An exit status has eight bits, and 0 would mean success.
    const int exit_status = (status & 0xff) == 0 ? exit_failure : status & 0xff;
    const std::string text = describe(rank) + " aborted the job with status " + std::to_string(exit_status);
    blame({Cause::abort, exit_status, message.empty() ? text : text + ": " + message, false});
}

} // namespace patchbay::launch
