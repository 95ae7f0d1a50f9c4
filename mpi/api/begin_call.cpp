// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/begin_call.h"

#include "mpi/tool/tool.h"

namespace patchbay::api {

void begin_call_slowly() noexcept {
    check_thread();
    begin_last_call();
}

void begin_last_call() noexcept {
    if ((single_thread.load(std::memory_order_relaxed) & work_for_calls) != 0) {
        tool::tool().events.deliver_waiting();
    }
}

} // namespace patchbay::api
