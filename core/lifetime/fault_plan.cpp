// SPDX-License-Identifier: BSD-3-Clause
#include "core/lifetime/fault_plan.h"

#include <string>

namespace patchbay {

Status FaultPlan::check(const char* step) {
    const int number = _seen.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number != _fail_at.load(std::memory_order_relaxed)) {
        return {};
    }
    return Error{Errc::system,
        "init step " + std::to_string(number) + " (" + step + ") was made to fail (parameter fault_step)"};
}

} // namespace patchbay
