// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"
#include "frameworks/wrap_params.h"

namespace patchbay::coll {

// The parameters that all components of framework coll have in common.
inline constexpr ParamSpec params[] = {
    wrap_params[0],
    {"scratch_limit", ParamType::size, "32MiB",
        "temporary memory that a process keeps from one collective operation for later ones, in bytes", nullptr,
        ParamLevel::tuner_basic, ParamScope::local},
};

} // namespace patchbay::coll
