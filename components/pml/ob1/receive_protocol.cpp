// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/receive_protocol.h"

#include <algorithm>

namespace patchbay::pml::ob1 {

void ReceiveProtocol::accept(RecvRequest& request, Unexpected& message) noexcept {
    Peer& from = *message.from;
    if (message.match.type == PacketType::rts) {
        _rendezvous.begin(request, from, message.match, message.request, message.length, message.address);
    } else {
        if (message.match.type == PacketType::match_sync) {
            _backlog.reply(from, PacketType::ack, message.request, 0, request.comm->session);
        }
        deliver(request, message.match, message.payload(), message.length);
    }
    _flow.release(message);
}

std::size_t ReceiveProtocol::copy_otherwise(RecvRequest& request, const std::byte* payload, std::size_t size) noexcept {
    const std::size_t used = std::min(size, request.bytes);
    if (request.type->dense) {
        common::copy_any(request.address(), payload, used);
    } else if (used != 0) {
        request.convertor.make(*request.type, request.count, request.buffer).unpack(payload, used);
    }
    if (size > request.bytes) {
        request.truncate(size);
    }
    return used;
}

} // namespace patchbay::pml::ob1
