// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/channels/channels.h"
#include "mpi/channels/small_messages.h"

namespace patchbay {

// One side of a channel that is being unbound: each side tells the other one that nothing is outstanding here, and
// disconnects when both have done so. It exists until the bound request is complete.
class PendingUnbinding final : public Channels::Pending {
public:
    // MPI code; after an error nothing has begun. With the lock of `owner` held.
    static int begin(Channels& owner, chan::Channel& channel) noexcept;
    void give_up() noexcept override;

private:
    PendingUnbinding(Channels& owner, chan::Channel& channel) noexcept;
    ~PendingUnbinding() = default;
    int send_messages() noexcept;
    void advance() noexcept;

    Channels& _owner;
    chan::Channel& _channel;
    Request* _sending = nullptr;
    Request* _receiving = nullptr;
    Following<PendingUnbinding, &PendingUnbinding::advance> _next;
};

} // namespace patchbay
