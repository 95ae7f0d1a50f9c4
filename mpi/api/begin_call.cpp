// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/begin_call.h"

#include "mpi/tool/tool.h"

namespace patchbay::api {

int begin_call_slowly(const char* function, CallObject object) noexcept {
    const bool is_first = check_thread();
    begin_last_call();
    return check_calling_thread(function, object, is_first);
}

void begin_last_call() noexcept {
    if ((single_thread.load(std::memory_order_relaxed) & work_for_calls) != 0) {
        tool::tool().events.deliver_waiting();
    }
}

} // namespace patchbay::api
