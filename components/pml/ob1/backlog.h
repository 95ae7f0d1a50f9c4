// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/peers.h"
#include "core/memory/pool.h"

namespace patchbay::pml::ob1 {

class SendProtocol;

// Control packets, and what the btls had no room for: per peer a queue of packets in order, and the messages that are
// streamed in fragments, which take turns.
class Backlog {
public:
    explicit Backlog(Peers& peers) noexcept
        : _peers(peers) {}

    // `session`: see QueuedPacket. Returns an MPI code: MPI_ERR_NO_MEM (the packet would have to be queued) or
    // MPI_ERR_OTHER (the peer cannot be reached), each of which has been reported. After an error nothing is sent.
    [[nodiscard]] int send_control(
        Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept;
    // The same for a reply, without which the peer would wait for ever: the job ends when memory runs out. false: the
    // peer cannot be reached.
    bool reply(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept;
    bool reply(Peer& peer, PacketType type, std::uint64_t request, std::uint32_t code, const Session* session) noexcept;
    // The same for an xoff or xon. If it is lost, messages are buffered where they need not be or the other way round,
    // but each of them arrives.
    void send_flow(Peer& peer, PacketType type) noexcept;

    // The message goes behind everything that is queued for its peer. false: out of memory, which has been reported.
    bool queue(SendRequest& request) noexcept;
    // false: the message is not queued.
    bool remove(SendRequest& request) noexcept;
    // The receiver of this message has asked for it in fragments.
    void stream(SendRequest& request) noexcept;

    // Drops everything that is queued for this peer, which has died. The requests of messages stay as they are.
    void drop(Peer& peer) noexcept;

    bool empty() const noexcept { return _backlog.empty(); }
    bool has_control(const Session* session) const noexcept;
    // Sends what the btls have room for now. Returns the number of packets.
    int push(SendProtocol& sends) noexcept;

private:
    void join(Peer& peer) noexcept;
    int push(Peer& peer, SendProtocol& sends) noexcept;
    bool push_queue(Peer& peer, SendProtocol& sends, int& pushed) noexcept;
    static bool push_streams(Peer& peer, SendProtocol& sends, int& pushed) noexcept;

    Peers& _peers;
    Pool<QueuedPacket> _pool;
    List<Peer, &Peer::backlog> _backlog; // the peers with something to send
};

} // namespace patchbay::pml::ob1
