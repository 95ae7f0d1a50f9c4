// SPDX-License-Identifier: BSD-3-Clause
#include "launch/command_line.h"
#include "launch/control_socket.h"
#include "launch/front_end.h"
#include "launch/launcher.h"
#include "launch/process_tree.h"
#include "launch/report.h"
#include "launch/signals.h"
#include "launch/user_socket.h"

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
#include <vector>

namespace {

using namespace patchbay;
using namespace patchbay::launch;

// Keeps descriptors 0, 1 and 2 from being used for the files that this process opens.
void open_standard_descriptors() {
    while (true) {
        int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0) {
            report("cannot open /dev/null: " + errno_text(errno));
            std::_Exit(exit_failure);
        }
        if (fd > STDERR_FILENO) {
            ::close(fd);
            return;
        }
        ::fcntl(fd, F_SETFD, 0);
    }
}

// Returns the signal mask with which the user started this process.
sigset_t block_signals() {
    // An inherited SIG_IGN for SIGCHLD would prevent this process from learning how the ranks ended.
    std::signal(SIGCHLD, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN); // a file of output that has reached `ulimit -f` is an error of write(2)
    sigset_t set = forwarded_signals();
    // A signal that the user has set to be ignored (nohup) is ignored only if it is not blocked.
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

// Rank 0 inherits a file or a pipe as it is, so that no process but rank 0 reads from it. That is impossible for a
// terminal: only the foreground process group may read it, and rank 0 is not in that group.
RankInput make_rank_input() {
    int ends[2];
    if (::isatty(STDIN_FILENO) == 1 && ::pipe2(ends, O_CLOEXEC) == 0) {
        return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
    }
    return {FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), FileDescriptor()};
}

// The process that writes to the pipe must get an error when rank 0 has closed it, so this process must not keep it
// open.
void let_go_of_standard_input() {
    int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        ::dup2(null, STDIN_FILENO);
        ::close(null);
    }
}

// The name of this process that ps(1) and pkill(1) use. The words of the command line are contiguous in memory.
void rename_process(std::span<char*> words) {
    constexpr std::string_view name = "patchbay-launch"; // as long as the kernel allows
    ::prctl(PR_SET_NAME, name.data());
    std::size_t room = static_cast<std::size_t>(words.back() + std::strlen(words.back()) - words.front());
    std::memset(words.front(), 0, room);
    std::memcpy(words.front(), name.data(), std::min(room, name.size()));
}

[[noreturn]] void be_launcher(const JobSpec& job, LauncherInputs inputs, std::span<char*> words) {
    // The process gets a session of its own: the only signals of the terminal that reach it are those that the front
    // end forwards. If the front end is killed with its whole process group, or all processes called mpirun are, this
    // process survives and cleans up.
    ::setsid();
    rename_process(words);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    let_go_of_standard_input();
    run_launcher(job, std::move(inputs));
}

int run(const JobSpec& job, Timing timing, std::span<char*> words) {
    sigset_t user_mask = block_signals();
    // If the node daemon is killed, the processes that ranks have started become children of this process.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ControlPair control = make_control_pair();
    if (!control.front_end) {
        report("cannot make the sockets to the node daemon: " + errno_text(errno));
        return exit_failure;
    }
    RankInput input = make_rank_input();
    if (!input.for_rank) {
        report("cannot pass on standard input: " + errno_text(errno));
        return exit_failure;
    }
    const std::string socket_file = make_socket_file();
    const std::vector<pid_t> others = has_children() ? descendants() : std::vector<pid_t>();
    pid_t launcher = ::fork();
    if (launcher < 0) {
        report("cannot fork the node daemon: " + errno_text(errno));
        return exit_failure;
    }
    if (launcher == 0) {
        control.front_end.reset();
        input.for_front_end.reset();
        timing.mark(Moment::forked);
        be_launcher(
            job, {std::move(control.launcher), std::move(input.for_rank), user_mask, socket_file, timing}, words);
    }
    control.launcher.reset();
    input.for_rank.reset();
    if (!input.for_front_end) {
        let_go_of_standard_input();
    }
    const FrontEnd::Ended ended =
        FrontEnd(launcher, std::move(control.front_end), std::move(input.for_front_end), others).run();
    remove_user_socket(socket_file); // the node daemon may have been killed
    if (!ended.cause.empty()) {
        // Last, because the reader of standard error may not read: a signal ends this process then.
        ::sigprocmask(SIG_SETMASK, &user_mask, nullptr);
        report(ended.cause);
    }
    return ended.status;
}

int print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
        report("cannot write to standard output: " + errno_text(errno));
        return exit_failure;
    }
    return 0;
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
        return print(help_text());
    case CommandLine::Request::version:
        return print("mpirun (Patchbay MPI) " PATCHBAY_VERSION "\n");
    case CommandLine::Request::run:
        timing.mark(Moment::parsed);
        return run(line->job, timing, {argv, argv + argc});
    }
}
