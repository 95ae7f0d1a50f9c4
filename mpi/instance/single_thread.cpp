// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/single_thread.h"

#include "mpi/instance/instance.h"

namespace patchbay {

std::atomic<ThreadId> single_thread{0};
std::atomic<Instance*> single_thread_instance{nullptr};

void check_other_thread() noexcept {
    if (single_thread.load(std::memory_order_acquire) == 0) {
        return;
    }
    if (Instance* instance = single_thread_instance.load(std::memory_order_relaxed)) {
        instance->enable_locks("a second thread communicates");
    }
}

} // namespace patchbay
