// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/backlog.h"

#include "components/pml/ob1/send_protocol.h"
#include "core/log.h"

#include <cstring>

namespace patchbay::pml::ob1 {

using btl::SendCode;

namespace {
// Fragments to one peer per poll, so that one long message does not delay the packets that arrive.
constexpr int fragments_per_poll = 16;
} // namespace

int Backlog::send_control(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept {
    if (peer.failed || !_peers.connect(peer)) {
        return MPI_ERR_OTHER;
    }
    SendCode code = SendCode::full;
    if (peer.queue.empty()) [[likely]] {
        code = peer.btl->send(*peer.endpoint, header, header_size, nullptr, 0);
    }
    if (code == SendCode::full) {
        QueuedPacket* packet = _pool.alloc();
        if (packet == nullptr) {
            log_error("pml/ob1: out of memory for a control packet");
            return MPI_ERR_NO_MEM;
        }
        packet->message = nullptr;
        packet->session = session;
        packet->header_size = std::uint32_t(header_size);
        std::memcpy(packet->header, header, header_size);
        peer.queue.push_back(*packet);
        join(peer);
    }
    _peers.wake_if_self(peer);
    return code == SendCode::failed ? MPI_ERR_OTHER : MPI_SUCCESS;
}

bool Backlog::reply(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept {
    const int code = send_control(peer, header, header_size, session);
    // A process cannot be unreachable to itself: its btl has no memory for the packet.
    if (code == MPI_ERR_NO_MEM || (code != MPI_SUCCESS && peer.is_self)) {
        _peers.abort("pml/ob1: out of memory for a control packet that another request waits for");
    }
    return code == MPI_SUCCESS;
}

bool Backlog::reply(
    Peer& peer, PacketType type, std::uint64_t request, std::uint32_t code, const Session* session) noexcept {
    const ControlHeader header{type, {}, code, request};
    return reply(peer, &header, sizeof header, session);
}

void Backlog::send_flow(Peer& peer, PacketType type) noexcept {
    const ControlHeader header{type, {}, 0, 0};
    static_cast<void>(send_control(peer, &header, sizeof header, nullptr));
}

bool Backlog::queue(SendRequest& request) noexcept {
    QueuedPacket* packet = _pool.alloc();
    if (packet == nullptr) {
        log_error("pml/ob1: out of memory for a message for which the btl has no room");
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
    if (push_queue(peer, sends, pushed) && push_streams(peer, sends, pushed)) {
        peer.in_backlog = false;
        _backlog.erase(peer);
    }
    peer.refresh_direct();
    return pushed;
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
        if (code == SendCode::full) {
            if (message != nullptr) {
                message->queued = true;
            }
            return false;
        }
        if (code == SendCode::failed && message != nullptr) {
            sends.finish(*message, MPI_ERR_OTHER);
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
        peer.streams.erase(stream);
        const bool all_sent = request.convertor->position() == request.stream_end;
        if (code == SendCode::failed || all_sent) {
            sends.finish(request, all_sent ? MPI_SUCCESS : MPI_ERR_OTHER);
        } else {
            peer.streams.push_back(stream);
        }
        ++pushed;
    }
    return peer.streams.empty();
}

} // namespace patchbay::pml::ob1
