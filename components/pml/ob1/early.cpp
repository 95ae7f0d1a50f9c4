// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/runtime/runtime.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

// Messages that came before their communicator: for one that a peer has made already and this process has not yet.
namespace patchbay::pml::ob1 {

// Type of an early message that is kept only for the index that it has told.
static constexpr PacketType withdrawn = PacketType::cancel;

// Messages that came before their communicator.
void Ob1::deliver_early(CommState& state) noexcept {
    ArrivalQueue messages;
    if (state.name != nullptr && !_early_by_name.empty()) {
        if (auto waiting = _early_by_name.extract(*state.name)) {
            messages = waiting.mapped();
        }
    } else if (state.name == nullptr && !_early_by_index.empty()) {
        if (auto waiting = _early_by_index.extract(state.comm.index)) {
            messages = waiting.mapped();
        }
    }
    while (!messages.empty()) {
        Unexpected* message = messages.pop_front();
        if (!is_rank_of(state, message->match)) {
            give_up(*message);
            continue;
        }
        if (message->match.flags == named_by_excid) {
            meet(state, *message->from, message->match);
            message->match.index = state.comm.index;
            message->match.flags = 0;
        }
        if (message->match.type == withdrawn) {
            give_up(*message);
        } else {
            state.keep(*message);
        }
    }
}

// Its sender wants it back. What it has told us we must not forget: the sender will not tell it again. false: it is not
// here.
bool Ob1::withdraw_early(ArrivalQueue& early, const Peer& from, std::uint32_t id) noexcept {
    Unexpected* found = nullptr;
    bool another = false; // message that tells the same
    for (Unexpected* message = early.first(); message != nullptr; message = ArrivalQueue::next(*message)) {
        if (message->from == &from) {
            const bool wanted = message->match.id == id && message->match.type != withdrawn;
            found = wanted ? message : found;
            another = another || !wanted;
        }
    }
    if (found == nullptr) {
        return false;
    }
    if (found->match.flags == named_by_excid && !another) {
        found->match.type = withdrawn;
    } else {
        early.erase(*found);
        give_up(*found);
    }
    return true;
}

// As it came, but without the name behind its header.
static EarlyMessage pack(const Unexpected& message) {
    // `request` lies at the same place in a SyncHeader.
    const RtsHeader header{message.match, message.request, message.length, message.address};
    const std::size_t header_size = match_header_size(message.match.type);
    const std::size_t payload_size = message.match.type == PacketType::rts ? 0 : message.length;
    EarlyMessage early{message.from->process, {}, {}, {}};
    early.packet.resize(header_size + payload_size);
    std::memcpy(early.packet.data(), &header, header_size);
    if (payload_size != 0) {
        std::memcpy(early.packet.data() + header_size, message.payload(), payload_size);
    }
    return early;
}

std::vector<EarlyMessage> Ob1::take_early() noexcept {
    Guard guard(*this);
    try {
        std::vector<EarlyMessage> taken;
        const auto take_all = [&](ArrivalQueue& messages, const auto& identify) {
            while (!messages.empty()) {
                Unexpected* message = messages.pop_front();
                identify(taken.emplace_back(pack(*message)));
                _store.free(message);
            }
        };
        for (auto& [index, messages] : _early_by_index) {
            take_all(messages, [index = index](EarlyMessage& early) { early.index = index; });
        }
        for (auto& [name, messages] : _early_by_name) {
            take_all(messages, [&name = name](EarlyMessage& early) { early.name = name; });
        }
        for (auto& [process, peer] : _peers) {
            if (std::exchange(peer.stopped, false)) {
                send_control(peer, PacketType::xon, 0, 0, nullptr); // nobody else would: the next module counts anew
            }
        }
        return taken;
    } catch (const std::bad_alloc&) {
        _runtime.abort(MPI_ERR_NO_MEM, "pml/ob1: out of memory for messages that came before their communicator");
    }
}

void Ob1::accept_early(const EarlyMessage& early) noexcept {
    Guard guard(*this);
    RtsHeader header{};
    std::memcpy(&header, early.packet.data(), std::min(sizeof header, early.packet.size()));
    const std::size_t header_size = match_header_size(header.match.type);
    Unexpected& message =
        *store(peer_of(early.from), &header, early.packet.data() + header_size, early.packet.size() - header_size);
    (early.index ? _early_by_index[*early.index] : _early_by_name[early.name]).push_back(message);
}

} // namespace patchbay::pml::ob1
