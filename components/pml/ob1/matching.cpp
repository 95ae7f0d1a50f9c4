// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/matching.h"

#include "core/log.h"

#include <new>

namespace patchbay::pml::ob1 {

Matching::Matching(cid::Directory& directory, Backlog& backlog, FlowControl& flow, EarlyMessages& early,
    Rendezvous& rendezvous) noexcept
    : _communicators(static_cast<CommState**>(std::calloc(std::size_t(max_index) + 1, sizeof(CommState*)))),
      _directory(directory),
      _backlog(backlog),
      _flow(flow),
      _early(early),
      _rendezvous(rendezvous) {}

int Matching::add(Communicator& comm) noexcept {
    auto* state = new (std::nothrow) CommState(comm);
    if (state == nullptr || _communicators == nullptr) {
        delete state;
        log_error("pml/ob1: out of memory for a communicator");
        return MPI_ERR_NO_MEM;
    }
    comm.pml_data = state;
    _communicators[comm.index] = state;
    _early.deliver(*state);
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

void Matching::fail_posted(ProcessId process) noexcept {
    for (std::uint32_t index = 0; index <= max_index; ++index) {
        CommState* state = _communicators[index];
        const int source = state == nullptr ? MPI_UNDEFINED : state->comm.remote_group->rank_of(process);
        if (source != MPI_UNDEFINED) {
            state->fail_posted(source);
        }
    }
}

CommState* Matching::look_up(const cid::ExtendedId& excid) noexcept {
    Communicator* comm = _directory.find(excid);
    if (comm == nullptr || comm->pml_data == nullptr) {
        return nullptr;
    }
    return _last_found = &state_of(*comm);
}

void Matching::on_sync(
    Peer& from, CommState* state, const SyncHeader& sync, const std::byte* payload, std::size_t size) noexcept {
    RecvRequest* request = state == nullptr ? nullptr : state->match(sync.match.source, sync.match.tag);
    if (request == nullptr) {
        store(from, state, &sync, payload, size);
        return;
    }
    _backlog.reply(from, PacketType::ack, sync.request, 0, state->session);
    ReceiveProtocol::deliver(*request, sync.match, payload, size);
}

void Matching::on_rts(Peer& from, CommState* state, const RtsHeader& rts) noexcept {
    RecvRequest* request = state == nullptr ? nullptr : state->match(rts.match.source, rts.match.tag);
    if (request == nullptr) {
        store(from, state, &rts, nullptr, 0);
        return;
    }
    _rendezvous.begin(*request, from, rts.match, rts.request, rts.length, rts.address);
}

// No receive has matched the message.
void Matching::store(
    Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
    const auto& match = *static_cast<const MatchHeader*>(header);
    if (state != nullptr) {
        state->add(_flow.store(from, header, payload, payload_size));
    } else if (_communicators[match.index] == nullptr) {
        _early.add(match.index, _flow.store(from, header, payload, payload_size));
    } // otherwise the communicator has no such source, which find() has reported
}

void Matching::on_cancel(Peer& from, const SyncHeader& cancel) noexcept {
    const MatchHeader& match = cancel.match;
    CommState* state = match.flags == extended
        ? find(reinterpret_cast<const Extended<SyncHeader>&>(cancel).id, match.index)
        : _communicators[match.index];
    const bool cancelled = state != nullptr ? cancel_unexpected(*state, match) : _early.cancel(cancel, from);
    const Session* session = state != nullptr ? state->session : nullptr;
    _backlog.reply(from, PacketType::cancel_reply, cancel.request, cancelled ? 1 : 0, session);
}

bool Matching::cancel_unexpected(CommState& state, const MatchHeader& match) noexcept {
    Unexpected* message = state.has_source(match) ? state.find_id(match.source, match.id) : nullptr;
    if (message == nullptr) {
        return false;
    }
    state.remove(*message);
    _flow.release(*message);
    return true;
}

} // namespace patchbay::pml::ob1
