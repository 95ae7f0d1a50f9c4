// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// Identifies a process: `rank` is its rank in its job. Job 0 is the job of the calling process; there is no other one
// yet.
struct ProcessId {
    std::uint32_t job = 0;
    std::uint32_t rank = 0;
    friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

} // namespace patchbay
