// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"

#include <cstddef>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

class Endpoint;

// Who exchanges packets over the btls of a job. The number is in the upper bits of the first byte of each header, and
// the same in every process: the packets of a consumer arrive at the consumer with the same number.
enum class ConsumerId : std::uint8_t {
    pml = 0,     // the pml that matches messages itself: the lower bits are its packet type
    osc = 1,     // one-sided communication
    chan = 2,    // channels
    outside = 7, // one that is developed outside of the tree
};
inline constexpr std::size_t most_consumers = 8;
inline constexpr unsigned consumer_shift = 5;

// The first byte of a header; `type` is less than 32, and the consumer's own.
constexpr std::uint8_t first_byte(ConsumerId consumer, std::uint8_t type) noexcept {
    return std::uint8_t(std::uint8_t(consumer) << consumer_shift | type);
}

// Called by poll() for every packet, on the polling thread: header and payload are valid during the call only.
// The receiver may send from inside it. true: the packet has been processed. false: the receiver has no memory for it
// now, and has sent nothing from inside the call. Then the module keeps the packet, and a later poll delivers it again,
// before all later packets of that peer. The poll counts it as an event, so that the process does not sleep.
using Receiver = bool (*)(void* context, Endpoint& from, const void* header, std::size_t header_size,
    const void* payload, std::size_t payload_size) noexcept;

} // namespace btl
} // namespace patchbay
