// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

#include <fmt/core.h>

namespace [[gnu::visibility("default")]] patchbay {

std::string_view vformat_into(std::span<char> room, fmt::string_view format, fmt::format_args arguments) noexcept;

// Writes a text where memory may be exhausted: as much of it as there is room. Returns what it has written.
template <class... T>
std::string_view format_into(std::span<char> room, fmt::format_string<T...> format, T&&... arguments) noexcept {
    return vformat_into(room, format, fmt::make_format_args(arguments...));
}

} // namespace patchbay
