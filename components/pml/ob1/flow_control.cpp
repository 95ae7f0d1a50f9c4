// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/flow_control.h"

#include "components/common/short_copy.h"
#include "core/base/format_into.h"
#include "core/log.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay::pml::ob1 {

static Unexpected* make(MessageStore& store, Shortage& shortage, std::size_t payload_size, int source) noexcept {
    Unexpected* message = store.make(payload_size);
    if (message != nullptr) {
        shortage.over();
    } else if (shortage.lasts()) {
        char text[200]; // what memory is left is needed to end the job
        shortage.end_job(format_into(text,
            "pml/ob1: out of memory for an unexpected message of {} bytes from rank {} of its communicator; a lower "
            "pml_ob1_unexpected_limit makes senders wait earlier",
            payload_size, source));
    }
    return message;
}

Unexpected* FlowControl::store(
    Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    Unexpected* made = make(_store, _shortage, payload_size, match.source);
    if (made == nullptr) [[unlikely]] {
        return nullptr;
    }
    Unexpected& message = *made;
    message.from = &from;
    message.match = match;
    message.length = payload_size;
    if (match.type == PacketType::match_sync) {
        message.request = static_cast<const SyncHeader*>(header)->request;
    } else if (match.type == PacketType::rts) {
        const auto& rts = *static_cast<const RtsHeader*>(header);
        message.request = rts.request;
        message.length = rts.length;
        message.address = rts.address;
    }
    common::copy_any(message.payload(), payload, payload_size);
    from.unexpected_bytes += message.charge;
    _bytes += message.charge;
    for (Watermark* mark : _marks) {
        mark->store(std::max(mark->load(std::memory_order_relaxed), _bytes), std::memory_order_relaxed);
    }
    if (from.unexpected_bytes > _limit && !from.xoff_sent) {
        from.xoff_sent = true;
        _backlog.send_flow(from, PacketType::xoff);
    }
    return &message;
}

void FlowControl::release(Unexpected& message) noexcept {
    Peer& from = *message.from;
    from.unexpected_bytes -= message.charge;
    _bytes -= message.charge;
    _store.free(&message);
    if (from.xoff_sent && from.unexpected_bytes < _limit / 2) {
        from.xoff_sent = false;
        _backlog.send_flow(from, PacketType::xon);
    }
}

void FlowControl::track(Watermark& mark, bool on) noexcept {
    std::erase(_marks, &mark);
    if (on) {
        try {
            _marks.push_back(&mark);
        } catch (const std::bad_alloc&) {
            log_warn("pml/ob1: out of memory for a watermark, which stays as it is");
        }
    }
}

void FlowControl::end(Peers& peers) noexcept {
    peers.for_each([this](Peer& peer) {
        if (std::exchange(peer.xoff_sent, false)) {
            _backlog.send_flow(peer, PacketType::xon);
        }
    });
}

} // namespace patchbay::pml::ob1
