// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"

#include "core/runtime/runtime.h"
#include "frameworks/cid/cid.h"
#include "object/error_cause.h"

#include <new>

namespace patchbay::pml::ob1 {

Ob1::Ob1(const Services& services, btl::Transports& transports, const Settings& settings)
    : _progress(services.progress),
      _runtime(services.runtime),
      _transports(transports),
      _lock(transports.lock()),
      _alone(services.progress.threads()),
      _shortage(services.runtime, settings.memory_wait),
      _peers(_shortage, services.self, transports),
      _backlog(_peers, _shortage),
      _flow(_backlog, _shortage, settings.unexpected_limit),
      _handshake(services.progress, _backlog, services.counters),
      _rendezvous(_peers, _backlog, _handshake, settings.fetch_chunk, settings.way, settings.clock),
      _sends(_peers, _backlog, _handshake, _rendezvous, _traffic),
      _receives(_peers, _backlog, _flow, _rendezvous),
      _early(_flow, _handshake, _shortage),
      _matching(services.directory, _backlog, _flow, _early, _rendezvous, _shortage, _traffic),
      _pending(_sends, _backlog, _flow),
      _refusals(*this, services.self, _peers, _backlog, _early, _handshake, _receives, _matching, _pending, _shortage),
      _traffic(services.progress),
      _tool(*this, services.tool) {
    if (!_backlog.reserve()) {
        throw std::bad_alloc();
    }
}

// Requests that were not given back are freed with the pools; the communicators that they refer to do not exist any
// more.
Ob1::~Ob1() = default;

Status Ob1::start() noexcept {
    auto added = _transports.add_consumer(consumer,
        {this, &Ob1::receive, [](void* self) noexcept { return static_cast<Ob1*>(self)->work(); },
            [](void* self, ProcessId failed) noexcept { static_cast<Ob1*>(self)->end_with(failed); },
            [](void* self, JobNumber job) noexcept { return static_cast<Ob1*>(self)->may_forget(job); },
            [](void* self, JobNumber job) noexcept { static_cast<Ob1*>(self)->forget(job); }});
    if (!added) {
        return added.error();
    }
    _consumer = std::move(*added);
    Guard guard(*this);
    for (const std::uint32_t rank : _runtime.local_peers()) {
        if (Status ready = _transports.expect({own_job, rank}); !ready) {
            return ready;
        }
    }
    return {};
}

// Those of the own job have been expected from the start.
Status Ob1::expect_members(const Communicator& comm) noexcept {
    for (const Group* group : {comm.group.get(), comm.own_remote_group.get()}) {
        if (group == nullptr) { // an intracommunicator has one
            continue;
        }
        for (int rank = 0; rank < group->size(); ++rank) {
            const ProcessId member = group->process(rank);
            if (Status ready = member.job == own_job ? Status() : _transports.expect(member); !ready) {
                return ready;
            }
        }
    }
    return {};
}

int Ob1::add_comm(Communicator& comm) noexcept {
    Guard guard(*this);
    const cid::ExtendedId* excid = comm.id != nullptr ? comm.id->extended_id() : nullptr;
    if (comm.has_other_jobs() && _transports.may_expect()) {
        if (const Status ready = expect_members(comm); !ready) {
            if (excid != nullptr) {
                _refusals.refuse(comm, *excid, MPI_ERR_OTHER);
            }
            return note_cause(MPI_ERR_OTHER, ready.error().text);
        }
    }
    if (excid == nullptr) {
        return _matching.add(comm);
    }
    if (const Failure failure = _refusals.take_failure(comm, *excid); failure.happened()) {
        return note_cause(failure.code, failure.text());
    }
    const int code = _matching.add(comm);
    if (code != MPI_SUCCESS) {
        _refusals.refuse(comm, *excid, code);
    }
    return code;
}

void Ob1::remove_comm(Communicator& comm) noexcept {
    Guard guard(*this);
    CommState& state = state_of(comm);
    _handshake.forget(state);
    _refusals.forget(state);
    _matching.remove(state);
}

void Ob1::refuse(const Communicator& comm, const cid::ExtendedId& id, int code) noexcept {
    Guard guard(*this);
    _refusals.refuse(comm, id, code);
    if (_progress.threaded()) {
        _progress.wake(); // operations of other threads on this communicator have failed
    }
}

std::string_view Ob1::failure_text(const Communicator& comm, int code) noexcept {
    Guard guard(*this);
    const Failure& failure = state_of(comm).failure;
    return failure.happened() && failure.code == code ? failure.text() : std::string_view();
}

std::string_view Ob1::note_unreachable(const SendRequest& send) noexcept {
    Guard guard(*this);
    return _peers.note_unreachable(send.comm->remote_group->process(send.dest));
}

std::size_t Ob1::unfinished(const Communicator& comm, std::span<UnfinishedMessage> into) noexcept {
    Guard guard(*this);
    std::size_t found = state_of(comm).list_posted(into);
    _sends.for_each([&](const SendRequest& send) {
        if (send.comm == &comm && send.tag >= 0 && !send.is_complete()) {
            if (found < into.size()) {
                into[found] = {true, send.dest, send.tag};
            }
            ++found;
        }
    });
    return found;
}

// At the end of a poll, if something of it was there in this poll or is left from earlier ones.
int Ob1::work() noexcept {
    int events = 0;
    if (_handshake.has_pending()) {
        events += _handshake.wait_or_acknowledge();
    }
    events += _backlog.push(_sends);
    events += _rendezvous.continue_fetches();
    events += _sends.awaits_cancel_replies() ? _sends.end_unanswered_cancels() : 0;
    if (!_backlog.empty() || _rendezvous.has_fetches() || _handshake.has_pending() || _sends.awaits_cancel_replies()) {
        _peers.mark_work();
    }
    return events;
}

void Ob1::drain() noexcept {
    wait_with_lock([this] { return _sends.empty() && _backlog.empty() && !_handshake.has_pending(); });
}

void Ob1::drain_communicator(const Communicator& comm) noexcept {
    wait_with_lock([&] { return !_sends.any([&](const SendRequest& send) { return send.comm == &comm; }); });
}

void Ob1::drain_session(const Session* session) noexcept {
    wait_with_lock([&] {
        return !_sends.any([&](const SendRequest& send) { return send.session == session; }) &&
            !_handshake.has_pending(session) && !_backlog.has_control(session);
    });
}

std::vector<EarlyMessage> Ob1::take_early() noexcept {
    Guard guard(*this);
    try {
        auto taken = _early.take();
        _refusals.take(taken);
        _flow.end(_peers);
        return taken;
    } catch (const std::bad_alloc&) {
        _runtime.abort(MPI_ERR_NO_MEM, "pml/ob1: out of memory for messages that came before their communicator");
    }
}

void Ob1::accept_early(const EarlyMessage& early) noexcept {
    Guard guard(*this);
    if (Refusals::is_refusal(early)) {
        _refusals.accept(early);
        return;
    }
    Peer* from = _peers.find(early.from);
    if (from == nullptr) {
        _runtime.abort(MPI_ERR_NO_MEM, "pml/ob1: out of memory for a message that came before its communicator");
    }
    _early.accept(early, *from);
}

} // namespace patchbay::pml::ob1
