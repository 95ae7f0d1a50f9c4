// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/runtime.h"

#include <cstddef>
#include <functional>

namespace patchbay {

struct Runtime::Private {
    std::function<void(const ProcessName&)> died;
    bool reports_deaths = false;
    std::size_t death_handler = 0;
};

} // namespace patchbay
