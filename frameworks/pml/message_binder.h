// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"
#include "object/request.h"

namespace [[gnu::visibility("default")]] patchbay {
namespace pml {

// Has the messages of partitioned requests carried by channels (framework chan). The requests do not know how channels
// come into being: the library gives them this (mpi/channels/partitioned_channels.h). A channel is a persistent request
// like the message that it replaces; its messages need no matching.
class MessageBinder {
public:
    // Called by MPI_Psend_init and MPI_Precv_init, before any bind(): opens what it needs. false: this process has no
    // channels. Any thread.
    virtual bool prepare() noexcept = 0;
    // Whether this process would have such a message carried by a channel, by what it knows alone. A message that one
    // side would not bind is not bound. Any thread; does not block.
    virtual bool would_bind(const PersistentRequest& message, Communicator& comm) noexcept = 0;
    // Takes `count` of the channels that this process may have at one time; false: there are not so many. give_back()
    // returns them. Any thread; do not block.
    virtual bool take(int count) noexcept = 0;
    virtual void give_back(int count) noexcept = 0;

    // Begins to bind a message: an inactive persistent request of the pml, whose tag no other message has. The other
    // side calls bind() for its end of the same message, sooner or later. The request is borrowed
    // (Request::borrow()), and completes when the binding has ended; *channel is the inactive channel then, on both
    // sides, or null on both, where they have none in common that is faster than the pml. Called in a start or in a
    // poll, on any thread; does not block. MPI code, after which nothing has begun: after MPI_ERR_NO_MEM the caller
    // calls it again, because the other side waits; after any other error the message stays with the pml.
    virtual int bind(Request& message, Request** channel) noexcept = 0;
    // Releases an inactive channel that bind() has made, without regard to the other side. Any thread.
    virtual void unbind(Request& channel) noexcept = 0;

protected:
    ~MessageBinder() = default;
};

} // namespace pml
} // namespace patchbay
