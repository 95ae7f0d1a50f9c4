// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/excid/excid.h"

#include "components/cid/excid/name.h"
#include "core/log.h"
#include "mpi/instance/instance.h"

#include <new>

namespace patchbay::cid {

namespace {

// Tells the renewals of one parent apart from whatever else its members ask for: tags of constructors are negative.
Origin renewal_of(const Communicator& parent, const Derivation::Ticket& ticket) noexcept {
    return origin_from(parent, int(ticket.block));
}

// No memory for the rest: who waits in this process for the same block fails too, and does not wait for ever.
int forfeit(Derivation& parents, const Derivation::Ticket& ticket) noexcept {
    if (ticket.renews) {
        parents.renew(ticket, 0, MPI_ERR_NO_MEM);
    }
    parents.skip(ticket);
    return MPI_ERR_NO_MEM;
}

} // namespace

std::unique_ptr<Assignment> ExcidModule::begin(const NewCommunicator& what, int* code) noexcept {
    // In any case a ticket: the other members do not hear of what fails here, and their next one must be our next one.
    std::optional<Derivation::Ticket> ticket;
    Derivation* parents = what.whole != nullptr ? what.parent->name_service->derivation() : nullptr;
    if (parents != nullptr) {
        ticket = parents->take();
    }
    const std::optional<std::uint32_t> index = _instance.communicators().reserve_lowest(0);
    if (!index) {
        return begin_without_index(what, ticket, code);
    }
    if (parents != nullptr) {
        if (!ticket->renews && parents->ready(*ticket)) [[likely]] {
            if (const auto child = parents->redeem(*ticket, code)) {
                _instance.cid_counters().children.add();
                *code = name(what, *index, child->id, child->active);
            } else {
                _instance.communicators().release(*index);
            }
            return nullptr;
        }
    }
    auto* assignment = new (std::nothrow) ExcidAssignment(*this, what, *index, ticket);
    if (assignment == nullptr) {
        _instance.communicators().release(*index);
        *code = parents != nullptr ? forfeit(*parents, *ticket) : MPI_ERR_NO_MEM;
        return nullptr;
    }
    *code = assignment->start();
    return std::unique_ptr<Assignment>(assignment);
}

// The others get their communicator, and perhaps the PGCID for which they need us.
std::unique_ptr<Assignment> ExcidModule::begin_without_index(
    const NewCommunicator& what, const std::optional<Derivation::Ticket>& ticket, int* code) noexcept {
    log_error("cid/excid: this process has no index left for another communicator; free some that it does not need "
              "any more");
    *code = MPI_ERR_NO_SPACE;
    if (ticket && !ticket->renews) {
        what.parent->name_service->derivation()->skip(*ticket);
        return nullptr;
    }
    auto pass = std::unique_ptr<ExcidPass>(new (std::nothrow) ExcidPass(*this, MPI_ERR_NO_SPACE));
    if (pass == nullptr) {
        *code = ticket ? forfeit(*what.parent->name_service->derivation(), *ticket) : MPI_ERR_NO_MEM;
    } else {
        *code = ticket ? pass->renew(*what.parent, *ticket, *what.whole) : pass->help(what);
    }
    return pass;
}

std::unique_ptr<Assignment> ExcidModule::pass(Communicator& parent, Agreement& whole) noexcept {
    Derivation* parents = parent.name_service->derivation();
    if (parents == nullptr) {
        return nullptr;
    }
    const Derivation::Ticket ticket = parents->take();
    if (!ticket.renews) {
        parents->skip(ticket);
        return nullptr;
    }
    auto pass = std::unique_ptr<ExcidPass>(new (std::nothrow) ExcidPass(*this, MPI_SUCCESS));
    if (pass == nullptr) {
        log_error("cid/excid: out of memory");
        forfeit(*parents, ticket);
        return nullptr;
    }
    pass->renew(parent, ticket, whole);
    return pass;
}

int ExcidModule::name(const NewCommunicator& what, std::uint32_t index, const ExtendedId& id, int active) noexcept {
    what.comm.index = std::uint16_t(index);
    auto* name = new (std::nothrow) ExtendedName(what.comm, id, active);
    if (name == nullptr) {
        _instance.communicators().release(index);
        return MPI_ERR_NO_MEM;
    }
    if (!_instance.directory().bind(id, &what.comm)) {
        log_error("cid/excid: two communicators of this process would be named " + id.text() +
            ": the source of PGCIDs gave one twice");
        delete name;
        _instance.communicators().release(index);
        return MPI_ERR_INTERN;
    }
    what.comm.name_service = name;
    return MPI_SUCCESS;
}

ExcidAssignment::ExcidAssignment(ExcidModule& module, const NewCommunicator& what, std::uint32_t index,
    std::optional<Derivation::Ticket> ticket) noexcept
    : _module(module),
      _what(what),
      _index(index),
      _ticket(ticket),
      _requests(!ticket || ticket->renews),
      _request(module._instance, module._source) {}

ExcidAssignment::~ExcidAssignment() {
    if (!_named) {
        _module._instance.communicators().release(_index);
    }
}

int ExcidAssignment::start() noexcept {
    int code = MPI_SUCCESS;
    if (!_requests) {
        return code;
    }
    if (!_ticket) {
        code = _request.start(_what.members, _what.comm, _what.origin);
    } else {
        const Communicator& parent = *_what.parent;
        code = _request.start(*_what.whole, parent, renewal_of(parent, *_ticket));
        if (code != MPI_SUCCESS) {
            parents().renew(*_ticket, 0, code); // others wait for it
        }
    }
    return code;
}

bool ExcidAssignment::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    if (_requests) {
        if (!_request.advance(code)) {
            return false;
        }
        _requests = false;
        if (_ticket) {
            parents().renew(*_ticket, _request.pgcid(), *code);
        }
    }
    if (_ticket && !parents().ready(*_ticket)) {
        return false;
    }
    if (*code == MPI_SUCCESS) {
        *code = finish();
    }
    return true;
}

int ExcidAssignment::finish() noexcept {
    Derivation::Child child{{_request.pgcid(), 0}, 7};
    if (_ticket) {
        int code = MPI_SUCCESS;
        const auto redeemed = parents().redeem(*_ticket, &code);
        if (!redeemed) {
            return code;
        }
        child = *redeemed;
        _module._instance.cid_counters().children.add();
    }
    _named = true; // in any case the index is name()'s affair
    return _module.name(_what, _index, child.id, child.active);
}

int ExcidPass::renew(Communicator& parent, const Derivation::Ticket& ticket, Agreement& whole) noexcept {
    _parents = parent.name_service->derivation();
    _ticket = ticket;
    _failed = _request.start(whole, parent, renewal_of(parent, ticket));
    return _failed;
}

int ExcidPass::help(const NewCommunicator& what) noexcept {
    _failed = _request.start(what.members, what.comm, what.origin);
    return _failed;
}

bool ExcidPass::advance(int* code) noexcept {
    *code = _failed;
    if (_failed == MPI_SUCCESS && !_request.advance(code)) {
        return false;
    }
    if (_parents != nullptr) {
        _parents->renew(_ticket, _request.pgcid(), *code);
        _parents->skip(_ticket);
    }
    if (*code == MPI_SUCCESS) {
        *code = _result;
    }
    return true;
}

} // namespace patchbay::cid
