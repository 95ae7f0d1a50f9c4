// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/sm/half.h"
#include "components/chan/sm/receiver.h"

namespace patchbay::chan::sm {

class ReceiveHalf final : public Half {
public:
    // Throws std::bad_alloc.
    ReceiveHalf(Node& node, const Binding& binding);
    // Allocates what the offer tells. After an error call disconnect().
    Status make(Offer& offer);

    int connect(std::span<const std::byte> partner_offer) noexcept override;
    int rebind(void* buffer, MPI_Count count) noexcept override;
    int start() noexcept override;

private:
    void check() noexcept override;
    bool go_on(int* events) noexcept override;
    bool has_ended() noexcept;
    [[gnu::noinline]] int start_slowly() noexcept;
    [[gnu::noinline]] void check_slowly() noexcept;
    void end_quick(bool started) noexcept;
    [[gnu::noinline]] void report(std::uint64_t length) noexcept;

    // Messages of one chunk beside its word, with one start outstanding and one buffer of the same length: check()
    // takes them itself, and _receiver gets to know of them when that ends. nullptr in `chunks`: _receiver is used.
    Receiver::QuickWay _quick;
    ReceiverBlock* _block = nullptr;
    bool _drains = false;
    bool _is_reachable = false; // the buffer, by the sender
    Receiver _receiver;
};

} // namespace patchbay::chan::sm
