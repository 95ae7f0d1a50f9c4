// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/datatype.h"

#include <span>

namespace [[gnu::visibility("default")]] patchbay {

namespace chan {
class Channel;
}

namespace coll {

// A message of a persistent operation, as one of its two ends has it.
struct ChannelMessage {
    bool sends;
    bool wanted;   // this member would have it carried by a channel
    bool combined; // this member combines data in the operation, so that it needs what it receives at once
    void* buffer;
    MPI_Count count;
    const Datatype* type;
    int peer; // not this member
    chan::Channel* channel;
};

// Has messages of persistent operations carried by channels. The engine does not know how channels come into being: the
// library gives it this (mpi/channels/collective_channels.h).
class ChannelBinder {
public:
    // Sets `channel` of each message for which both ends have agreed on a channel, at both ends; the other messages
    // stay messages of the pml. The k-th send to a member and its k-th receive from this one are the two ends of one
    // message. Called by all members of the operation for the same one, each for all messages that it has on `comm`,
    // wanted or not: it is how a member learns what the others want. `tag`: no other message has it until this returns
    // in both ends. Blocks. MPI code; after an error nothing is bound and no message has been sent.
    virtual int bind(Communicator& comm, int tag, std::span<ChannelMessage> messages) noexcept = 0;
    // Releases an inactive channel that bind() has made, without regard to the other end, which has completed all
    // starts of this end or will do so without this one. Any thread.
    virtual void unbind(chan::Channel& channel) noexcept = 0;

protected:
    ~ChannelBinder() = default;
};

} // namespace coll
} // namespace patchbay
