// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

class Session;

// Identifies the session of an object that may outlive that session. A later session may have the same address, but no
// two sessions have the same number.
struct SessionId {
    Session* session = nullptr; // nullptr: world model or no session. Valid while the session of that number is open
    std::uint64_t number = 0;

    bool operator==(const SessionId&) const = default;
};

} // namespace patchbay
