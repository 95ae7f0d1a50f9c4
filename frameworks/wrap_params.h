// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/param/spec.h"

namespace [[gnu::visibility("default")]] patchbay {

// The parameter <framework>_wrap of the frameworks whose components can wrap one another (Framework::wrap).
inline constexpr ParamSpec wrap_params[] = {
    {"wrap", ParamType::list, "",
        "components that stand before the selected ones, which do not know it: 'a,b' puts a before the selected one, "
        "and b before a",
        nullptr, ParamLevel::tuner_basic, ParamScope::all_equal},
};

} // namespace patchbay
