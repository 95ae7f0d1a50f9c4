// SPDX-License-Identifier: BSD-3-Clause
#include "launch/front_end.h"

#include "launch/control_socket.h"
#include "launch/process_tree.h"
#include "launch/report.h"
#include "launch/signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <utility>

namespace patchbay::launch {

namespace {

// The time in which the node daemon must have killed the ranks. After it the front end assumes that the node daemon
// hangs.
constexpr std::chrono::seconds time_to_kill{2};

// How often the front end in the background looks whether it is in the foreground, where rank 0 may want the terminal.
constexpr int milliseconds_between_looks = 200;

FileDescriptor make_signal_descriptor() {
    sigset_t set = forwarded_signals();
    ::sigaddset(&set, SIGCHLD);
    return FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

} // namespace

FrontEnd::FrontEnd(pid_t launcher, FileDescriptor control, FileDescriptor terminal_pipe, std::vector<pid_t> others)
    : _launcher(launcher),
      _control(std::move(control)),
      _terminal_pipe(std::move(terminal_pipe)),
      _others(std::move(others)),
      _signals(make_signal_descriptor()) {
    if (_terminal_pipe) {
        // Only this process has this end of the pipe open; the end of rank 0 stays blocking.
        ::fcntl(_terminal_pipe.get(), F_SETFL, O_NONBLOCK);
    }
}

FrontEnd::Ended FrontEnd::run() {
    while (true) {
        wait_for_events();
        int status = 0;
        pid_t ended = ::waitpid(_launcher, &status, WNOHANG);
        if (ended == 0) {
            continue;
        }
        if (ended < 0) {
            return end_without_launcher(SIGKILL, "cannot wait for its node daemon: " + errno_text(errno));
        }
        if (WIFEXITED(status)) {
            return {WEXITSTATUS(status), ""};
        }
        return end_without_launcher(WTERMSIG(status),
            "its node daemon (pid " + std::to_string(_launcher) + ") was ended by " + signal_text(WTERMSIG(status)) +
                "; all ranks have been ended");
    }
}

void FrontEnd::wait_for_events() {
    pollfd polls[3] = {{_signals.get(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLOUT, 0}};
    const bool wants_input = _terminal_pipe && _begin == _end;
    const bool may_read = wants_input && may_read_terminal();
    if (may_read) {
        polls[1].fd = STDIN_FILENO;
    }
    if (_terminal_pipe) {
        polls[2].fd = _terminal_pipe.get();
        polls[2].events = _begin != _end ? POLLOUT : 0;
    }
    const int longest = wants_input && !may_read ? milliseconds_between_looks : -1;
    const int left = milliseconds_left();
    const int limit = left < 0 || longest < 0 ? std::max(left, longest) : std::min(left, longest);
    if (::poll(polls, std::size(polls), limit) == 0 && milliseconds_left() == 0) {
        ::kill(_launcher, SIGKILL); // the node daemon hangs
        _deadline.reset();
    }
    if (polls[0].revents != 0) {
        handle_signal();
    }
    if (polls[2].revents & POLLERR) {
        _terminal_pipe.reset(); // rank 0 has closed its standard input
    } else if ((polls[1].revents | polls[2].revents) != 0) {
        move_terminal_input(polls[1].revents != 0);
    }
}

int FrontEnd::milliseconds_left() const {
    if (!_deadline) {
        return -1;
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*_deadline - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::max<long long>(left, 0));
}

// A background job must not read from its terminal: the kernel would stop this process, although the job may never need
// input. The shell sends SIGCONT when it moves a stopped job to the foreground, and nothing when it moves a running
// one.
bool FrontEnd::may_read_terminal() const {
    pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
    return foreground < 0 || foreground == ::getpgrp();
}

void FrontEnd::move_terminal_input(bool readable) {
    if (readable && _begin == _end) {
        ssize_t size = ::read(STDIN_FILENO, _buffer, sizeof _buffer);
        if (size <= 0) {
            if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
                _terminal_pipe.reset(); // rank 0 reads the end of its input
            }
            return;
        }
        _begin = 0;
        _end = static_cast<std::size_t>(size);
    }
    ssize_t written = ::write(_terminal_pipe.get(), _buffer + _begin, _end - _begin);
    if (written > 0) {
        _begin += static_cast<std::size_t>(written);
    } else if (errno != EAGAIN && errno != EINTR) {
        _terminal_pipe.reset();
    }
}

void FrontEnd::handle_signal() {
    signalfd_siginfo info;
    while (::read(_signals.get(), &info, sizeof info) == sizeof info) {
        int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            continue;
        }
        send_signal_number(_control.get(), signal);
        if (asks_to_end(signal) && ++_requests_to_end == 2) {
            _deadline = std::chrono::steady_clock::now() + time_to_kill;
        }
        if (signal == SIGTSTP) {
            ::raise(SIGSTOP);
        }
    }
}

// The node daemon was killed or has crashed. Its ranks die with it (PR_SET_PDEATHSIG). The processes that the ranks
// have started are children of this process now, because it is the next subreaper.
FrontEnd::Ended FrontEnd::end_without_launcher(int signal, std::string cause) {
    while (has_children()) {
        const std::vector<pid_t> left = descendants(_others);
        if (left.empty()) {
            break;
        }
        for (const pid_t pid : left) {
            ::kill(pid, SIGKILL);
        }
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        timespec pause{0, 2'000'000};
        ::nanosleep(&pause, nullptr);
    }
    return {exit_signal_base + signal, std::move(cause)};
}

} // namespace patchbay::launch
