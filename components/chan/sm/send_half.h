// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/sm/half.h"
#include "components/chan/sm/sender.h"

namespace patchbay::chan::sm {

class SendHalf final : public Half {
public:
    SendHalf(Node& node, const Binding& binding);
    // Allocates what the offer tells. After an error call disconnect().
    Status make(Offer& offer);

    int connect(std::span<const std::byte> partner_offer) noexcept override;
    int rebind(void* buffer, MPI_Count count) noexcept override;
    int start() noexcept override;
    void partner_failed() noexcept override;

private:
    void check() noexcept override;
    bool go_on(int* events) noexcept override;
    [[gnu::noinline]] int start_slowly() noexcept;
    bool start_general() noexcept;
    [[gnu::noinline]] int start_short() noexcept;
    [[gnu::cold]] int ring() noexcept;
    // The message is in its chunk.
    void publish_quickly(std::byte* chunk, std::uint64_t message, std::uint64_t bytes) noexcept {
        _next = message + 1;
        reinterpret_cast<Word*>(chunk)->store(
            ChunkWord::make(message, ChunkWord::last | bytes), std::memory_order_release);
        set_complete();
    }
    bool writes_directly(const Offer& receiver) noexcept;
    void begin_quick() noexcept;
    void end_quick() noexcept;

    // Messages of one chunk beside its word, of one buffer: while the ring has room for them, start() writes them
    // itself, and each is complete then. _sender gets to know of them when that ends. The messages before `_quick_end`
    // have room; 0: _sender is used. (A partner that fails sets it to 0. If start() overwrites that at the same moment,
    // a lap of messages more is sent, as if the partner had failed later.)
    std::uint64_t _next = 0;
    std::atomic<std::uint64_t> _quick_end{0};
    Sender::QuickWay _quick;
    bool _is_quick = false;
    SenderBlock* _block = nullptr;
    Geometry _geometry{};
    Sender _sender;
};

} // namespace patchbay::chan::sm
