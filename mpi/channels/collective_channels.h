// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/channel_binder.h"
#include "mpi/channels/channel_use.h"

#include <cstdint>

namespace patchbay {

class Channels;

// Binds the messages of persistent collectives to channels (README.md has the messages of the setup).
class CollectiveChannels final : public coll::ChannelBinder {
public:
    // The values of parameters coll_channels, which is equal in all processes of a job (none: there is no object of
    // this class), and coll_most_channels.
    CollectiveChannels(Channels& channels, ChannelUse use, std::int64_t most) noexcept
        : _channels(channels),
          _use(use),
          _most(most) {}

    int bind(Communicator& comm, int tag, std::span<coll::ChannelMessage> messages) noexcept override;
    void unbind(chan::Channel& channel) noexcept override;

private:
    class Setup;

    int take_number() noexcept;
    void give_back_number(int number) noexcept;

    Channels& _channels;
    const ChannelUse _use;
    const std::int64_t _most;
    std::int64_t _count = 0; // channels that exist; protected by the lock of Channels
};

} // namespace patchbay
