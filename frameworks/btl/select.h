// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "frameworks/btl/selection.h"

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

// Opens the framework and queries every component; what Context::transports() makes its object from.
Result<Selection> select(Framework<Component>& framework, Context& context);

} // namespace btl
} // namespace patchbay
