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
    Backlog(Peers& peers, Shortage& shortage) noexcept
        : _peers(peers),
          _shortage(shortage),
          _message_shortage(shortage) {}

    // `session`: see QueuedPacket. Returns an MPI code: MPI_ERR_NO_MEM (the packet would have to be queued) or
    // MPI_ERR_OTHER (the peer cannot be reached, which has been reported). After an error nothing is sent.
    [[nodiscard]] int send_control(
        Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept;
    // Called once, before everything else. false: out of memory.
    bool reserve() noexcept { return allocate_spare(); }
    // Called before a packet is processed that needs a reply, without which the peer would wait for ever. true: there
    // is memory for the next reply(). false: there is none, and the packet has to be delivered again. Ends the job if
    // that has lasted too long.
    bool prepare_reply(Peer& peer) noexcept {
        return (peer.endpoint != nullptr && _spare != nullptr) || make_spare(peer);
    }
    // The same without a time limit, for a call that returns the error.
    bool can_reply(Peer& peer) noexcept {
        return peer.failed || (_peers.connect(peer) && (_spare != nullptr || allocate_spare()));
    }
    // send_control() after prepare_reply() or can_reply(). false: the peer has failed or cannot be reached.
    bool reply(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept;
    bool reply(Peer& peer, PacketType type, std::uint64_t request, std::uint32_t code, const Session* session) noexcept;
    // A reply for a message that no receive will match: the sender gets the error if it waits for a reply. Ends the job
    // if there is no memory.
    void reject(Peer& from, PacketType type, std::uint64_t request, int code, const Session* session) noexcept;
    // The same for an xoff or xon. If it is lost, messages are buffered where they need not be or the other way round,
    // but each of them arrives.
    void send_flow(Peer& peer, PacketType type) noexcept;

    // The message goes behind everything that is queued for its peer. false: out of memory.
    bool queue(SendRequest& request) noexcept;
    // false: the message is not queued.
    bool remove(SendRequest& request) noexcept;
    // The receiver of this message has asked for it in fragments.
    void stream(SendRequest& request) noexcept;

    // Drops everything that is queued for this peer, which has failed. The requests of messages stay as they are.
    void drop(Peer& peer) noexcept;

    // Ob1::work() has something to do; join() says so itself.
    void mark_work() noexcept { _peers.mark_work(); }
    bool empty() const noexcept { return _backlog.empty(); }
    bool has_control(const Session* session) const noexcept;
    // Sends what the btls have room for now. Returns the number of packets.
    int push(SendProtocol& sends) noexcept;

private:
    bool make_spare(Peer& peer) noexcept;
    bool allocate_spare() noexcept;
    QueuedPacket* take_packet() noexcept;
    void join(Peer& peer) noexcept;
    int push(Peer& peer, SendProtocol& sends) noexcept;
    bool gives_up(const SendRequest* message) noexcept;
    bool push_queue(Peer& peer, SendProtocol& sends, int& pushed) noexcept;
    bool push_streams(Peer& peer, SendProtocol& sends, int& pushed) noexcept;
    void end_stream(SendRequest& request, int code, SendProtocol& sends) noexcept;

    Peers& _peers;
    Shortage& _shortage;
    // Of messages, whose senders get the error. Once it has lasted too long, all messages that find no memory are given
    // up at once, until one of them finds some: otherwise each of N messages would wait for the whole time.
    Shortage _message_shortage;
    Pool<QueuedPacket, NoLock> _pool;
    QueuedPacket* _spare = nullptr;      // so that a reply needs no memory
    List<Peer, &Peer::backlog> _backlog; // the peers with something to send
};

} // namespace patchbay::pml::ob1
