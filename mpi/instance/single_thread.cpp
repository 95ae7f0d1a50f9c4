// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/single_thread.h"

#include "mpi/instance/instance.h"

namespace patchbay {

std::atomic<ThreadId> single_thread{0};
std::atomic<Instance*> single_thread_instance{nullptr};

void set_single_thread(ThreadId thread) noexcept {
    ThreadId before = single_thread.load(std::memory_order_relaxed);
    while (!single_thread.compare_exchange_weak(before, thread | (before & (work_for_calls | threads_are_checked)),
        std::memory_order_release, std::memory_order_relaxed)) {
    }
}

bool check_other_thread() noexcept {
    const ThreadId known = known_single_thread(std::memory_order_acquire);
    if (known == 0 || known == this_thread_id()) {
        return false;
    }
    Instance* instance = single_thread_instance.load(std::memory_order_relaxed);
    if (instance != nullptr) {
        instance->enable_locks("a second thread communicates");
    }
    return instance != nullptr;
}

} // namespace patchbay
