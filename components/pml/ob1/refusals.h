// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/early_messages.h"
#include "components/pml/ob1/handshake.h"
#include "components/pml/ob1/matching.h"
#include "components/pml/ob1/pending_operations.h"
#include "components/pml/ob1/receive_protocol.h"

#include <unordered_map>
#include <vector>

namespace patchbay::pml::ob1 {

// Communicators with an exCID that one process could not construct while other members could, because their constructor
// exchanges nothing. That process sends a refusal to all other members. A member that has the communicator lets all
// operations on it fail, and those on communicators derived from it; a member that has not keeps the refusal for its
// constructor.
//
// Each member passes the refusal on to the processes with which it has exchanged messages on the communicator. When
// they have answered, no message that contains its index is in transit any more; until then the index is not used
// again.
class Refusals {
public:
    Refusals(Ob1& module, ProcessId self, Peers& peers, Backlog& backlog, EarlyMessages& early, Handshake& handshake,
        ReceiveProtocol& receives, Matching& matching, const PendingOperations& pending, Shortage& shortage) noexcept
        : _module(module),
          _self(self),
          _peers(peers),
          _backlog(backlog),
          _early(early),
          _handshake(handshake),
          _receives(receives),
          _matching(matching),
          _pending(pending),
          _shortage(shortage) {}

    // This process refuses the communicator `id` with the groups of `comm`. If it has the communicator, operations on
    // it fail from now on.
    void refuse(const Communicator& comm, const cid::ExtendedId& id, int code) noexcept;
    // The failure of a communicator with an exCID that is about to be added. Operations on its local_comm fail then,
    // too.
    Failure take_failure(const Communicator& comm, const cid::ExtendedId& id) noexcept {
        return _kept.empty() && _failed.empty() ? Failure{} : take_failure_of(comm, id);
    }
    // false: out of memory; the packet has to be delivered again.
    bool on_refusal(Peer& from, const RefusalHeader& refusal) noexcept;
    void on_ack(const RefusalHeader& ack) noexcept;
    // The communicator is about to be removed.
    void forget(CommState& state) noexcept;

    // As Module::take_early() and accept_early(): the refusals of communicators that do not exist here.
    void take(std::vector<EarlyMessage>& taken);
    static bool is_refusal(const EarlyMessage& early) noexcept;
    void accept(const EarlyMessage& early) noexcept;

private:
    Failure take_failure_of(const Communicator& comm, const cid::ExtendedId& id) noexcept;
    bool remember(const cid::ExtendedId& id, const Failure& failure) noexcept;
    void drop_early(const cid::ExtendedId& id, const Failure& failure) noexcept;
    void fail_with_descendants(CommState& state, const Failure& failure) noexcept;
    void fail(CommState& state, const Failure& failure) noexcept;
    void fail_local_side(const Communicator& inter, const Failure& failure) noexcept;
    void send_to_contacts(CommState& state, const Failure& failure) noexcept;
    void hold(CommState& state) noexcept;

    Ob1& _module;
    const ProcessId _self;
    Peers& _peers;
    Backlog& _backlog;
    EarlyMessages& _early;
    Handshake& _handshake;
    ReceiveProtocol& _receives;
    Matching& _matching;
    const PendingOperations& _pending;
    Shortage& _shortage;
    List<CommState, &CommState::failed_link> _failed;
    std::unordered_map<cid::ExtendedId, Failure, cid::ExtendedIdHash> _kept; // of communicators that do not exist here
};

} // namespace patchbay::pml::ob1
