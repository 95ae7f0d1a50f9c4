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

private:
    void check() noexcept override;
    bool go_on(int* events) noexcept override;
    [[gnu::noinline]] int start_slowly() noexcept;
    bool writes_directly(const Offer& receiver) noexcept;

    SenderBlock* _block = nullptr;
    Geometry _geometry{};
    Sender _sender;
};

} // namespace patchbay::chan::sm
