// SPDX-License-Identifier: BSD-3-Clause
#include "launch/launcher.h"

#include "launch/agent.h"
#include "launch/control_socket.h"
#include "launch/event_loop.h"
#include "launch/head.h"
#include "launch/output.h"
#include "launch/report.h"
#include "launch/signals.h"
#include "launch/user_socket.h"

#include <cerrno>
#include <chrono>
#include <optional>
#include <sys/epoll.h>

namespace patchbay::launch {

namespace {

// How long the reader of the output may take when mpirun itself has been killed.
constexpr std::chrono::seconds time_to_read{2};

class Launcher {
public:
    Launcher(const JobSpec& job, LauncherInputs inputs)
        : _job(job),
          _control(std::move(inputs.control)),
          _timing(inputs.timing),
          _output(_loop, job),
          _agent_inputs{{}, std::move(inputs.standard_input), inputs.user_signal_mask, inputs.socket_file},
          _socket_file(std::move(inputs.socket_file)) {}

    int run();

private:
    void watch_control();
    void finish();
    void stop_soon();

    const JobSpec& _job;
    FileDescriptor _control;
    Timing _timing;
    EventLoop _loop;
    Output _output;
    AgentInputs _agent_inputs;
    std::string _socket_file;
    std::optional<Agent> _agent;
    std::optional<Head> _head;
    bool _front_end_is_gone = false;
    bool _is_finishing = false;      // no process is left: only the reader of the output is waited for
    std::optional<int> _given_up_by; // a signal that has ended this wait
};

int Launcher::run() {
    auto [head_end, agent_end] = Link::make_pair();
    if (!head_end) {
        report("cannot make a socket: " + errno_text(errno));
        return exit_failure;
    }
    _agent_inputs.link = std::move(agent_end);
    _agent.emplace(_loop, _output, _timing, std::move(_agent_inputs));
    _head.emplace(
        _loop, _output, _timing, _job, std::move(head_end),
        [this] { _loop.watch(_control.get(), EPOLLIN, [this] { watch_control(); }); }, [this] { finish(); });
    _loop.post([this] { _head->start(); });
    _loop.run();
    remove_user_socket(_socket_file);
    _timing.mark(Moment::torn_down);
    if (_job.timing) {
        std::string table = _timing.table();
        [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, table.data(), table.size());
    }
    const int status = _given_up_by ? exit_signal_base + *_given_up_by : _head->exit_status();
    return status == 0 && _output.has_lost() ? exit_failure : status;
}

void Launcher::watch_control() {
    while (std::optional<int> signal = receive_signal_number(_control.get())) {
        if (*signal == 0) {
            _loop.unwatch(_control.get());
            _front_end_is_gone = true;
            _head->front_end_is_gone();
            stop_soon();
            return;
        }
        if (_is_finishing && asks_to_end(*signal)) {
            _given_up_by = *signal;
            _loop.stop();
        }
        _head->pass_on(*signal);
    }
}

void Launcher::finish() {
    _is_finishing = true;
    _output.finish([this] { _loop.stop(); });
    stop_soon();
}

// The reader may be a terminal or a process that never reads: without a front end no signal could end the wait for it.
void Launcher::stop_soon() {
    if (_front_end_is_gone && _is_finishing) {
        _loop.after(time_to_read, [this] { _loop.stop(); });
    }
}

} // namespace

void run_launcher(const JobSpec& job, LauncherInputs inputs) {
    auto* launcher = new Launcher(job, std::move(inputs)); // the PMIx server refers to it until the end
    ::_exit(launcher->run());
}

} // namespace patchbay::launch
