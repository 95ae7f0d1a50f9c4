// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/backlog.h"
#include "components/pml/ob1/handshake.h"
#include "components/pml/ob1/requests.h"

#include <optional>

namespace patchbay::pml::ob1 {

// Messages above the eager limit, synchronous or not. The sender announces one by an rts; the receiver fetches it with
// btl.get (single copy) and reports that by a fin, or it asks by a cts for fragments; or it fetches one half, and asks
// the sender by a put to write the other one (btl.put) at the same time.
class Rendezvous {
public:
    Rendezvous(Peers& peers, Backlog& backlog, Handshake& handshake, std::size_t fetch_chunk, std::optional<Way> way,
        TransferChoice::Clock now) noexcept
        : _peers(peers),
          _backlog(backlog),
          _handshake(handshake),
          _fetch_chunk(fetch_chunk),
          _way(way),
          _now(now) {}

    // The sending side. What ends the request is up to SendProtocol.
    btl::SendCode send_rts(SendRequest& request) noexcept;
    void on_cts(const CtsHeader& cts) noexcept;
    // false: there is no memory for the answer; the packet has to be delivered again.
    bool on_put(Peer& from, const PutHeader& put) noexcept;
    // Sends the next fragment, which is packed into the memory of the btl unless the message is one block.
    static btl::SendCode send_fragment(SendRequest& request) noexcept;

    // The receiving side. Each of these may complete the request.
    void begin(RecvRequest& request, Peer& from, const MatchHeader& match, std::uint64_t sender, std::uint64_t length,
        std::uint64_t address) noexcept;
    void on_stream_end(const ControlHeader& end) noexcept;
    bool on_put_end(Peer& from, const ControlHeader& end) noexcept; // as on_put()
    void on_fragment(const FragHeader& frag, const std::byte* payload, std::size_t size) noexcept;
    // Ends all receives of messages of this peer, which has failed before they were complete.
    void fail(const Peer& peer) noexcept;
    bool has_fetches() const noexcept { return !_fetches.empty(); }
    // Fetches the next chunk of each message that is not complete. Returns their number.
    int continue_fetches() noexcept;

private:
    Way way_of(RecvRequest& request, std::uint64_t length, std::uint64_t address) noexcept;
    Way time_all(RecvRequest& request) noexcept;
    void complete(RecvRequest& request, Way way) noexcept;
    void share(RecvRequest& request) noexcept;
    bool fetch_part(RecvRequest& request, std::size_t end) noexcept;
    void finish(RecvRequest& request, Way way) noexcept;
    void fetch(RecvRequest& request) noexcept;
    bool fetch_chunk(RecvRequest& request) noexcept;
    void request_stream(RecvRequest& request) noexcept;
    template <class Header>
    bool ask_sender(RecvRequest& request, const Header& header) noexcept;

    Peers& _peers;
    Backlog& _backlog;
    Handshake& _handshake;
    const std::size_t _fetch_chunk;
    const std::optional<Way> _way; // of all messages
    const TransferChoice::Clock _now;
    using Receives = List<RecvRequest, &RecvRequest::transfer_link>;

    static void fail(Receives& receives, const Peer& peer) noexcept;

    Receives _fetches;
    Receives _streamed; // that wait for fragments, or for what the sender writes
};

} // namespace patchbay::pml::ob1
