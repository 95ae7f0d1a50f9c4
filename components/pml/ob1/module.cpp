// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"

#include "core/log.h"
#include "core/progress/waiter.h"

#include <algorithm>
#include <fmt/format.h>

namespace patchbay::pml::ob1 {

Ob1::Ob1(Progress& progress, Runtime& runtime, const Names& names, ProcessId self,
    std::vector<std::unique_ptr<btl::Module>> btls, const Settings& settings, Lease btl_lease)
    : _progress(progress),
      _runtime(runtime),
      _self(self),
      _settings(settings),
      _lock(progress.threads()),
      _btl_lease(std::move(btl_lease)),
      _btls(std::move(btls)),
      _comms(static_cast<CommState**>(std::calloc(std::size_t(max_index()) + 1, sizeof(CommState*)))),
      _names(names) {
    for (const auto& btl : _btls) {
        btl->set_receiver(&Ob1::receive, this);
        if (btl->limits().unsolicited) {
            need_poll(*btl);
        }
    }
}

Ob1::~Ob1() {
    _poller.reset();
    _progress.quiesce();
    // Requests that nobody gave back go with the pools; the communicators they refer to are gone already.
    const auto free_all = [this](ArrivalQueue& messages) {
        while (!messages.empty()) {
            _store.free(messages.pop_front());
        }
    };
    for (auto& [index, messages] : _early_by_index) {
        free_all(messages);
    }
    for (auto& [name, messages] : _early_by_name) {
        free_all(messages);
    }
    // Modules save their positions in shared memory: before the lease on their components goes.
    _polled.clear();
    _btls.clear();
}

int Ob1::max_tag() const noexcept {
    return highest_tag;
}

int Ob1::add_comm(Communicator& comm) noexcept {
    auto* state = new (std::nothrow) CommState(comm);
    if (state == nullptr || _comms == nullptr) {
        delete state;
        log_error("pml/ob1: out of memory for a communicator");
        return MPI_ERR_NO_MEM;
    }
    Guard guard(*this);
    comm.pml_data = state;
    _comms[comm.index] = state;
    deliver_early(*state);
    return MPI_SUCCESS;
}

void Ob1::remove_comm(Communicator& comm) noexcept {
    Guard guard(*this);
    CommState& state = state_of(comm);
    if (_last_named == &state) {
        _last_named = nullptr;
    }
    if (_owed.state == &state) {
        _owed = {}; // nothing is under way that it would be of use for
    }
    while (Unexpected* message = state.earliest()) {
        state.remove(*message);
        give_up(*message);
    }
    _comms[comm.index] = nullptr;
    comm.pml_data = nullptr;
    delete &state;
}

RankState* Ob1::connect_rank(CommState& state, int rank) noexcept {
    if (!state.prepare()) {
        return nullptr;
    }
    RankState& target = state.rank(rank);
    if (target.peer == nullptr && target.stranger == nullptr) {
        Peer& peer = peer_of(state.comm.remote_group->process(rank));
        if (!connect(peer)) {
            return nullptr;
        }
        if (_owed.to == &target) {
            target.stranger = &peer;
        } else if (find_index(state, rank, target)) {
            target.peer = &peer;
        } else {
            target.stranger = &peer;
            target.match_word = MatchWords::make_first(state.comm.index, state.comm.rank, named_by_excid);
        }
    }
    return &target;
}

Peer& Ob1::peer_of(ProcessId process) noexcept {
    auto [found, fresh] = _peers.try_emplace(process);
    if (fresh) {
        found->second.process = process;
    }
    return found->second;
}

Peer& Ob1::peer_of(btl::Endpoint& endpoint) noexcept {
    if (endpoint.user == nullptr) {
        endpoint.user = &peer_of(endpoint.process);
    }
    return *static_cast<Peer*>(endpoint.user);
}

bool Ob1::connect(Peer& peer) noexcept {
    if (peer.endpoint != nullptr) {
        return true;
    }
    btl::Module* best = nullptr;
    for (const auto& btl : _btls) {
        if (btl->reaches(peer.process) && (best == nullptr || btl->limits().latency_ns < best->limits().latency_ns)) {
            best = btl.get();
        }
    }
    if (best == nullptr) {
        std::string names;
        for (const auto& btl : _btls) {
            names += names.empty() ? "" : ", ";
            names += btl->name();
        }
        log_error(fmt::format("pml/ob1: no btl in use ({}) reaches process {} of job {}; see the parameter btl and "
                              "mpirun --explain",
            names, peer.process.rank, peer.process.job));
        return false;
    }
    peer.endpoint = best->connect(peer.process);
    if (peer.endpoint == nullptr) {
        return false;
    }
    peer.btl = best;
    peer.endpoint->user = &peer;
    peer.eager_limit = best->limits().eager;
    peer.local_delivery = peer.process == _self;
    refresh_direct(peer);
    need_poll(*best);
    return true;
}

void Ob1::need_poll(btl::Module& btl) noexcept {
    if (std::find(_polled.begin(), _polled.end(), &btl) == _polled.end()) {
        _polled.push_back(&btl);
    }
    if (!_poller) {
        _poller = _progress.add_poller([](void* self) noexcept { return static_cast<Ob1*>(self)->poll(); }, this);
    }
}

int Ob1::poll() noexcept {
    int events = 0;
    {
        Guard guard(*this);
        if (_owed.to != nullptr) [[unlikely]] {
            answer_now();
        }
        // A receiver may connect, and thereby append a module.
        for (std::size_t i = 0; i < _polled.size(); ++i) {
            events += _polled[i]->poll();
        }
        // As a rule there is none of it: one branch.
        if (_backlog.empty() & _fetches.empty() & (_abandoned == nullptr)) [[likely]] {
            return events;
        }
        events += push_backlog();
        events += continue_fetches();
    }
    reap_abandoned();
    return events;
}

// Requests whose handle was freed before they completed. Without the lock: a communicator may go with them.
void Ob1::reap_abandoned() noexcept {
    Ob1Request* list;
    {
        Guard guard(*this);
        list = std::exchange(_abandoned, nullptr);
    }
    while (list != nullptr) {
        Ob1Request* request = std::exchange(list, list->next_abandoned);
        request->abandoned = false;
        request->set_state(Request::State::complete);
        request->recycle();
    }
}

void Ob1::refresh_direct(Peer& peer) noexcept {
    const bool free_way = peer.waiting.empty() && !peer.told_to_stop && !peer.local_delivery;
    peer.direct_below = free_way ? peer.eager_limit + 1 : 0;
}

// What a thread sends to its own process arrives by a poll: a thread that sleeps must get up for it.
void Ob1::wake_if_local(const Peer& peer) noexcept {
    if (peer.local_delivery && _progress.threaded()) {
        _progress.wake();
    }
}

void Ob1::complete(Ob1Request& request) noexcept {
    if (request.abandoned) [[unlikely]] {
        request.next_abandoned = std::exchange(_abandoned, &request);
        return;
    }
    // The last touch: the request may be gone as soon as another thread sees this.
    request.set_state(Request::State::complete);
}

template <class Condition>
void Ob1::wait_with_lock(const Condition& condition) noexcept {
    wait_until(_progress, [&] {
        Guard guard(*this);
        return condition();
    });
}

void Ob1::drain() noexcept {
    wait_with_lock([this] { return _sends.empty() && _backlog.empty() && _owed.to == nullptr; });
}

void Ob1::drain_communicator(const Communicator& comm) noexcept {
    wait_with_lock([&] { return !is_sending([&](const SendRequest& send) { return send.comm == &comm; }); });
}

void Ob1::drain_session(const Session* session) noexcept {
    wait_with_lock([&] {
        return !is_sending([&](const SendRequest& send) { return send.session == session; }) && !owes_packets(session);
    });
}

} // namespace patchbay::pml::ob1
