// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/channels/channels.h"
#include "mpi/channels/prepared_message.h"
#include "mpi/channels/small_messages.h"

#include <cstddef>
#include <span>

namespace patchbay {

// One side of a channel that is being unbound: each side tells the other one that nothing is outstanding here, and
// disconnects when both have done so. It exists until the bound request is complete.
class PendingUnbinding final : public Channels::Pending, PreparedMessage::Owner {
public:
    // MPI code; after an error none of them has begun, and *failed is the index of the one to which it belongs. With
    // the lock of `owner` held.
    static int begin(Channels& owner, std::span<chan::Channel* const> all, std::size_t* failed) noexcept;
    void give_up() noexcept override;

private:
    PendingUnbinding(Channels& owner, chan::Channel& channel) noexcept;
    ~PendingUnbinding() = default;
    // Nothing has been sent before begin(). MPI codes; after an error undo() follows.
    static int prepare(Channels& owner, chan::Channel& channel, PendingUnbinding** made) noexcept;
    int prepare() noexcept;
    static int send_messages(PendingUnbinding* first, std::size_t* failed) noexcept;
    void begin() noexcept;
    void undo() noexcept;
    PreparedMessage::What message_to_there() const noexcept;
    PreparedMessage::What message_to_here() const noexcept;
    bool has_partner() const noexcept { return _channel.binding().peer != MPI_PROC_NULL; }
    void ended(PreparedMessage& message) noexcept override;
    void finish() noexcept;

    Channels& _owner;
    chan::Channel& _channel;
    PendingUnbinding* _following = nullptr; // of the same call, until all have begun
    int _code = MPI_SUCCESS;                // the first error
    PreparedMessage _sending;
    PreparedMessage _receiving;
    Following<PendingUnbinding, &PendingUnbinding::finish> _next; // where there is no other side
};

} // namespace patchbay
