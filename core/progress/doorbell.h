// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// The name of a socket in the abstract namespace of this host: random, and 0 for none.
struct BellSocketName {
    std::uint64_t words[2] = {0, 0};
};

// What a sleeping process waits on, in memory that the processes which may wake it can write. Zero-filled memory is a
// valid doorbell.
//
// Sender:  publish the data with a release store; then bell.notify(). notify() is a load of a line that stays in the
//          sender's cache while the receiver is awake: no fence, no read-modify-write, no system call.
// Sleeper: seq = prepare(); membarrier; look at everything once more; then sleep(seq) or, if there was something,
//          cancel(). The membarrier (all_cores_barrier) makes up for the store-load fence that the sender does not
//          pay: after it, either the sleeper sees the data or the sender sees the flag.
// Only core/progress sleeps; all other code calls notify() or ring().
//
// A thread that waits for descriptors as well cannot sleep on the word of a doorbell. It shows the name of a datagram
// socket (show_socket) after prepare(), and ring() sends a packet there too. That costs the other processes nothing
// unless the flag is up.
class alignas(64) Doorbell {
public:
    // The sender's fast path, after the release store that publishes the data.
    void notify() noexcept {
        if (must_be_rung()) [[unlikely]] {
            ring();
        }
    }
    // The two halves of notify(), for a caller that calls ring() elsewhere.
    bool must_be_rung() const noexcept {
        // The compiler must keep "publish, then look" in that order; the processor is handled by the sleeper.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return _sleeping.load(std::memory_order_relaxed) != 0;
    }

    // Wakes every thread that sleeps on this bell; makes a system call only when the flag is up.
    void ring() noexcept;

    // Raises the flag; the value returned is what sleep() must be given.
    std::uint32_t prepare() noexcept {
        std::uint32_t seq = _sequence.load(std::memory_order_acquire);
        _sleeping.store(1, std::memory_order_seq_cst);
        return seq;
    }
    // Lowers the flag without sleeping. Only when no other thread of the process may sleep on this bell.
    void cancel() noexcept { _sleeping.store(0, std::memory_order_relaxed); }

    // Sleeps until rung (true) or until `limit` has passed or a signal was handled (false). Returns true at once when
    // the bell was rung after the prepare() that gave `seq`.
    bool sleep(std::uint32_t seq, std::chrono::nanoseconds limit) noexcept;

    // After prepare(), and before the thread waits for the socket of that name (bell_socket.h): rings from now on send
    // a packet there. At most one thread of the process at a time. false: rung since the prepare() that gave `seq`; the
    // thread must not wait.
    bool show_socket(std::uint32_t seq, const BellSocketName& name) noexcept;
    void hide_socket() noexcept;

    bool flag_is_up() const noexcept { return _sleeping.load(std::memory_order_relaxed) != 0; }

private:
    std::atomic<std::uint32_t> _sequence{0};
    std::atomic<std::uint32_t> _sleeping{0};
    std::atomic<std::uint32_t> _has_socket{0};
    std::atomic<std::uint64_t> _socket[2]{}; // its name
};
static_assert(sizeof(Doorbell) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

// membarrier(2), GLOBAL_EXPEDITED. It reaches only processes that registered, so every process that may ring another's
// bell registers once, before its first notify(). Errc::not_available with the errno text where the kernel (or a
// seccomp filter) refuses: then sleeps must be bounded (WaitPolicy::unfenced_sleep).
Status register_all_cores_barrier() noexcept;
void all_cores_barrier() noexcept;

} // namespace patchbay
