// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/threads/message.h"

namespace patchbay::threads {

// A message in a queue of its receiver: one cache line. The word that publishes the message is in the line of its
// envelope, so that a short message costs the receiver one transfer of a line.
struct alignas(64) Slot {
    std::atomic<std::uint32_t> turn{0}; // the position of its message in the queue + 1
    Envelope envelope;
};
static_assert(sizeof(Slot) == 64);

// A slot for a sender; null: the queue is full. Between claim() and publish() the sender does nothing but write the
// envelope.
struct Claim {
    Slot* slot = nullptr;
    std::uint32_t turn = 0;

    void publish() const noexcept { slot->turn.store(turn, std::memory_order_release); }
};

} // namespace patchbay::threads
