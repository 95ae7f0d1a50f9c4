// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace patchbay::launch {

// How the process of a rank has ended. An exit with 0 of a process that has not finalized is no clean one.
enum class RankEnd : std::uint8_t { clean, exit_status, signal };
constexpr RankEnd highest_value(RankEnd) noexcept {
    return RankEnd::signal;
}

} // namespace patchbay::launch
