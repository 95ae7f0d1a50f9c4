// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/excid/pgcid.h"

#include "core/base/out_of_memory.h"
#include "frameworks/cid/counters.h"
#include "frameworks/context.h"
#include "object/error_code.h"

#include <vector>

namespace patchbay::cid {

namespace {

// Identifiers of our own making have the highest bit, which a launcher's do not reach.
constexpr std::uint64_t own_making = std::uint64_t(1) << 63;

// Of an intercommunicator in an order that both sides come to.
Ref<Group> all_processes(const Communicator& comm, const JobTable& jobs) {
    if (!comm.is_inter) {
        return comm.group;
    }
    const bool first = jobs.precedes(comm.group->process(0), comm.remote_group->process(0));
    return first ? Group::unite(*comm.group, *comm.remote_group) : Group::unite(*comm.remote_group, *comm.group);
}

} // namespace

int PgcidRequest::start(GroupReduction& reduction, const Communicator& comm, const ConstructorKey& key) noexcept {
    if (asks_launcher()) {
        return start_group_of(comm, reduction, key);
    }
    // Each member passes a number that no other process ever uses, so that any of them will do as the PGCID.
    const bool any = _source == PgcidSource::automatic;
    _reduction = &reduction;
    _words[0] = any || comm.rank == 0 ? fresh() : 0;
    _counters.rounds.add();
    return reduction.start(
        std::span(_words).first(1), any ? GroupReduction::Operation::any : GroupReduction::Operation::first);
}

int PgcidRequest::start_for(const NewCommunicator& what, int refused) noexcept {
    if (needs_launcher(what)) {
        return start_group_of(what.comm, what.members, what.key);
    }
    if (asks_launcher() || what.members.can_withdraw()) {
        return start(what.members, what.comm, what.key);
    }
    // The highest of the numbers that the members offer: no two of them are equal.
    _reduction = &what.members;
    _words = {fresh(), std::uint64_t(refused)};
    _counters.rounds.add();
    return _reduction->start(_words, GroupReduction::Operation::maximum);
}

bool PgcidRequest::asks_launcher() const noexcept {
    switch (_source) {
    case PgcidSource::automatic:
    case PgcidSource::bootstrap:
        return false;
    case PgcidSource::pmix:
    case PgcidSource::launcher:
        return true;
    }
    return false;
}

// Processes of several jobs without a parent have no communicator in common over which they could agree.
bool PgcidRequest::needs_launcher(const NewCommunicator& what) const noexcept {
    const bool is_connected =
        what.comm.is_inter && what.members.name().empty(); // a reduction over a bridge has no name
    return what.parent == nullptr && !is_connected && what.comm.has_other_jobs() && _context.runtime().has_groups();
}

int PgcidRequest::start_group_of(
    const Communicator& comm, const GroupReduction& reduction, const ConstructorKey& key) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM,
        [&] { return start_group(*all_processes(comm, _context.runtime().jobs()), reduction.name(), key); });
}

int PgcidRequest::start_group(const Group& group, std::string name, const ConstructorKey& key) {
    std::vector<ProcessId> members;
    members.reserve(std::size_t(group.size()));
    for (int rank = 0; rank < group.size(); ++rank) {
        members.push_back(group.process(rank));
    }
    if (name.empty()) {
        name = _context.operation_name(group, key.text());
    }
    Runtime& runtime = _context.runtime();
    // Names do not tell the own job, and PMIx does not distinguish groups of several jobs that have the same name.
    const std::string job = group.has_other_jobs() ? "" : std::to_string(runtime.jobs().nonce_of(own_job)) + ' ';
    // A PMIx group waits for ever for a process of another job that has ended before it joins.
    const bool by_pmix = _source == PgcidSource::pmix && !(group.has_other_jobs() && runtime.own_launcher());
    auto request = by_pmix ? runtime.pmix_group_start("patchbay " + job + name, members)
                           : runtime.group_start("pgcid " + name, members);
    if (!request) {
        return note_cause({request.error().code,
            "cid/excid: no PGCID: " + request.error().text + "; cid_excid_source=bootstrap needs no launcher"});
    }
    _group = std::move(*request);
    return MPI_SUCCESS;
}

// The launcher's answer comes on the thread of the PMIx library, so that a poller has to look for it.
int PgcidRequest::attach(Continuation& next) noexcept {
    if (!_group) {
        return _reduction->attach(next);
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _poller = _context.progress().add_poller(&PgcidRequest::poll, this);
        next.count_up();
        _next.store(&next, std::memory_order_release); // until now another thread's poll has no effect
        return MPI_SUCCESS;
    });
}

int PgcidRequest::poll(void* self) noexcept {
    auto& request = *static_cast<PgcidRequest*>(self);
    if (request._next.load(std::memory_order_acquire) == nullptr || !request._group->done()) {
        return 0;
    }
    request.count_down();
    return 1;
}

void PgcidRequest::count_down() noexcept {
    if (Continuation* next = _next.exchange(nullptr)) {
        _poller.reset();
        next->count_down();
    }
}

bool PgcidRequest::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    if (!_group) {
        if (!_reduction->advance(code)) {
            return false;
        }
    } else {
        if (!_group->done()) {
            return false;
        }
        Result<std::uint64_t> id = _group->id();
        if (!id) {
            *code = note_cause({id.error().code, "cid/excid: no PGCID: " + id.error().text});
            return true;
        }
        _words[0] = *id;
    }
    if (_words[1] != MPI_SUCCESS) {
        *code = int(_words[1]);
        return true;
    }
    _counters.pgcids.add();
    return true;
}

std::uint64_t PgcidRequest::fresh() noexcept {
    return own_making | _context.unique_number();
}

} // namespace patchbay::cid
