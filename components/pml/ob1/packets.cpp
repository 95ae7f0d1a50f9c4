// SPDX-License-Identifier: BSD-3-Clause
#include "components/common/short_copy.h"
#include "components/pml/ob1/module.h"
#include "core/log.h"
#include "core/runtime/runtime.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace patchbay::pml::ob1 {

namespace {

template <class T>
T* from_wire(std::uint64_t request) noexcept {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(request));
}

// A match header with no flag, by one comparison.
bool is_plain_match(const void* header) noexcept {
    std::uint16_t type_and_flags;
    std::memcpy(&type_and_flags, header, sizeof type_and_flags);
    return type_and_flags == std::uint16_t(PacketType::match);
}

} // namespace

void Ob1::receive(void* context, btl::Endpoint& endpoint, const void* header, std::size_t, const void* payload,
    std::size_t payload_size) noexcept {
    auto& self = *static_cast<Ob1*>(context);
    Peer& from = self.peer_of(endpoint);
    const auto& match = *static_cast<const MatchHeader*>(header);
    const auto* bytes = static_cast<const std::byte*>(payload);
    if (is_plain_match(header)) [[likely]] {
        self.on_match(from, self.find_state(match), match, bytes, payload_size);
    } else if (match.type == PacketType::match) {
        self.receive_message(from, header, bytes, payload_size);
    } else {
        self.receive_other(from, header, bytes, payload_size);
    }
}

void Ob1::receive_other(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& control = *static_cast<const ControlHeader*>(header);
    switch (control.type) {
    case PacketType::match:
    case PacketType::match_sync:
    case PacketType::rts:
        receive_message(from, header, payload, payload_size);
        break;
    case PacketType::answer:
        on_answer(*static_cast<const AnswerHeader*>(header));
        break;
    case PacketType::ack:
    case PacketType::fin:
        finish(*from_wire<SendRequest>(control.request), MPI_SUCCESS);
        break;
    case PacketType::cts:
        on_cts(*static_cast<const CtsHeader*>(header));
        break;
    case PacketType::frag:
        on_frag(*static_cast<const FragHeader*>(header), payload, payload_size);
        break;
    case PacketType::cancel:
        on_cancel(from, *static_cast<const SyncHeader*>(header));
        break;
    case PacketType::cancel_reply:
        on_cancel_reply(control);
        break;
    case PacketType::xoff:
    case PacketType::xon:
        from.told_to_stop = control.type == PacketType::xoff;
        refresh_direct(from);
        break;
    }
}

// Any but a plain match.
void Ob1::receive_message(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    if (match.flags == named_by_excid) {
        on_nameless(from, header, payload, payload_size);
        return;
    }
    CommState* state = find_state(match);
    if (match.flags == same_index && state != nullptr && state->name != nullptr) {
        _names.counters.answers.add_locked();
        learn(*state, match.source, match.index);
    }
    on_message(from, state, header, payload, payload_size);
}

// The communicator that a message is for; nullptr: it does not exist here (yet), or has no such rank.
CommState* Ob1::find_state(const MatchHeader& match) noexcept {
    CommState* state = _comms[match.index];
    return state != nullptr && is_rank_of(*state, match) ? state : nullptr;
}

void Ob1::complain_of_rank(const CommState& state, const MatchHeader& match) noexcept {
    log_error(
        fmt::format("pml/ob1: a message from rank {} came for communicator {}, which has only {} ranks; it is dropped",
            match.source, state.comm.index, state.comm.remote_size));
}

void Ob1::on_match(
    Peer& from, CommState* state, const MatchHeader& match, const std::byte* payload, std::size_t size) noexcept {
    RecvRequest* request = state == nullptr ? nullptr : state->match(match.source, match.tag);
    if (request != nullptr) [[likely]] {
        deliver(*request, match, payload, size);
    } else {
        keep(from, state, &match, payload, size);
    }
}

void Ob1::on_sync(
    Peer& from, CommState* state, const SyncHeader& sync, const std::byte* payload, std::size_t size) noexcept {
    RecvRequest* request = state == nullptr ? nullptr : state->match(sync.match.source, sync.match.tag);
    if (request == nullptr) {
        keep(from, state, &sync, payload, size);
        return;
    }
    send_control(from, PacketType::ack, sync.request, 0, state->session);
    deliver(*request, sync.match, payload, size);
}

void Ob1::on_rts(Peer& from, CommState* state, const RtsHeader& rts) noexcept {
    RecvRequest* request = state == nullptr ? nullptr : state->match(rts.match.source, rts.match.tag);
    if (request == nullptr) {
        keep(from, state, &rts, nullptr, 0);
        return;
    }
    begin_rendezvous(*request, from, rts.match, rts.request, rts.length, rts.address);
}

// Nobody waits for the message: it is copied, and counted against its sender.
void Ob1::keep(
    Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    if (state == nullptr && _comms[match.index] != nullptr) {
        return; // dropped by find_state, which has said so
    }
    Unexpected* message = store(from, header, payload, payload_size);
    if (state != nullptr) {
        state->keep(*message);
    } else {
        _early_by_index[match.index].push_back(*message);
    }
}

Unexpected* Ob1::store(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    Unexpected* message = _store.make(payload_size);
    if (message == nullptr) {
        // The message is on no wire any more, so nobody could be given an error for it. What is left of the memory is
        // for ending the job.
        char text[200];
        const auto end = fmt::format_to_n(text, sizeof text,
            "pml/ob1: out of memory for an unexpected message of {} bytes from rank {} of its communicator; a lower "
            "pml_ob1_unexpected_limit makes senders wait earlier",
            payload_size, match.source);
        _runtime.abort(MPI_ERR_NO_MEM, {text, std::min(end.size, sizeof text)});
    }
    message->from = &from;
    message->match = match;
    message->length = payload_size;
    if (match.type == PacketType::match_sync) {
        message->request = static_cast<const SyncHeader*>(header)->request;
    } else if (match.type == PacketType::rts) {
        const auto& rts = *static_cast<const RtsHeader*>(header);
        message->request = rts.request;
        message->length = rts.length;
        message->address = rts.address;
    }
    common::copy_any(message->payload(), payload, payload_size);
    from.unexpected_bytes += message->charge;
    if (from.unexpected_bytes > _settings.unexpected_limit && !from.stopped) {
        from.stopped = true;
        send_control(from, PacketType::xoff, 0, 0, nullptr);
    }
    return message;
}

void Ob1::on_cts(const CtsHeader& cts) noexcept {
    auto& request = *from_wire<SendRequest>(cts.send_request);
    request.remote_request = cts.recv_request;
    request.stream_end = cts.offset + cts.length;
    request.convertor->seek(cts.offset);
    request.peer->streams.push_back(request.stream);
    join_backlog(*request.peer);
}

void Ob1::on_frag(const FragHeader& frag, const std::byte* payload, std::size_t size) noexcept {
    auto& request = *from_wire<RecvRequest>(frag.recv_request);
    request.convertor->unpack(payload, size);
    if (request.convertor->position() == request.expected) {
        complete(request);
    }
}

void Ob1::on_cancel(Peer& from, const SyncHeader& cancel) noexcept {
    const MatchHeader& match = cancel.match;
    CommState* state = nullptr;
    ArrivalQueue* early = nullptr;
    if (match.flags == named_by_excid) {
        const cid::ExtendedId& id = reinterpret_cast<const Extended<SyncHeader>&>(cancel).id;
        state = find_named(id, match.index);
        const auto waiting = _early_by_name.find(id);
        early = waiting != _early_by_name.end() ? &waiting->second : nullptr;
    } else {
        state = _comms[match.index];
        const auto waiting = _early_by_index.find(match.index);
        early = waiting != _early_by_index.end() ? &waiting->second : nullptr;
    }
    bool given_back = false;
    if (state != nullptr) {
        Unexpected* message = is_rank_of(*state, match) ? state->find_id(match.source, match.id) : nullptr;
        if (message != nullptr) {
            state->remove(*message);
            give_up(*message);
            given_back = true;
        }
    } else if (early != nullptr) {
        given_back = withdraw_early(*early, from, match.id);
    }
    const Session* session = state != nullptr ? state->session : nullptr;
    send_control(from, PacketType::cancel_reply, cancel.request, given_back ? 1 : 0, session);
}

void Ob1::on_cancel_reply(const ControlHeader& reply) noexcept {
    auto& request = *from_wire<SendRequest>(reply.request);
    request.cancel_asked = false;
    if (reply.code == 1) {
        set_status_cancelled(request.status, true);
        finish(request, MPI_SUCCESS);
    } else if (request.done_but_for_answer) {
        finish(request, request.error);
    }
}

} // namespace patchbay::pml::ob1
