// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <thread>

namespace patchbay {

// How long a peer may take for a short step in shared memory before it counts as dead; it needs microseconds, but may
// lose its core.
inline constexpr std::chrono::seconds peer_patience{10};

// Waits for a peer in the middle of such a step; false: it has probably died. Not the library's waiting policy: nothing
// can be polled for yet.
template <class Done>
bool wait_for_peer(Done done) {
    auto deadline = std::chrono::steady_clock::now() + peer_patience;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

} // namespace patchbay
