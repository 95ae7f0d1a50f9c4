// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/early_messages.h"

#include "core/base/copy.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace patchbay::pml::ob1 {

static constexpr std::string_view no_memory_for_message =
    "pml/ob1: out of memory for a message that came before its communicator";

// Type of a cancelled message that is kept because its extended header is needed.
static constexpr PacketType cancelled = PacketType::cancel;

// Calls `action` with each message, which is in no queue any more, and with a pointer to its exCID or nullptr.
template <class Action>
void EarlyMessages::take_each(const Action& action) {
    for (auto& [index, messages] : _by_index) {
        while (!messages.empty()) {
            action(*messages.pop_front(), nullptr, index);
        }
    }
    for (auto& [excid, messages] : _by_excid) {
        while (!messages.empty()) {
            action(*messages.pop_front(), &excid, std::uint16_t(0));
        }
    }
}

EarlyMessages::~EarlyMessages() {
    take_each([this](Unexpected& message, const cid::ExtendedId*, std::uint16_t) { _flow.discard(message); });
}

template <class Map, class Key>
bool EarlyMessages::add(
    Map& queues, const Key& key, Peer& from, const void* header, const std::byte* payload, std::size_t size) noexcept {
    try {
        ArrivalQueue& queue = queues[key]; // before the message, for which store() may send an xoff
        Unexpected* message = _flow.store(from, header, payload, size);
        if (message != nullptr) {
            queue.push_back(*message);
        }
        return message != nullptr;
    } catch (const std::bad_alloc&) {
        _shortage.wait(no_memory_for_message);
        return false;
    }
}

bool EarlyMessages::add(
    std::uint16_t index, Peer& from, const void* header, const std::byte* payload, std::size_t size) noexcept {
    return add(_by_index, index, from, header, payload, size);
}
bool EarlyMessages::add(
    const cid::ExtendedId& excid, Peer& from, const void* header, const std::byte* payload, std::size_t size) noexcept {
    return add(_by_excid, excid, from, header, payload, size);
}

bool EarlyMessages::has_any(const CommState& state) const noexcept {
    return state.excid != nullptr ? _by_excid.contains(*state.excid) : _by_index.contains(state.comm.index);
}

ArrivalQueue EarlyMessages::extract(const CommState& state) noexcept {
    if (state.excid != nullptr && !_by_excid.empty()) {
        const auto queue = _by_excid.extract(*state.excid);
        return queue ? queue.mapped() : ArrivalQueue();
    }
    if (state.excid == nullptr && !_by_index.empty()) {
        const auto queue = _by_index.extract(state.comm.index);
        return queue ? queue.mapped() : ArrivalQueue();
    }
    return {};
}

bool EarlyMessages::deliver(CommState& state) noexcept {
    if (has_any(state) && !state.prepare()) {
        return false;
    }
    ArrivalQueue messages = extract(state);
    while (!messages.empty()) {
        Unexpected& message = *messages.pop_front();
        if (!state.has_source(message.match)) {
            _flow.release(message);
            continue;
        }
        if (message.match.flags == extended) {
            _handshake.on_extended(state, *message.from, message.match);
            message.match.index = state.comm.index;
            message.match.flags = 0;
        }
        if (message.match.type == cancelled) {
            _flow.release(message);
        } else {
            state.add(message);
        }
    }
    return true;
}

ArrivalQueue* EarlyMessages::find(const SyncHeader& cancel) noexcept {
    if (cancel.match.flags == extended) {
        const auto queue = _by_excid.find(reinterpret_cast<const Extended<SyncHeader>&>(cancel).id);
        return queue != _by_excid.end() ? &queue->second : nullptr;
    }
    const auto queue = _by_index.find(cancel.match.index);
    return queue != _by_index.end() ? &queue->second : nullptr;
}

// The sender has sent its index in this message and does not send it again. So the last extended header from there has
// to be kept, whether its message is cancelled or not.
bool EarlyMessages::cancel(const SyncHeader& cancel, const Peer& from) noexcept {
    ArrivalQueue* queue = find(cancel);
    Unexpected* found = nullptr;
    bool another = false; // message from the same sender
    for (Unexpected* message = queue != nullptr ? queue->first() : nullptr; message != nullptr;
         message = ArrivalQueue::next(*message)) {
        if (message->from == &from) {
            const bool wanted = message->match.id == cancel.match.id && message->match.type != cancelled;
            found = wanted ? message : found;
            another = another || !wanted;
        }
    }
    if (found == nullptr) {
        return false;
    }
    if (found->match.flags == extended && !another) {
        found->match.type = cancelled;
    } else {
        queue->erase(*found);
        _flow.release(*found);
    }
    return true;
}

// The packet as it came, without the exCID behind its header.
static EarlyMessage pack(const Unexpected& message) {
    // `request` has the same offset in a SyncHeader.
    const RtsHeader header = RtsHeader::make(message.match, message.request, message.length, 0, message.address);
    const std::size_t header_size = match_header_size(message.match.type);
    // A cancelled message may have been one whose data is not here.
    const bool has_payload = message.match.type != PacketType::rts && message.match.type != cancelled;
    const std::size_t payload_size = has_payload ? message.length : 0;
    EarlyMessage early{message.from->process, {}, {}, {}};
    early.packet.resize(header_size + payload_size);
    std::memcpy(early.packet.data(), &header, header_size);
    if (payload_size != 0) {
        copy_bytes(early.packet.data() + header_size, message.payload(), payload_size);
    }
    return early;
}

std::vector<EarlyMessage> EarlyMessages::take() {
    std::vector<EarlyMessage> taken;
    take_each([&](Unexpected& message, const cid::ExtendedId* excid, std::uint16_t index) {
        EarlyMessage& early = taken.emplace_back(pack(message));
        if (excid != nullptr) {
            early.name = *excid;
        } else {
            early.index = index;
        }
        _flow.discard(message);
    });
    return taken;
}

void EarlyMessages::accept(const EarlyMessage& early, Peer& from) noexcept {
    RtsHeader header{};
    std::memcpy(&header, early.packet.data(), std::min(sizeof header, early.packet.size()));
    const std::size_t header_size = match_header_size(header.match.type);
    const std::byte* payload = early.packet.data() + header_size;
    const std::size_t size = early.packet.size() - header_size;
    const bool added =
        early.index ? add(*early.index, from, &header, payload, size) : add(early.name, from, &header, payload, size);
    if (!added) {
        _shortage.end_job(no_memory_for_message);
    }
}

} // namespace patchbay::pml::ob1
