// SPDX-License-Identifier: BSD-3-Clause
#include "launch/process_spawn.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::launch {

namespace {

constexpr char exec_step[] = "exec";
constexpr char directory_step[] = "entering the working directory";

// Shared with the child, which runs in the memory of this process until it executes the program.
struct ChildContext {
    ProcessPlan* plan;
    pid_t parent;
    std::vector<char*> shell_argv; // for a script without #!
    volatile int error = 0;
    const char* volatile step = "";
};

// All descriptors are moved to numbers above 2 first, because the sources may themselves be 0, 1 or 2.
bool set_standard_fds(const int (&fds)[3]) {
    int moved[3];
    for (int i = 0; i < 3; ++i) {
        moved[i] = ::fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        if (moved[i] < 0) {
            return false;
        }
    }
    for (int i = 0; i < 3; ++i) {
        if (::dup2(moved[i], i) < 0) {
            return false;
        }
    }
    return true;
}

// Sets up the child. If something fails, it returns false, and the step is in the context. It makes system calls only:
// other threads of the node daemon may hold locks of the C library at this moment.
bool prepare(ChildContext& context) {
    ProcessPlan& plan = *context.plan;
    context.step = "setpgid";
    if (::setpgid(0, 0) != 0) {
        return false;
    }
    context.step = "prctl(PR_SET_PDEATHSIG)";
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return false;
    }
    // The node daemon may have failed before the line above took effect.
    context.step = "the launcher has failed";
    if (::getppid() != context.parent) {
        errno = ESRCH;
        return false;
    }
    context.step = "binding it to a core";
    if (plan.cpus && ::sched_setaffinity(0, sizeof *plan.cpus, &*plan.cpus) != 0) {
        return false;
    }
    context.step = "redirecting its standard input and output";
    if (!set_standard_fds(plan.standard_fds)) {
        return false;
    }
    // A child inherits the sockets by which PMIx is connected to other ranks. They are set to close-on-exec and not
    // closed at once, because other descriptors are needed until the exec.
    context.step = "close_range";
    if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
        return false;
    }
    context.step = "handing over the shared memory";
    for (const int fd : plan.inherited_fds) {
        if (::fcntl(fd, F_SETFD, 0) != 0) {
            return false;
        }
    }
    context.step = "setrlimit";
    if (::setrlimit(RLIMIT_NOFILE, &plan.file_limit) != 0) {
        return false;
    }
    context.step = directory_step;
    return plan.working_directory.empty() || ::chdir(plan.working_directory.c_str()) == 0;
}

int child_main(void* argument) {
    ChildContext& context = *static_cast<ChildContext*>(argument);
    ProcessPlan& plan = *context.plan;
    if (prepare(context)) {
        context.step = exec_step;
        ::signal(SIGPIPE, SIG_DFL); // the node daemon ignores both, and has no signal handlers
        ::signal(SIGXFSZ, SIG_DFL);
        ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
        ::execve(plan.path.c_str(), plan.argv.data(), plan.environment.data());
        if (errno == ENOEXEC) {
            ::execve("/bin/sh", context.shell_argv.data(), plan.environment.data());
        }
    }
    context.error = errno;
    return 127; // the exit status; the child runs no exit handler of the C library
}

class Stack {
public:
    Stack()
        : _memory(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    ~Stack() {
        if (_memory != MAP_FAILED) {
            ::munmap(_memory, size);
        }
    }
    bool valid() const { return _memory != MAP_FAILED; }
    void* top() const { return static_cast<char*>(_memory) + size; }

private:
    static constexpr std::size_t size = 256 * 1024;
    void* _memory;
};

} // namespace

SpawnResult spawn(ProcessPlan& plan) {
    ChildContext context;
    context.plan = &plan;
    context.parent = ::getpid();
    context.shell_argv = {const_cast<char*>("/bin/sh"), plan.path.data()};
    context.shell_argv.insert(context.shell_argv.end(), plan.argv.begin() + 1, plan.argv.end());

    Stack stack;
    if (!stack.valid()) {
        return {-1, errno, "mmap"};
    }
    // No signal handler of this process may run in the child while it shares the memory.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    // Like vfork, but with a separate stack: the page tables are not copied, and the child can report a failed exec.
    pid_t pid = ::clone(child_main, stack.top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &context);
    int error = pid < 0 ? errno : context.error;
    const char* step = pid < 0 ? "clone" : context.step;
    if (pid > 0 && error != 0) {
        ::waitpid(pid, nullptr, 0);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error == 0) {
        return {pid, 0, {}, false};
    }
    return {-1, error, step == directory_step ? step + (" " + plan.working_directory) : step, step == exec_step};
}

} // namespace patchbay::launch
