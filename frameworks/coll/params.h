// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"
#include "frameworks/wrap_params.h"

namespace patchbay::coll {

inline constexpr char channels_names[] = "auto,all,none"; // parameter coll_channels

// The parameters that all components of framework coll have in common.
inline constexpr ParamSpec params[] = {
    wrap_params[0],
    {"scratch_limit", ParamType::size, "32MiB",
        "temporary memory that a process keeps from one collective operation for later ones, in bytes", nullptr,
        ParamLevel::tuner_basic, ParamScope::local},
    {"channels", ParamType::enumeration, "auto",
        "which messages of persistent collectives are carried by channels (framework chan): auto: those of the lengths "
        "at which a component says that it is faster than the pml",
        channels_names, ParamLevel::tuner_basic},
    {"most_channels", ParamType::integer, "1024",
        "how many channels of persistent collectives this process has at most; each takes 4 KiB to 128 KiB of the "
        "memory that the processes of a node share",
        "0..", ParamLevel::tuner_detail, ParamScope::local},
};

} // namespace patchbay::coll
