// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"

#include <cstring>

// Packets that arrive: each goes to the part that it concerns.
namespace patchbay::pml::ob1 {

namespace {

// A match header without a flag, tested by one comparison.
bool is_plain_match(const void* header) noexcept {
    std::uint16_t type_and_flags;
    std::memcpy(&type_and_flags, header, sizeof type_and_flags);
    return type_and_flags == std::uint16_t(PacketType::match);
}

bool is_message(PacketType type) noexcept {
    return type == PacketType::match || type == PacketType::match_sync || type == PacketType::rts;
}

// The exCID of an extended header.
const cid::ExtendedId& excid_behind(const void* header, PacketType type) noexcept {
    if (type == PacketType::match) [[likely]] {
        return static_cast<const Extended<MatchHeader>*>(header)->id;
    }
    return type == PacketType::rts ? static_cast<const Extended<RtsHeader>*>(header)->id
                                   : static_cast<const Extended<SyncHeader>*>(header)->id;
}

} // namespace

bool Ob1::receive(void* context, btl::Endpoint& endpoint, const void* header, std::size_t, const void* payload,
    std::size_t payload_size) noexcept {
    auto& self = *static_cast<Ob1*>(context);
    if (!self._peers.know_sender(endpoint)) [[unlikely]] {
        return false;
    }
    Peer& from = Peers::sender(endpoint);
    const auto& match = *static_cast<const MatchHeader*>(header);
    const auto* bytes = static_cast<const std::byte*>(payload);
    if (is_plain_match(header)) [[likely]] {
        return self._matching.on_match(from, self._matching.find(match), match, bytes, payload_size);
    }
    return match.type == PacketType::match ? self.receive_message(from, header, bytes, payload_size)
                                           : self.receive_other(from, header, bytes, payload_size);
}

bool Ob1::receive_and_count(void* context, btl::Endpoint& endpoint, const void* header, std::size_t header_size,
    const void* payload, std::size_t payload_size) noexcept {
    const PacketType type = static_cast<const MatchHeader*>(header)->type;
    const std::uint64_t bytes = type == PacketType::rts ? static_cast<const RtsHeader*>(header)->length : payload_size;
    if (!receive(context, endpoint, header, header_size, payload, payload_size)) {
        return false;
    }
    if (is_message(type)) {
        Traffic& traffic = static_cast<Ob1*>(context)->_traffic;
        ++traffic.messages_received;
        traffic.bytes_received += bytes;
    }
    return true;
}

bool Ob1::receive_other(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& control = *static_cast<const ControlHeader*>(header);
    if (from.failed && !is_message(control.type)) [[unlikely]] {
        return true; // the request that the packet is about has ended: see peer_failed()
    }
    switch (control.type) {
    case PacketType::match:
    case PacketType::match_sync:
    case PacketType::rts:
        return receive_message(from, header, payload, payload_size);
    case PacketType::cid_ack: {
        const auto& ack = *static_cast<const CidAckHeader*>(header);
        _handshake.on_ack(_matching.find(ack.id, ack.index), ack);
        break;
    }
    case PacketType::ack:
    case PacketType::fin:
        _sends.finish(*request_at<SendRequest>(control.request), int(control.code));
        break;
    case PacketType::cts:
        _rendezvous.on_cts(*static_cast<const CtsHeader*>(header));
        break;
    case PacketType::put:
        return _rendezvous.on_put(from, *static_cast<const PutHeader*>(header));
    case PacketType::put_end:
        return _rendezvous.on_put_end(from, control);
    case PacketType::frag:
        _rendezvous.on_fragment(*static_cast<const FragHeader*>(header), payload, payload_size);
        break;
    case PacketType::stream_end:
        _rendezvous.on_stream_end(control);
        break;
    case PacketType::cancel:
        return _matching.on_cancel(from, *static_cast<const SyncHeader*>(header));
    case PacketType::cancel_reply:
        _sends.on_cancel_reply(control);
        break;
    case PacketType::refusal:
        return _refusals.on_refusal(from, *static_cast<const RefusalHeader*>(header));
    case PacketType::refusal_ack:
        _refusals.on_ack(*static_cast<const RefusalHeader*>(header));
        break;
    case PacketType::xoff:
    case PacketType::xon:
        FlowControl::on_xoff(from, control.type == PacketType::xoff);
        break;
    }
    return true;
}

// Any message but a match without a flag.
bool Ob1::receive_message(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    if (match.flags == extended) {
        return receive_extended(from, header, payload, payload_size);
    }
    CommState* state = _matching.find(match);
    if (!_matching.on_message(from, state, header, payload, payload_size)) {
        return false;
    }
    if (match.flags == same_index && state != nullptr && state->excid != nullptr) {
        _handshake.on_same_index(*state, match);
    }
    return true;
}

bool Ob1::receive_extended(
    Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    const cid::ExtendedId& excid = excid_behind(header, match.type);
    CommState* state = _matching.find(excid, match.index);
    if (state == nullptr) [[unlikely]] {
        return _early.add(excid, from, header, payload, payload_size);
    }
    if (!state->has_source(match)) {
        return _matching.refuse_message(from, header, *state);
    }
    if (!_matching.on_message(from, state, header, payload, payload_size)) {
        return false;
    }
    _handshake.on_extended(*state, from, match);
    return true;
}

} // namespace patchbay::pml::ob1
