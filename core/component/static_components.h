// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/descriptor.h"

#include <span>

namespace [[gnu::visibility("default")]] patchbay {

// The components that are linked into the library. Defined by a file that the build generates; empty unless
// --config=static. The core itself never calls it: the caller of Core::create passes the table in.
std::span<const ComponentDescriptor* const> static_components();

} // namespace patchbay
