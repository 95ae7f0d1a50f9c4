// SPDX-License-Identifier: BSD-3-Clause
// Control messages to other processes, and the credits by which an origin limits what it has under way.
#include "components/osc/pt2pt/module.h"
#include "object/error_cause.h"

#include <new>

namespace patchbay::osc::pt2pt {

namespace {
constexpr std::size_t most_free = 16; // messages that are kept for the next ones
}

OutMessage* Pt2pt::make_message(Kind kind, std::size_t payload) noexcept {
    OutMessage* message = _free_messages;
    if (message != nullptr) {
        _free_messages = message->next_free;
        --_free_count;
    } else {
        void* memory = ::operator new(sizeof(OutMessage) + _agreed.inline_bytes, std::nothrow);
        if (memory == nullptr) {
            note_cause(MPI_ERR_NO_MEM, "osc/pt2pt: no memory for a message");
            return nullptr;
        }
        message = ::new (memory) OutMessage(*this, _progress, [](ReadyItem& item) noexcept {
            auto& sent = static_cast<OutMessage&>(item);
            sent.module.message_sent(sent);
        });
    }
    message->header = Header{};
    message->header.kind = kind;
    message->header.payload = std::uint32_t(payload);
    return message;
}

void Pt2pt::free_message(OutMessage* message) noexcept {
    if (_free_count < most_free) {
        message->next_free = std::exchange(_free_messages, message);
        ++_free_count;
    } else {
        message->~OutMessage();
        ::operator delete(message);
    }
}

int Pt2pt::send(Peer& peer, OutMessage* message) noexcept {
    Header& header = message->header;
    header.done = peer.completed;
    peer.told = peer.completed;
    const MPI_Count bytes = MPI_Count(sizeof header + header.payload);
    message->peer = &peer;
    const int code =
        _pml.isend(&header, bytes, _byte, peer.rank, control_tag, pml::SendMode::standard, _comm, &message->request);
    if (code != MPI_SUCCESS) {
        free_message(message);
        return code;
    }
    if (!message->request->is_complete()) {
        ++_sending;
        message->open();
        static_cast<void>(message->request->attach(*message));
        if (!message->close()) {
            return MPI_SUCCESS;
        }
        --_sending;
    }
    const int error = message->request->error;
    message->request->recycle();
    free_message(message);
    if (error == MPI_ERR_PROC_ABORTED) {
        fail(peer);
    }
    return error;
}

void Pt2pt::message_sent(OutMessage& message) noexcept {
    const Guard guard(_lock);
    --_sending;
    const int error = message.request->error;
    message.request->recycle();
    Peer& peer = *message.peer;
    free_message(&message);
    if (error == MPI_ERR_PROC_ABORTED) {
        fail(peer);
    } else if (error != MPI_SUCCESS && peer.error == MPI_SUCCESS) {
        peer.error = error;
    }
}

int Pt2pt::send_numbered(Peer& peer, OutMessage* message) noexcept {
    const std::uint64_t asked = peer.asked;
    if ((message->header.flags & flag_acknowledge) != 0) {
        peer.asked = peer.sent + 1;
    }
    const int code = send(peer, message);
    if (code == MPI_SUCCESS) {
        ++peer.sent;
    } else {
        peer.asked = asked; // otherwise the next flush would wait for an answer to a message that was not sent
    }
    return code;
}

int Pt2pt::send_numbered(Peer& peer, Kind kind, std::uint8_t flags) noexcept {
    OutMessage* message = make_message(kind, 0);
    if (message == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    message->header.flags = flags;
    return send_numbered(peer, message);
}

int Pt2pt::reserve(Peer& peer, std::uint64_t credits, UniqueLock& lock) noexcept {
    const auto has_credits = [&](const Awaited& of) {
        return of.peer->sent - of.peer->done + credits <= _agreed.credits;
    };
    const Awaited one[] = {{&peer}};
    while (!peer.failed && !has_credits(*one)) {
        lock.unlock();
        const int code = wait_for_peers(one, has_credits);
        lock.lock();
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return peer.failed ? take_error(peer) : MPI_SUCCESS;
}

void Pt2pt::acknowledge(Peer& origin) noexcept {
    if (origin.failed) {
        return;
    }
    OutMessage* message = make_message(Kind::acknowledge, 0);
    if (message == nullptr) {
        out_of_memory();
    }
    message->header.error = std::exchange(origin.report, MPI_SUCCESS);
    message->header.flags = std::exchange(origin.must_know, false) ? flag_lock_refused : 0;
    if (send(origin, message) == MPI_ERR_NO_MEM) {
        out_of_memory();
    }
}

} // namespace patchbay::osc::pt2pt
