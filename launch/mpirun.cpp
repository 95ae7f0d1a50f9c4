// SPDX-License-Identifier: BSD-3-Clause
#include "launch/command_line.h"
#include "launch/control_socket.h"
#include "launch/front_end.h"
#include "launch/launcher.h"
#include "launch/report.h"
#include "launch/signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace patchbay;
using namespace patchbay::launch;

// Nothing we open may land on 0, 1 or 2.
void open_standard_descriptors() {
    while (true) {
        int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0) {
            std::_Exit(exit_failure);
        }
        if (fd > STDERR_FILENO) {
            ::close(fd);
            return;
        }
        ::fcntl(fd, F_SETFD, 0);
    }
}

// Returns the mask that the user started us with.
sigset_t block_signals() {
    // An ignored SIGCHLD, which we may have inherited, would keep us from learning how the ranks ended.
    std::signal(SIGCHLD, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set = forwarded_signals();
    // What the user wants ignored (nohup) is ignored only while it is not blocked.
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action;
        if (::sigismember(&set, signal) == 1 && ::sigaction(signal, nullptr, &action) == 0 &&
            action.sa_handler == SIG_IGN) {
            ::sigdelset(&set, signal);
        }
    }
    ::sigaddset(&set, SIGCHLD);
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &set, &before);
    return before;
}

struct RankInput {
    FileDescriptor for_rank;      // rank 0's standard input
    FileDescriptor for_front_end; // the front end's end of a pipe to it, if any
};

// A file or a pipe goes to rank 0 as it is, so that nobody reads more of it than rank 0 does. A terminal cannot: only
// the foreground process group may read it, and rank 0 is not in that.
RankInput make_rank_input() {
    int ends[2];
    if (::isatty(STDIN_FILENO) == 1 && ::pipe2(ends, O_CLOEXEC) == 0) {
        return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
    }
    return {FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), FileDescriptor()};
}

// Whoever feeds rank 0 through a pipe shall learn when rank 0 has closed it; we must not hold it open.
void let_go_of_standard_input() {
    int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        ::dup2(null, STDIN_FILENO);
        ::close(null);
    }
}

// What ps(1) and pkill(1) see of this process. The words of the command line lie one behind the other.
void rename_process(std::span<char*> words) {
    constexpr std::string_view name = "patchbay-launch"; // as long as the kernel allows
    ::prctl(PR_SET_NAME, name.data());
    std::size_t room = static_cast<std::size_t>(words.back() + std::strlen(words.back()) - words.front());
    std::memset(words.front(), 0, room);
    std::memcpy(words.front(), name.data(), std::min(room, name.size()));
}

[[noreturn]] void be_launcher(const JobSpec& job, LauncherInputs inputs, std::span<char*> words) {
    // A session of its own: no signal of the terminal reaches it except through the front end, and whoever kills the
    // front end with its whole process group, or everything called mpirun, leaves it alive to clean up.
    ::setsid();
    rename_process(words);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    let_go_of_standard_input();
    run_launcher(job, std::move(inputs));
}

int run(const JobSpec& job, Timing timing, std::span<char*> words) {
    sigset_t user_mask = block_signals();
    // What a rank starts becomes ours, should the launcher process be killed.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ControlPair control = make_control_pair();
    RankInput input = make_rank_input();
    if (!control.front_end || !input.for_rank) {
        report("cannot start: " + errno_text(errno));
        return exit_failure;
    }
    pid_t launcher = ::fork();
    if (launcher < 0) {
        report("cannot fork the launcher process: " + errno_text(errno));
        return exit_failure;
    }
    if (launcher == 0) {
        control.front_end.reset();
        input.for_front_end.reset();
        timing.mark(Moment::forked);
        be_launcher(job, {std::move(control.launcher), std::move(input.for_rank), user_mask, timing}, words);
    }
    control.launcher.reset();
    input.for_rank.reset();
    if (!input.for_front_end) {
        let_go_of_standard_input();
    }
    return FrontEnd(launcher, std::move(control.front_end), std::move(input.for_front_end)).run();
}

} // namespace

int main(int argc, char** argv) {
    Timing timing;
    timing.mark(Moment::begin);
    open_standard_descriptors();
    Result<CommandLine> line = parse_command_line({argv + 1, argv + argc});
    if (!line) {
        report(line.error().text);
        return exit_usage;
    }
    switch (line->request) {
    case CommandLine::Request::help:
        std::fputs(help_text().c_str(), stdout);
        return 0;
    case CommandLine::Request::version:
        std::puts("mpirun (Patchbay MPI) " PATCHBAY_VERSION);
        return 0;
    case CommandLine::Request::run:
        timing.mark(Moment::parsed);
        return run(line->job, timing, {argv, argv + argc});
    }
}
