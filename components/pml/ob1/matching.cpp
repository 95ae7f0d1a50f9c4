// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/matching.h"

#include "core/log.h"

#include <new>

namespace patchbay::pml::ob1 {

Matching::Matching(cid::Directory& directory, Backlog& backlog, FlowControl& flow, EarlyMessages& early,
    Rendezvous& rendezvous, Shortage& shortage, Traffic& traffic) noexcept
    : _communicators(static_cast<CommState**>(std::calloc(std::size_t(max_index) + 1, sizeof(CommState*)))),
      _directory(directory),
      _backlog(backlog),
      _flow(flow),
      _early(early),
      _rendezvous(rendezvous),
      _shortage(shortage),
      _traffic(traffic) {}

int Matching::add(Communicator& comm) noexcept {
    auto* state = new (std::nothrow) CommState(comm);
    if (state == nullptr || _communicators == nullptr || !_early.deliver(*state)) {
        delete state;
        log_error("pml/ob1: out of memory for a communicator");
        return MPI_ERR_NO_MEM;
    }
    comm.pml_data = state;
    _communicators[comm.index] = state;
    return MPI_SUCCESS;
}

void Matching::remove(CommState& state) noexcept {
    if (_last_found == &state) {
        _last_found = nullptr;
    }
    while (Unexpected* message = state.earliest()) {
        state.remove(*message);
        _flow.release(*message);
    }
    _communicators[state.comm.index] = nullptr;
    state.comm.pml_data = nullptr;
    delete &state;
}

CommState* Matching::look_up(const cid::ExtendedId& excid) noexcept {
    Communicator* comm = _directory.find(excid);
    if (comm == nullptr || comm->pml_data == nullptr) {
        return nullptr;
    }
    return _last_found = &state_of(*comm);
}

bool Matching::on_sync(
    Peer& from, CommState* state, const SyncHeader& sync, const std::byte* payload, std::size_t size) noexcept {
    if (!_backlog.prepare_reply(from)) {
        return false;
    }
    RecvRequest* request = state == nullptr ? nullptr : state->match(sync.match.source, sync.match.tag);
    if (request == nullptr) {
        return store(from, state, &sync, payload, size);
    }
    _backlog.reply(from, PacketType::ack, sync.request, 0, state->session);
    ReceiveProtocol::deliver(*request, sync.match, payload, size);
    return true;
}

bool Matching::on_rts(Peer& from, CommState* state, const RtsHeader& rts) noexcept {
    if (!_backlog.prepare_reply(from)) {
        return false;
    }
    if (from.choice != nullptr) {
        from.choice->adopt(rts.length, unsigned(rts.way));
    }
    RecvRequest* request = state == nullptr ? nullptr : state->match(rts.match.source, rts.match.tag);
    if (request == nullptr) {
        return store(from, state, &rts, nullptr, 0);
    }
    _rendezvous.begin(*request, from, rts.match, rts.request, rts.length, rts.address);
    return true;
}

// No receive has matched the message.
bool Matching::store(
    Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    if (state != nullptr) {
        Unexpected* message = _flow.store(from, header, payload, payload_size);
        if (message != nullptr) [[likely]] {
            state->add(*message);
            note_unexpected(*state, *message);
        }
        return message != nullptr;
    }
    const CommState* unusable = _communicators[match.index];
    return unusable != nullptr ? refuse_message(from, header, *unusable)
                               : _early.add(match.index, from, header, payload, payload_size);
}

void Matching::note_unexpected(CommState& state, const Unexpected& message) noexcept {
    ++_traffic.unexpected;
    if (_traffic.unexpected_message.wanted()) [[unlikely]] {
        _traffic.deferred.add(_traffic.unexpected_message, &state.comm,
            {message.match.source, message.match.tag, std::int64_t(message.length)});
    }
}

bool Matching::refuse_message(Peer& from, const void* header, const CommState& state) noexcept {
    if (!state.is_prepared() && !state.failure.happened()) {
        _shortage.wait("pml/ob1: out of memory for the matching queues of a communicator");
        return false;
    }
    const PacketType type = static_cast<const MatchHeader*>(header)->type;
    if (type != PacketType::match) {
        if (!_backlog.prepare_reply(from)) {
            return false;
        }
        const auto& sync = *static_cast<const SyncHeader*>(header); // `request` has the same offset in an RtsHeader
        const int code = state.failure.happened() ? state.failure.code : MPI_ERR_INTERN;
        _backlog.reject(from, type, sync.request, code, state.session);
    }
    return true;
}

bool Matching::on_cancel(Peer& from, const SyncHeader& cancel) noexcept {
    if (!_backlog.prepare_reply(from)) {
        return false;
    }
    const MatchHeader& match = cancel.match;
    CommState* state = match.flags == extended
        ? find(reinterpret_cast<const Extended<SyncHeader>&>(cancel).id, match.index)
        : _communicators[match.index];
    const bool dropped = state != nullptr ? cancel_unexpected(*state, match, from) : _early.cancel(cancel, from);
    const CancelOutcome other = state != nullptr ? CancelOutcome::kept : CancelOutcome::lost;
    const Session* session = state != nullptr ? state->session : nullptr;
    _backlog.reply(from, PacketType::cancel_reply, cancel.request,
        std::uint32_t(dropped ? CancelOutcome::dropped : other), session);
    return true;
}

// The message may have been received on a communicator that has been destroyed, and the index be that of a later one,
// where the rank is another process, whose messages have the same ids. Those of one process differ.
bool Matching::cancel_unexpected(CommState& state, const MatchHeader& match, const Peer& from) noexcept {
    Unexpected* message = state.has_source(match) ? state.find_id(match.source, match.id) : nullptr;
    if (message == nullptr || message->from != &from) {
        return false;
    }
    state.remove(*message);
    _flow.release(*message);
    return true;
}

} // namespace patchbay::pml::ob1
