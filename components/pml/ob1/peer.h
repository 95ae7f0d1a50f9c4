// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/headers.h"
#include "components/pml/ob1/transfer_choice.h"
#include "core/base/list.h"
#include "frameworks/btl/btl.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace patchbay {
class Session;
}

namespace patchbay::pml::ob1 {

class SendRequest;

// A packet for which the btl had no room. A message is sent again by its request; a control packet is copied here.
struct QueuedPacket {
    Link<QueuedPacket> link;
    SendRequest* message;   // nullptr: the control packet below
    const Session* session; // of the control packet's communicator; nullptr: the world model, or no communicator
    std::uint32_t header_size;
    alignas(8) std::byte header[largest_header];
};
using PacketQueue = List<QueuedPacket, &QueuedPacket::link>;

// Link of a send request in the list of the requests that stream fragments to one peer.
struct StreamLink {
    Link<StreamLink> link;
    SendRequest* request;
};

// A process that this one has sent a packet to or received a packet from, in whatever communicator.
struct Peer {
    ProcessId process;
    btl::Module* btl = nullptr; // nullptr: not connected, because this process has only received from it
    btl::Endpoint* endpoint = nullptr;

    // A message shorter than this is sent at once and whole; 0: the queue is not empty, an xoff is in force, or
    // messages are counted. The hot path tests nothing else.
    std::size_t direct_below = 0;
    std::size_t eager_limit = 0;

    PacketQueue queue; // in order: later messages go behind earlier ones
    List<StreamLink, &StreamLink::link> streams;
    bool in_backlog = false; // `queue` or `streams` is not empty: Backlog::push() sends from them
    Link<Peer> backlog;

    bool xoff_received = false;         // and no xon since
    bool xoff_sent = false;             // and no xon since
    bool failed = false;                // the process has failed: nothing is sent to it or expected from it any more
    bool counted = false;               // messages to it are counted (traffic.h)
    std::uint64_t unexpected_bytes = 0; // memory that its unmatched messages take in this process
    std::unique_ptr<TransferChoice> choice; // made for the first message that could come either way

    void refresh_direct() noexcept {
        const bool direct = queue.empty() && !xoff_received && !failed && !counted;
        direct_below = direct ? eager_limit + 1 : 0;
    }
};

} // namespace patchbay::pml::ob1
