// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/single_thread.h"

#include "mpi/instance/instance.h"
#include "mpi/library/library.h"

namespace patchbay {

std::atomic<ThreadId> single_thread{0};

void check_other_thread() noexcept {
    if (single_thread.load(std::memory_order_relaxed) == 0) {
        return;
    }
    if (Instance* instance = library().instance()) {
        instance->lock_from_now_on("a second thread communicates");
    }
}

} // namespace patchbay
