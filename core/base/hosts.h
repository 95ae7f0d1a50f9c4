// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Whether `name` is a name or an address of this machine, whose host name is `own`. No name server is asked.
bool names_this_host(std::string_view name, std::string_view own) noexcept;

} // namespace patchbay
