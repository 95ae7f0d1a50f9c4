// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

class Session;

// Says to which session an object belongs that may outlive it. A later session may lie at the same address, but no two
// ever have the same number.
struct SessionId {
    Session* session = nullptr; // nullptr: world model or no session. There only while the number's session is open
    std::uint64_t number = 0;

    bool operator==(const SessionId&) const = default;
};

} // namespace patchbay
