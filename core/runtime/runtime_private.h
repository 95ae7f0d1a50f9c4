// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/runtime.h"

#include <cstddef>
#include <functional>

namespace patchbay {

struct Runtime::Private {
    std::function<void(const ProcessName&)> peer_failed;
    bool reports_failures = false;
    std::size_t death_handler = 0;

    std::function<void(const std::string& name, const std::vector<ProcessName>* members)> pset_changed;
    bool reports_psets = false;
    std::size_t pset_handler = 0;
};

} // namespace patchbay
