// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/format_into.h"

#include <algorithm>

#include <fmt/format.h> // vformat_to_n(); takes seconds to compile, and so is included here only

namespace patchbay {

std::string_view vformat_into(std::span<char> room, fmt::string_view format, fmt::format_args arguments) noexcept {
    const auto written = fmt::vformat_to_n(room.data(), room.size(), format, arguments);
    return {room.data(), std::min(written.size, room.size())};
}

} // namespace patchbay
