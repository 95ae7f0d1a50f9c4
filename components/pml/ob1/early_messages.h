// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/comm_state.h"
#include "components/pml/ob1/flow_control.h"
#include "components/pml/ob1/handshake.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace patchbay::pml::ob1 {

// Messages for communicators that a peer has already constructed and this process has not yet, by the index that the
// communicator will have here or by its exCID.
class EarlyMessages {
public:
    EarlyMessages(FlowControl& flow, Handshake& handshake, Shortage& shortage) noexcept
        : _flow(flow),
          _handshake(handshake),
          _shortage(shortage) {}
    ~EarlyMessages();

    // Copies a message. false: out of memory, as from FlowControl::store().
    bool add(std::uint16_t index, Peer& from, const void* header, const std::byte* payload, std::size_t size) noexcept;
    bool add(const cid::ExtendedId& excid, Peer& from, const void* header, const std::byte* payload,
        std::size_t size) noexcept;
    // The communicator has been constructed: moves its messages into its queues. false: out of memory for the queues.
    // The messages stay here.
    bool deliver(CommState& state) noexcept;
    // The sender cancels its message. false: the message is not here.
    bool cancel(const SyncHeader& cancel, const Peer& from) noexcept;

    // The communicator will never exist here. Calls `action` with each message, and frees the message.
    template <class Action>
    void drop(const cid::ExtendedId& excid, const Action& action) noexcept {
        if (auto queue = _by_excid.extract(excid)) {
            while (!queue.mapped().empty()) {
                Unexpected& message = *queue.mapped().pop_front();
                action(message);
                _flow.release(message);
            }
        }
    }

    // As Module::take_early() and accept_early(): messages that the next module of this process gets. accept() ends the
    // job when memory runs out.
    std::vector<EarlyMessage> take();
    void accept(const EarlyMessage& early, Peer& from) noexcept;

private:
    ArrivalQueue extract(const CommState& state) noexcept;
    ArrivalQueue* find(const SyncHeader& cancel) noexcept;
    bool has_any(const CommState& state) const noexcept;
    template <class Map, class Key>
    bool add(Map& queues, const Key& key, Peer& from, const void* header, const std::byte* payload,
        std::size_t size) noexcept;
    template <class Action>
    void take_each(const Action& action);

    FlowControl& _flow;
    Handshake& _handshake;
    Shortage& _shortage;
    std::map<std::uint16_t, ArrivalQueue> _by_index;
    std::unordered_map<cid::ExtendedId, ArrivalQueue, cid::ExtendedIdHash> _by_excid;
};

} // namespace patchbay::pml::ob1
