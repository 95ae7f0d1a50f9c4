// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/refusals.h"

#include "core/base/out_of_memory.h"
#include "object/handle.h"

#include <cstring>
#include <string_view>

namespace patchbay::pml::ob1 {

namespace {

constexpr std::string_view no_memory_for_refusal =
    "pml/ob1: out of memory for the refusal of a communicator that this process has not constructed";

RefusalHeader refusal_of(const cid::ExtendedId& id, const Failure& failure, std::uint8_t flags) noexcept {
    return {PacketType::refusal, flags, {}, failure.code, failure.by, {}, id};
}

} // namespace

void Refusals::refuse(const Communicator& comm, const cid::ExtendedId& id, int code) noexcept {
    const Failure failure{code, _self.rank};
    if (comm.pml_data != nullptr && !state_of(comm).failure.happened()) {
        fail_with_descendants(state_of(comm), failure);
    }
    drop_early(id, failure);
    const RefusalHeader refusal = refusal_of(id, failure, first_hand);
    const auto send_to = [&](const Group& group) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const ProcessId process = group.process(rank);
            Peer* peer = process == _self ? nullptr : _peers.find(process);
            if (peer != nullptr) {
                // An error has been reported; this process has no other way to that member.
                static_cast<void>(_backlog.send_control(*peer, &refusal, sizeof refusal, comm.session));
            }
        }
    };
    send_to(*comm.group);
    if (comm.is_inter) {
        send_to(*comm.remote_group);
    }
}

Failure Refusals::take_failure_of(const Communicator& comm, const cid::ExtendedId& id) noexcept {
    Failure failure;
    if (const auto kept = _kept.find(id); kept != _kept.end()) {
        failure = kept->second;
        _kept.erase(kept);
    }
    for (const CommState* state = _failed.first(); state != nullptr; state = decltype(_failed)::next(*state)) {
        if (cid::is_derived_from(id, *state->excid)) {
            failure = state->failure;
        }
    }
    if (failure.happened()) {
        drop_early(id, failure);
        fail_local_side(comm, failure);
    }
    return failure;
}

bool Refusals::on_refusal(Peer& from, const RefusalHeader& refusal) noexcept {
    const Failure failure{refusal.code, refusal.by};
    CommState* state = _matching.find(refusal.id, 0);
    if (state != nullptr) {
        if (!state->failure.happened()) {
            fail_with_descendants(*state, failure);
        }
    } else {
        if (refusal.flags == first_hand && !remember(refusal.id, failure)) {
            _shortage.wait(no_memory_for_refusal);
            return false;
        }
        drop_early(refusal.id, failure);
    }
    if (refusal.flags != first_hand) {
        RefusalHeader ack = refusal;
        ack.type = PacketType::refusal_ack;
        // Without memory the index stays in use at the other process.
        static_cast<void>(_backlog.send_control(from, &ack, sizeof ack, state != nullptr ? state->session : nullptr));
    }
    return true;
}

void Refusals::on_ack(const RefusalHeader& ack) noexcept {
    CommState* state = _matching.find(ack.id, 0);
    if (state != nullptr && state->unanswered > 0 && --state->unanswered == 0 && state->holder != nullptr) {
        std::exchange(state->holder, nullptr)->complete(); // the next poll retires it
    }
}

void Refusals::forget(CommState& state) noexcept {
    if (!state.failure.happened()) {
        return;
    }
    _failed.erase(state);
    // The library is finalized, which destroys communicators without regard to references.
    if (state.holder != nullptr) {
        state.holder->holding = false;
        _receives.free(*std::exchange(state.holder, nullptr));
    }
}

void Refusals::take(std::vector<EarlyMessage>& taken) {
    for (const auto& [id, failure] : _kept) {
        EarlyMessage early{_self, {}, id, {}};
        const RefusalHeader refusal = refusal_of(id, failure, first_hand);
        early.packet.resize(sizeof refusal);
        std::memcpy(early.packet.data(), &refusal, sizeof refusal);
        taken.push_back(std::move(early));
    }
    _kept.clear();
}

bool Refusals::is_refusal(const EarlyMessage& early) noexcept {
    return PacketType(early.packet.front()) == PacketType::refusal;
}

void Refusals::accept(const EarlyMessage& early) noexcept {
    RefusalHeader refusal;
    std::memcpy(&refusal, early.packet.data(), sizeof refusal);
    if (!remember(refusal.id, {refusal.code, refusal.by})) {
        _shortage.end_job(no_memory_for_refusal);
    }
}

// false: out of memory.
bool Refusals::remember(const cid::ExtendedId& id, const Failure& failure) noexcept {
    return unless_out_of_memory(false, [&] {
        _kept.emplace(id, failure);
        return true;
    });
}

// The communicator does not exist here. A sender that waits for a reply gets the refusal first, and so knows the cause.
void Refusals::drop_early(const cid::ExtendedId& id, const Failure& failure) noexcept {
    const RefusalHeader refusal = refusal_of(id, failure, 0);
    _early.drop(id, [&](const Unexpected& message) {
        if (message.match.type == PacketType::match_sync || message.match.type == PacketType::rts) {
            static_cast<void>(_backlog.send_control(*message.from, &refusal, sizeof refusal, nullptr));
            _backlog.reject(*message.from, message.match.type, message.request, failure.code, nullptr);
        }
    });
}

// Communicators that were derived from this one without communication (MPI_Comm_dup) lack the same process, and so do
// intercommunicators of which one of them is the local_comm.
void Refusals::fail_with_descendants(CommState& state, const Failure& failure) noexcept {
    const cid::ExtendedId id = *state.excid;
    fail(state, failure);
    _matching.for_each([&](CommState& other) {
        if (other.excid != nullptr && cid::is_derived_from(*other.excid, id)) {
            fail(other, failure);
        }
    });
    // The refusal of a local_comm may arrive before that of its intercommunicator, whose collectives it ends.
    _matching.for_each([&](CommState& other) {
        const Communicator* local = other.comm.local_comm;
        if (local != nullptr && local->pml_data != nullptr && state_of(*local).failure.happened()) {
            fail(other, failure);
        }
    });
}

void Refusals::fail(CommState& state, const Failure& failure) noexcept {
    if (state.failure.happened()) {
        return;
    }
    _handshake.forget(state);
    send_to_contacts(state, failure);
    state.fail(failure);
    _failed.push_back(state);
    if (state.unanswered > 0) {
        hold(state);
    }
    _pending.fail(state, failure.code);
    fail_local_side(state.comm, failure);
}

// Collectives of an intercommunicator exchange messages on its local_comm.
void Refusals::fail_local_side(const Communicator& inter, const Failure& failure) noexcept {
    if (const Communicator* local = inter.local_comm; local != nullptr && local->pml_data != nullptr) {
        if (CommState& side = state_of(*local); side.excid != nullptr) {
            fail(side, failure);
        }
    }
}

// Each process that may know the index of this communicator in this process, or that has a message from here on it.
void Refusals::send_to_contacts(CommState& state, const Failure& failure) noexcept {
    const RefusalHeader refusal = refusal_of(*state.excid, failure, 0);
    for (int rank = 0; state.has_table() && rank < state.comm.remote_size; ++rank) {
        const RankState& contact = state.rank(rank);
        if (contact.peer == nullptr && contact.handshake_peer == nullptr && !contact.extended_received &&
            !contact.index_sent) {
            continue;
        }
        Peer* peer = _peers.find(state.comm.remote_group->process(rank));
        if (peer != nullptr && _backlog.send_control(*peer, &refusal, sizeof refusal, state.session) == MPI_SUCCESS) {
            ++state.unanswered;
        }
    }
}

// Keeps the communicator, and so its index, until all refusals have been answered, also when the program frees it. A
// request that is active and has no user does that: the poll after its completion retires it, and so releases its
// reference without the lock.
void Refusals::hold(CommState& state) noexcept {
    RecvRequest* holder =
        _receives.make(_module, nullptr, 0, *to_object<Datatype>(MPI_BYTE), MPI_ANY_SOURCE, 0, state.comm);
    if (holder == nullptr) {
        return; // a late message may get to a later communicator with this index
    }
    if (!state.comm.retain_unless_destroyed()) {
        _receives.free(*holder);
        return;
    }
    holder->holding = holder->holds_comm = true;
    holder->set_active();
    holder->recycle();
    state.holder = holder;
}

} // namespace patchbay::pml::ob1
