// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/lone_thread.h"

#include "mpi/instance/instance.h"
#include "mpi/instance/library.h"

namespace patchbay {

std::atomic<ThreadMark> lone_thread{0};

void notice_other_thread() noexcept {
    if (lone_thread.load(std::memory_order_relaxed) == 0) {
        return;
    }
    if (Instance* instance = library().instance()) {
        instance->lock_from_now_on("a second thread communicates");
    }
}

} // namespace patchbay
