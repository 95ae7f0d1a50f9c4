// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/lone_thread.h"

#include "mpi/instance/instance.h"
#include "mpi/instance/library.h"

namespace patchbay {

std::atomic<ThreadMark> lone_thread{0};

void end_lone_thread() noexcept {
    if (Instance* instance = library().instance()) {
        instance->lock_from_now_on("a second thread communicates");
    }
}

} // namespace patchbay
