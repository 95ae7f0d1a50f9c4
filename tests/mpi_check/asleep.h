// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

// When a test may go on because a thread has gone to sleep in a call that waits.

inline pid_t own_thread_id() {
    return pid_t(syscall(SYS_gettid));
}

// Whether a thread of this process sleeps, as the kernel sees it.
inline bool is_asleep(pid_t thread) {
    std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t name_end = line.rfind(") ");
    return name_end != std::string::npos && line[name_end + 2] == 'S';
}

// `thread`: 0 until the thread is about to call the function in which it waits.
inline void wait_until_asleep(const std::atomic<pid_t>& thread) {
    while (thread == 0 || !is_asleep(thread)) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}
