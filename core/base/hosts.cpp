// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/hosts.h"

namespace patchbay {

bool names_this_host(std::string_view name, std::string_view own) noexcept {
    return name == own || name == own.substr(0, own.find('.')) || name == "localhost" || name == "127.0.0.1" ||
        name == "::1";
}

} // namespace patchbay
