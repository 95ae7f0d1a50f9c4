// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// A process of this job or of another one we have met: `job` indexes the instance's table of namespaces (0 is our
// own), `rank` is the process's rank in it.
struct ProcessId {
    std::uint32_t job = 0;
    std::uint32_t rank = 0;
    friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

} // namespace patchbay
