// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/headers.h"
#include "components/pml/ob1/list.h"
#include "frameworks/btl/btl.h"

#include <cstddef>
#include <cstdint>

namespace patchbay {
class Session;
}

namespace patchbay::pml::ob1 {

class SendRequest;

// Something that did not fit on the wire yet. A message is sent by its request; anything else lies here.
struct Waiting {
    Link<Waiting> link;
    SendRequest* message;   // nullptr: the packet below
    const Session* session; // of that packet's communicator; nullptr: the world model, or there is none
    std::uint32_t header_size;
    alignas(8) std::byte header[largest_header];
};

// Link of a send request in the list of those that stream fragments to a peer.
struct StreamLink {
    Link<StreamLink> link;
    SendRequest* request;
};

// A process that this one has spoken to, whatever the communicator.
struct Peer {
    ProcessId process;
    btl::Module* btl = nullptr; // nullptr: not connected yet (it has spoken, we have not)
    btl::Endpoint* endpoint = nullptr;

    // A message shorter than this goes out at once, whole; 0: something is in the way (a queue, an xoff) or the long
    // way is needed for another reason. The hot path's only question.
    std::size_t direct_below = 0;
    std::size_t eager_limit = 0;

    List<Waiting, &Waiting::link> waiting; // in order: later messages queue behind earlier ones
    List<StreamLink, &StreamLink::link> streams;
    bool in_backlog = false; // `waiting` or `streams` is not empty, so that polls must push
    Link<Peer> backlog;

    bool told_to_stop = false;          // its xoff is in force
    bool stopped = false;               // our xoff is
    bool local_delivery = false;        // the peer is this process: threads that sleep must be woken
    std::uint64_t unexpected_bytes = 0; // memory taken here by its unmatched messages
};

} // namespace patchbay::pml::ob1
