// SPDX-License-Identifier: BSD-3-Clause
#include "launch/supervisor.h"

#include "launch/process_tree.h"
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
constexpr std::chrono::milliseconds grace{500};
constexpr std::chrono::milliseconds kill_again{20};

constexpr char never_initialized[] = " exited without having initialized MPI, as others have";

std::string seconds_text(std::chrono::milliseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(time).count());
    return text;
}

} // namespace

Supervisor::Supervisor(EventLoop& loop, Output& output, Timing& timing, const JobLayout& layout, Hooks hooks)
    : _loop(loop),
      _output(output),
      _timing(timing),
      _hooks(std::move(hooks)),
      _hostname(layout.hostname),
      _ranks(static_cast<std::size_t>(layout.ranks)) {}

void Supervisor::started(int rank, pid_t pid) {
    _ranks[rank].pid = pid;
    _ranks[rank].running = true;
    ++_running;
}

void Supervisor::all_started() {
    _all_started = true;
    look_for_leftovers();
}

void Supervisor::cannot_start(int exit_status, const std::string& text) {
    fail(exit_status, text);
    _all_started = true;
    look_for_leftovers();
}

void Supervisor::reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
        auto rank = std::ranges::find(_ranks, pid, &Rank::pid);
        if (rank != _ranks.end()) {
            // Posted after everything that PMIx has posted about this rank before it ended.
            _loop.post([this, index = static_cast<int>(rank - _ranks.begin()), status] { rank_ended(index, status); });
        }
    }
    _loop.post([this] { look_for_leftovers(); });
}

void Supervisor::rank_ended(int rank, int wait_status) {
    _ranks[rank].running = false;
    _ranks[rank].pid = -1; // another process may get the same number
    --_running;
    _timing.mark(Moment::last_exit);
    judge(rank, wait_status);
    _hooks.rank_ended(rank, WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0,
        WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0);
}

// Whether the whole job has to end because this rank has ended.
void Supervisor::judge(int rank, int wait_status) {
    if (_phase != Phase::running) {
        return;
    }
    const Rank& state = _ranks[rank];
    if (WIFSIGNALED(wait_status)) {
        int signal = WTERMSIG(wait_status);
        std::string core = WCOREDUMP(wait_status) ? ", core dumped" : ", no core dumped";
        std::string text = describe(rank) + " was killed by " + signal_text(signal) + core;
        blame({Cause::signal, exit_signal_base + signal, signal == _passed_on ? "" : text, true});
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
        blame({Cause::exit, status, text + (state.ever_connected ? " without having finalized" : ""), true});
    } else if (state.ever_connected && !state.finalized) {
        blame({Cause::exit, exit_failure, text + ", but without having finalized", true});
    } else if (!state.ever_connected && std::ranges::any_of(_ranks, &Rank::ever_connected)) {
        blame({Cause::exit, exit_failure, describe(rank) + never_initialized, true});
    }
}

void Supervisor::blame(Failure failure) {
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

std::string Supervisor::describe(int rank) const {
    return "rank " + std::to_string(rank) + " on host " + _hostname;
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
    for (const auto& done : std::exchange(_aborting, {})) {
        done();
    }
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT); // a stopped process handles no signal but SIGKILL
    _loop.after(grace, [this] {
        if (_phase == Phase::terminating) {
            kill_all();
        }
    });
}

// Repeated, because a process may have started another one during the search.
void Supervisor::kill_all() {
    _phase = Phase::killing;
    if (_nothing_left) {
        return;
    }
    signal_descendants(SIGKILL);
    _loop.after(kill_again, [this] { kill_all(); });
}

void Supervisor::look_for_leftovers() {
    if (!_all_started || _running > 0 || _nothing_left) {
        return;
    }
    if (_failure) {
        settle(); // no process is left that could report another cause
    }
    if (has_children()) {
        end_all(); // a process that a rank has started is left
        return;
    }
    _nothing_left = true;
    _hooks.nothing_left();
}

void Supervisor::pass_on(int signal) {
    if (asks_to_end(signal)) {
        if (_passed_on != 0 || _phase != Phase::running) {
            _output.message(
                "received " + signal_text(signal) + (_passed_on != 0 ? " again" : "") + "; killing all ranks");
            _exit_status = exit_signal_base + signal;
            if (_phase != Phase::killing) {
                kill_all();
            }
            return;
        }
        _passed_on = signal;
        _output.message("received " + signal_text(signal) + "; passed on to the ranks, once more kills them");
    }
    for (const Rank& rank : _ranks) {
        if (rank.running) {
            ::kill(-rank.pid, signal);
        }
    }
}

void Supervisor::front_end_is_gone() {
    if (_phase == Phase::running) {
        fail(exit_signal_base + SIGKILL, "was killed; ending all ranks");
    }
}

void Supervisor::time_limit_reached(std::chrono::milliseconds limit) {
    if (_phase == Phase::running) {
        _exit_status = exit_timeout;
        fail(exit_timeout, "APPLICATION TIMED OUT, TIMEOUT = " + seconds_text(limit) + "s; ending all ranks");
    }
}

void Supervisor::connected(int rank) {
    Rank& state = _ranks[rank];
    state.ever_connected = true;
    state.finalized = false;
    _timing.mark(Moment::first_connect);
    _timing.mark(Moment::last_connect);
    auto left_out = std::ranges::find_if(
        _ranks, [this](const Rank& other) { return _all_started && !other.running && !other.ever_connected; });
    if (left_out != _ranks.end() && _phase == Phase::running) {
        blame({Cause::exit, exit_failure, describe(static_cast<int>(left_out - _ranks.begin())) + never_initialized,
            true});
    }
}

void Supervisor::ready(int) {
    _timing.mark(Moment::first_ready);
    _timing.mark(Moment::last_ready);
}

void Supervisor::finalized(int rank) {
    _ranks[rank].finalized = true;
    _timing.mark(Moment::first_finalize);
}

void Supervisor::aborted(int rank, int status, const std::string& message, std::function<void()> done) {
    if (_phase != Phase::running) {
        done();
        return;
    }
    _aborting.push_back(std::move(done));
    // An exit status has eight bits, and 0 would mean success.
    int exit_status = (status & 0xff) == 0 ? exit_failure : status & 0xff;
    std::string text = describe(rank) + " aborted the job with status " + std::to_string(status);
    blame({Cause::abort, exit_status, message.empty() ? text : text + ": " + message, false});
}

} // namespace patchbay::launch
