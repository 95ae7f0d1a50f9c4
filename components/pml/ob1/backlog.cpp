// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/backlog.h"

#include "components/pml/ob1/send_protocol.h"
#include <cstring>
#include <string_view>
#include <utility>

namespace patchbay::pml::ob1 {

using btl::SendCode;

namespace {
// Fragments to one peer per poll, so that one long message does not delay the packets that arrive.
constexpr int fragments_per_poll = 16;

constexpr std::string_view no_memory_for_reply =
    "pml/ob1: out of memory for a control packet that another process waits for";
} // namespace

int Backlog::send_control(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept {
    if (peer.failed || !_peers.connect(peer)) {
        return MPI_ERR_OTHER;
    }
    SendCode code = SendCode::full;
    if (peer.queue.empty()) [[likely]] {
        code = peer.btl->send(*peer.endpoint, header, header_size, nullptr, 0);
    }
    if (code == SendCode::full || code == SendCode::no_memory) {
        QueuedPacket* packet = take_packet();
        if (packet == nullptr) {
            return MPI_ERR_NO_MEM;
        }
        packet->message = nullptr;
        packet->session = session;
        packet->header_size = std::uint32_t(header_size);
        std::memcpy(packet->header, header, header_size);
        peer.queue.push_back(*packet);
        join(peer);
    }
    return code == SendCode::failed ? MPI_ERR_OTHER : MPI_SUCCESS;
}

bool Backlog::reply(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept {
    return send_control(peer, header, header_size, session) == MPI_SUCCESS;
}

bool Backlog::make_spare(Peer& peer) noexcept {
    const bool ready = can_reply(peer);
    if (ready) {
        _shortage.over();
    } else {
        _shortage.wait(no_memory_for_reply);
    }
    return ready;
}

bool Backlog::allocate_spare() noexcept {
    _spare = _pool.alloc();
    return _spare != nullptr;
}

QueuedPacket* Backlog::take_packet() noexcept {
    QueuedPacket* packet = _pool.alloc();
    return packet != nullptr ? packet : std::exchange(_spare, nullptr);
}

bool Backlog::reply(
    Peer& peer, PacketType type, std::uint64_t request, std::uint32_t code, const Session* session) noexcept {
    const ControlHeader header{type, {}, code, request};
    return reply(peer, &header, sizeof header, session);
}

void Backlog::reject(Peer& from, PacketType type, std::uint64_t request, int code, const Session* session) noexcept {
    if (_spare == nullptr && !allocate_spare()) {
        _shortage.end_job(no_memory_for_reply);
    }
    if (type == PacketType::match_sync) {
        reply(from, PacketType::ack, request, std::uint32_t(code), session);
    } else if (type == PacketType::rts) {
        reply(from, PacketType::fin, request, std::uint32_t(code), session);
    }
}

void Backlog::send_flow(Peer& peer, PacketType type) noexcept {
    const ControlHeader header{type, {}, 0, 0};
    static_cast<void>(send_control(peer, &header, sizeof header, nullptr));
}

bool Backlog::queue(SendRequest& request) noexcept {
    QueuedPacket* packet = _pool.alloc();
    if (packet == nullptr) {
        return false;
    }
    packet->message = &request;
    request.queued = true;
    request.peer->queue.push_back(*packet);
    join(*request.peer);
    return true;
}

bool Backlog::remove(SendRequest& request) noexcept {
    PacketQueue& queue = request.peer->queue;
    for (QueuedPacket* packet = queue.first(); packet != nullptr; packet = PacketQueue::next(*packet)) {
        if (packet->message == &request) {
            queue.erase(*packet);
            _pool.free(packet);
            request.queued = false;
            return true;
        }
    }
    return false;
}

void Backlog::drop(Peer& peer) noexcept {
    while (!peer.queue.empty()) {
        QueuedPacket* packet = peer.queue.pop_front();
        if (packet->message != nullptr) {
            packet->message->queued = false;
        }
        _pool.free(packet);
    }
    while (!peer.streams.empty()) {
        peer.streams.pop_front();
    }
    if (peer.in_backlog) {
        peer.in_backlog = false;
        _backlog.erase(peer);
    }
}

void Backlog::stream(SendRequest& request) noexcept {
    request.peer->streams.push_back(request.stream);
    join(*request.peer);
}

void Backlog::join(Peer& peer) noexcept {
    if (!peer.in_backlog) {
        peer.in_backlog = true;
        _backlog.push_back(peer);
        _peers.mark_work();
    }
    peer.refresh_direct();
}

bool Backlog::has_control(const Session* session) const noexcept {
    for (Peer* peer = _backlog.first(); peer != nullptr; peer = decltype(_backlog)::next(*peer)) {
        for (QueuedPacket* packet = peer->queue.first(); packet != nullptr; packet = PacketQueue::next(*packet)) {
            if (packet->message == nullptr && packet->session == session) {
                return true;
            }
        }
    }
    return false;
}

int Backlog::push(SendProtocol& sends) noexcept {
    int pushed = 0;
    for (Peer* peer = _backlog.first(); peer != nullptr;) {
        Peer* following = decltype(_backlog)::next(*peer);
        pushed += push(*peer, sends);
        peer = following;
    }
    return pushed;
}

int Backlog::push(Peer& peer, SendProtocol& sends) noexcept {
    int pushed = 0;
    // A stream that has failed may have left a packet in the queue.
    if (push_queue(peer, sends, pushed) && push_streams(peer, sends, pushed) && peer.queue.empty()) {
        peer.in_backlog = false;
        _backlog.erase(peer);
    }
    peer.refresh_direct();
    return pushed;
}

// There is no memory for a packet in a queue. true: that has lasted too long for this message, whose sender gets the
// error. No sender could get that of a control packet (nullptr): the job ends.
bool Backlog::gives_up(const SendRequest* message) noexcept {
    if (message != nullptr) {
        return _message_shortage.lasts();
    }
    _shortage.wait(no_memory_for_reply);
    return false;
}

// true: the queue is empty.
bool Backlog::push_queue(Peer& peer, SendProtocol& sends, int& pushed) noexcept {
    while (!peer.queue.empty()) {
        QueuedPacket& packet = *peer.queue.first();
        SendRequest* message = packet.message;
        SendCode code;
        if (message == nullptr) {
            code = peer.btl->send(*peer.endpoint, packet.header, packet.header_size, nullptr, 0);
        } else {
            message->queued = false; // before transmit(): the request may not exist afterwards
            code = sends.transmit(*message);
        }
        const bool waits = code == SendCode::no_memory && !gives_up(message);
        if (code == SendCode::full || waits) {
            if (message != nullptr) {
                message->queued = true;
            }
            pushed += waits ? 1 : 0; // a process that sleeps would not be woken when there is memory again
            return false;
        }
        if (code == SendCode::failed && message != nullptr) {
            sends.finish_failed(*message);
        } else if (code == SendCode::no_memory && message != nullptr) {
            sends.finish(*message, MPI_ERR_NO_MEM);
        }
        if (message == nullptr) {
            _shortage.over();
        } else if (code != SendCode::no_memory) {
            _message_shortage.over();
        }
        peer.queue.erase(packet);
        _pool.free(&packet);
        ++pushed;
    }
    return true;
}

// true: all streams have ended.
bool Backlog::push_streams(Peer& peer, SendProtocol& sends, int& pushed) noexcept {
    for (int i = 0; i < fragments_per_poll && !peer.streams.empty(); ++i) {
        StreamLink& stream = *peer.streams.first();
        SendRequest& request = *stream.request;
        const SendCode code = Rendezvous::send_fragment(request);
        if (code == SendCode::full) {
            return false;
        }
        ++pushed;
        if (code == SendCode::no_memory && !_message_shortage.lasts()) {
            return false; // counted: a process that sleeps would not be woken when there is memory again
        }
        if (code != SendCode::no_memory) {
            _message_shortage.over();
        }
        peer.streams.erase(stream);
        const bool all_sent = code == SendCode::ok && request.convertor->position() == request.stream_end;
        if (all_sent) {
            sends.finish(request, MPI_SUCCESS);
        } else if (code == SendCode::ok) {
            peer.streams.push_back(stream);
        } else {
            end_stream(request, code == SendCode::failed ? MPI_ERR_OTHER : MPI_ERR_NO_MEM, sends);
        }
    }
    return peer.streams.empty();
}

// The rest of the message cannot be sent: both the sender and the receiver get an error.
void Backlog::end_stream(SendRequest& request, int code, SendProtocol& sends) noexcept {
    Peer& peer = *request.peer;
    const Session* session = request.session;
    const std::uint64_t receiver = request.remote_request;
    sends.finish(request, code);
    if (!can_reply(peer)) {
        _shortage.end_job("pml/ob1: out of memory for a fragment of a message that another process waits for");
    }
    reply(peer, PacketType::stream_end, receiver, std::uint32_t(code), session);
}

} // namespace patchbay::pml::ob1
