// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/message_binder.h"
#include "mpi/channels/channel_use.h"

#include <atomic>
#include <cstdint>

namespace patchbay {

class Channels;

// Binds the messages of partitioned requests to channels: each one as the program's own requests are bound
// (PendingBinding), with its tag of partitioned communication in the place of the program's.
class PartitionedChannels final : public pml::MessageBinder {
public:
    // The values of parameters mpi_part_channels (none: there is no object of this class) and mpi_part_most_channels.
    PartitionedChannels(Channels& channels, ChannelUse use, std::int64_t most) noexcept
        : _channels(channels),
          _use(use),
          _free(most) {}

    bool prepare() noexcept override;
    bool would_bind(const pml::PersistentRequest& message, Communicator& comm) noexcept override;
    bool take(int count) noexcept override;
    void give_back(int count) noexcept override { _free.fetch_add(count, std::memory_order_relaxed); }
    int bind(Request& message, Request** channel) noexcept override;
    void unbind(Request& channel) noexcept override;

private:
    Channels& _channels;
    const ChannelUse _use;
    std::atomic<std::int64_t> _free;
};

} // namespace patchbay
