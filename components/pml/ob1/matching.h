// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/comm_state.h"
#include "components/pml/ob1/early_messages.h"
#include "components/pml/ob1/flow_control.h"
#include "components/pml/ob1/receive_protocol.h"
#include "components/pml/ob1/rendezvous.h"
#include "components/pml/ob1/traffic.h"
#include "frameworks/cid/directory.h"

#include <cstdlib>
#include <memory>

namespace patchbay::pml::ob1 {

// The communicators, and what happens to a message that arrives for one: a posted receive gets it, or it is stored as
// an unexpected message, or as an early one.
class Matching {
public:
    Matching(cid::Directory& directory, Backlog& backlog, FlowControl& flow, EarlyMessages& early,
        Rendezvous& rendezvous, Shortage& shortage, Traffic& traffic) noexcept;

    static constexpr std::uint32_t max_index = 65535;

    // Sets comm.pml_data. Returns an MPI code.
    int add(Communicator& comm) noexcept;
    void remove(CommState& state) noexcept;

    // nullptr: this communicator has been removed.
    const CommState* find(const Communicator& comm) const noexcept {
        const CommState* state = _communicators[comm.index];
        return state != nullptr && &state->comm == &comm ? state : nullptr;
    }
    // The communicator of a message that has no extended header. nullptr: it does not exist here (yet), does not have
    // that source, or there is no memory for its queues.
    CommState* find(const MatchHeader& match) noexcept {
        CommState* state = _communicators[match.index];
        return state != nullptr && state->has_source(match) ? state : nullptr;
    }
    // The communicator of an extended header. nullptr: it does not exist here, not yet or not any more.
    CommState* find(const cid::ExtendedId& excid, std::uint16_t senders_index) noexcept {
        // Until the CID acknowledgement reaches its sender, message after message has the same exCID.
        if (_last_found != nullptr && *_last_found->excid == excid) {
            return _last_found;
        }
        // Processes that construct communicators in the same order have them under the same index.
        CommState* guess = _communicators[senders_index];
        const bool right = guess != nullptr && guess->excid != nullptr && *guess->excid == excid;
        return right ? _last_found = guess : look_up(excid);
    }

    // Whether the program still has a handle of the communicator, which may have been destroyed (or of a later one at
    // its address).
    bool has_handle(const Communicator& comm) noexcept {
        bool found = false;
        for_each([&](const CommState& state) { found = found || (&state.comm == &comm && !comm.freed); });
        return found;
    }
    template <class Action>
    void for_each(const Action& action) noexcept {
        for (std::uint32_t index = 0; index <= max_index; ++index) {
            if (CommState* state = _communicators[index]; state != nullptr) {
                action(*state);
            }
        }
    }

    // A packet that arrives. All of these return false if there is no memory for it: nothing has been sent, and it has
    // to be delivered again. A message (match, match_sync or rts). `state`: what find() has returned for it.
    bool on_message(
        Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
        const auto& match = *static_cast<const MatchHeader*>(header);
        if (match.type == PacketType::match) [[likely]] {
            return on_match(from, state, match, payload, payload_size);
        }
        if (match.type == PacketType::rts) {
            return on_rts(from, state, *static_cast<const RtsHeader*>(header));
        }
        return on_sync(from, state, *static_cast<const SyncHeader*>(header), payload, payload_size);
    }
    bool on_match(
        Peer& from, CommState* state, const MatchHeader& match, const std::byte* payload, std::size_t size) noexcept {
        RecvRequest* request = state == nullptr ? nullptr : state->match(match.source, match.tag);
        if (request != nullptr) [[likely]] {
            ReceiveProtocol::deliver(*request, match, payload, size);
            return true;
        }
        return store(from, state, &match, payload, size);
    }
    // A message for a communicator without queues for it (has_source() has returned false). If the communicator has a
    // failure or not this source, no receive will match the message, which is dropped.
    bool refuse_message(Peer& from, const void* header, const CommState& state) noexcept;
    bool on_cancel(Peer& from, const SyncHeader& cancel) noexcept;

private:
    CommState* look_up(const cid::ExtendedId& excid) noexcept;
    bool on_sync(
        Peer& from, CommState* state, const SyncHeader& sync, const std::byte* payload, std::size_t size) noexcept;
    bool on_rts(Peer& from, CommState* state, const RtsHeader& rts) noexcept;
    bool store(
        Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    void note_unexpected(CommState& state, const Unexpected& message) noexcept;
    bool cancel_unexpected(CommState& state, const MatchHeader& match, const Peer& from) noexcept;

    struct FreeDelete {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<CommState*[], FreeDelete> _communicators; // by index; in pages that stay untouched as a rule
    CommState* _last_found = nullptr;                         // by exCID
    cid::Directory& _directory;
    Backlog& _backlog;
    FlowControl& _flow;
    EarlyMessages& _early;
    Rendezvous& _rendezvous;
    Shortage& _shortage;
    Traffic& _traffic;
};

} // namespace patchbay::pml::ob1
