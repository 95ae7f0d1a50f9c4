// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/log.h"

#include <cstring>

// What did not fit on the wire: per peer a queue of packets and messages in order, and the messages that are being
// streamed, which take turns. Polls push them.
namespace patchbay::pml::ob1 {

using btl::SendCode;

namespace {
// Fragments to one peer per poll, so that one long message does not keep the process from what arrives.
constexpr int fragments_per_poll = 16;
} // namespace

bool Ob1::queue_message(SendRequest& request) noexcept {
    Waiting* entry = _waiting_pool.alloc();
    if (entry == nullptr) {
        log_error("pml/ob1: out of memory for a message that must wait");
        return false;
    }
    entry->message = &request;
    request.queued = true;
    request.peer->waiting.push_back(*entry);
    join_backlog(*request.peer);
    return true;
}

void Ob1::send_control(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept {
    if (!connect(peer)) {
        return; // reported; the peer waits in vain and is ended with the job
    }
    SendCode code = SendCode::full;
    if (peer.waiting.empty()) [[likely]] {
        code = peer.btl->send(*peer.endpoint, header, header_size, nullptr, 0);
    }
    if (code == SendCode::full) {
        Waiting* entry = _waiting_pool.alloc();
        if (entry == nullptr) {
            log_error("pml/ob1: out of memory for a control packet");
            return;
        }
        entry->message = nullptr;
        entry->session = session;
        entry->header_size = std::uint32_t(header_size);
        std::memcpy(entry->header, header, header_size);
        peer.waiting.push_back(*entry);
        join_backlog(peer);
    }
    wake_if_local(peer);
}

void Ob1::send_control(
    Peer& peer, PacketType type, std::uint64_t request, std::uint32_t code, const Session* session) noexcept {
    const ControlHeader header{type, {}, code, request};
    send_control(peer, &header, sizeof header, session);
}

void Ob1::join_backlog(Peer& peer) noexcept {
    if (!peer.in_backlog) {
        peer.in_backlog = true;
        _backlog.push_back(peer);
    }
    refresh_direct(peer);
}

int Ob1::push_backlog() noexcept {
    int pushed = 0;
    for (Peer* peer = _backlog.first(); peer != nullptr;) {
        Peer* following = List<Peer, &Peer::backlog>::next(*peer);
        pushed += push(*peer);
        peer = following;
    }
    return pushed;
}

int Ob1::push(Peer& peer) noexcept {
    int pushed = 0;
    if (push_waiting(peer, pushed) && push_streams(peer, pushed)) {
        peer.in_backlog = false;
        _backlog.erase(peer);
    }
    refresh_direct(peer);
    return pushed;
}

// true: nothing is left.
bool Ob1::push_waiting(Peer& peer, int& pushed) noexcept {
    while (!peer.waiting.empty()) {
        Waiting& entry = *peer.waiting.first();
        SendRequest* message = entry.message;
        SendCode code;
        if (message == nullptr) {
            code = peer.btl->send(*peer.endpoint, entry.header, entry.header_size, nullptr, 0);
        } else {
            message->queued = false; // before transmit: afterwards the request may be gone
            code = transmit(*message);
        }
        if (code == SendCode::full) {
            if (message != nullptr) {
                message->queued = true;
            }
            return false;
        }
        if (code == SendCode::failed && message != nullptr) {
            finish(*message, MPI_ERR_OTHER);
        }
        peer.waiting.erase(entry);
        _waiting_pool.free(&entry);
        ++pushed;
    }
    return true;
}

bool Ob1::push_streams(Peer& peer, int& pushed) noexcept {
    for (int i = 0; i < fragments_per_poll && !peer.streams.empty(); ++i) {
        StreamLink& stream = *peer.streams.first();
        SendRequest& request = *stream.request;
        const SendCode code = transmit_fragment(request);
        if (code == SendCode::full) {
            return false;
        }
        peer.streams.erase(stream);
        const bool all_gone = request.convertor->position() == request.stream_end;
        if (code == SendCode::failed || all_gone) {
            finish(request, all_gone ? MPI_SUCCESS : MPI_ERR_OTHER);
        } else {
            peer.streams.push_back(stream);
        }
        ++pushed;
    }
    return peer.streams.empty();
}

bool Ob1::owes_packets(const Session* session) const noexcept {
    if (_owed.to != nullptr && _owed.state->session == session) {
        return true;
    }
    for (Peer* peer = _backlog.first(); peer != nullptr; peer = decltype(_backlog)::next(*peer)) {
        const auto& waiting = peer->waiting;
        for (Waiting* entry = waiting.first(); entry != nullptr; entry = List<Waiting, &Waiting::link>::next(*entry)) {
            if (entry->message == nullptr && entry->session == session) {
                return true;
            }
        }
    }
    return false;
}

bool Ob1::withdraw_waiting(SendRequest& request) noexcept {
    auto& waiting = request.peer->waiting;
    for (Waiting* entry = waiting.first(); entry != nullptr; entry = List<Waiting, &Waiting::link>::next(*entry)) {
        if (entry->message == &request) {
            waiting.erase(*entry);
            _waiting_pool.free(entry);
            request.queued = false;
            return true;
        }
    }
    return false;
}

} // namespace patchbay::pml::ob1
