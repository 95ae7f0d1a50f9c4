// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <csignal>
#include <cstdio>
#include <functional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace patchbay::test {

// Runs `body(rank)` in `count` child processes at once; it returns whether all succeeded. A child that still runs after
// `seconds` is killed, so that a lost wake-up is a failure and not a hang.
inline bool run_processes(int count, unsigned seconds, const std::function<bool(int rank)>& body) {
    std::fflush(nullptr);
    std::vector<pid_t> children;
    for (int rank = 0; rank < count; ++rank) {
        pid_t child = fork();
        if (child == 0) {
            signal(SIGALRM, SIG_DFL);
            alarm(seconds);
            _exit(body(rank) ? 0 : 1);
        }
        children.push_back(child);
    }
    bool good = true;
    for (pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) {
            std::fprintf(stderr, "child %d ended with %s %d\n", int(child), WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            good = false;
        }
    }
    return good;
}

// Zero-filled memory that children made afterwards share.
template <class T>
T* shared_memory() {
    void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

} // namespace patchbay::test
