// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/excid/excid.h"

#include "components/cid/excid/extended_cid.h"
#include "core/base/out_of_memory.h"
#include "core/log.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/directory.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/context.h"
#include "object/error_cause.h"

#include <new>

namespace patchbay::cid {

namespace {

// The keys of one parent's renewals, which differ from those of its constructors: tags of constructors are negative.
ConstructorKey renewal_of(const Communicator& parent, const Derivation::ChildNumber& child_number) noexcept {
    return constructor_key(parent, int(child_number.block));
}

// Out of memory: the other constructors of this process that wait for the same block fail too, instead of waiting for
// ever.
int forfeit(Derivation& parents, const Derivation::ChildNumber& child_number) noexcept {
    if (child_number.renews) {
        parents.renew(child_number, 0, MPI_ERR_NO_MEM);
    }
    parents.skip(child_number);
    return MPI_ERR_NO_MEM;
}

int no_index() noexcept {
    return note_cause(MPI_ERR_NO_SPACE,
        "cid/excid: this process has no index left for another communicator; free some that it does not need any more");
}

} // namespace

ExcidModule::ExcidModule(Context& context, PgcidSource source) noexcept
    : _context(context),
      _table(context.communicators()),
      _directory(context.directory()),
      _counters(context.cid_counters()),
      _source(source) {}

std::unique_ptr<Allocation> ExcidModule::begin(const NewCommunicator& what, int* code) noexcept {
    // A child number is taken in any case: the other members do not learn of an error here, and the next one must be
    // the same in all members.
    std::optional<Derivation::ChildNumber> child_number;
    Derivation* parents = what.whole != nullptr ? what.parent->id->derivation() : nullptr;
    if (parents != nullptr) {
        child_number = parents->take();
    }
    const std::optional<std::uint32_t> index = _table.reserve_lowest(0);
    if (!index) {
        return begin_without_index(what, child_number, code);
    }
    if (parents != nullptr) {
        if (!child_number->renews && parents->ready(*child_number)) [[likely]] {
            if (const auto child = parents->resolve(*child_number, code)) {
                _counters.children.add();
                *code = name(what, *index, child->id, child->active);
            } else {
                _table.release(*index);
            }
            return nullptr;
        }
    }
    auto* allocation = new (std::nothrow) ExcidAllocation(*this, what, *index, child_number);
    if (allocation == nullptr) {
        _table.release(*index);
        *code = parents != nullptr ? forfeit(*parents, *child_number) : MPI_ERR_NO_MEM;
        return nullptr;
    }
    *code = allocation->start();
    return std::unique_ptr<Allocation>(allocation);
}

// The others get their communicator, and perhaps the PGCID for which they need this process.
std::unique_ptr<Allocation> ExcidModule::begin_without_index(
    const NewCommunicator& what, const std::optional<Derivation::ChildNumber>& child_number, int* code) noexcept {
    Derivation* parents = child_number ? what.parent->id->derivation() : nullptr;
    if (child_number && !child_number->renews && parents->ready(*child_number)) {
        if (const auto child = parents->resolve(*child_number, code)) {
            *code = refuse(what, child->id);
        }
        return nullptr;
    }
    auto pass = std::unique_ptr<ExcidParticipation>(
        new (std::nothrow) ExcidParticipation(*this, &what, what.parent, child_number));
    if (pass == nullptr) {
        *code = child_number ? forfeit(*parents, *child_number) : MPI_ERR_NO_MEM;
    } else {
        *code = pass->start(what.whole);
    }
    return pass;
}

// This process has no index for the communicator that the others have under this exCID.
int ExcidModule::refuse(const NewCommunicator& what, const ExtendedId& id) noexcept {
    if (what.refusals != nullptr) {
        what.refusals->refuse(id, MPI_ERR_NO_SPACE);
    }
    return no_index();
}

std::unique_ptr<Allocation> ExcidModule::participate(Communicator& parent, GroupReduction& whole) noexcept {
    Derivation* parents = parent.id->derivation();
    if (parents == nullptr) {
        return nullptr;
    }
    const Derivation::ChildNumber child_number = parents->take();
    if (!child_number.renews) {
        parents->skip(child_number);
        return nullptr;
    }
    auto pass = std::unique_ptr<ExcidParticipation>(
        new (std::nothrow) ExcidParticipation(*this, nullptr, &parent, child_number));
    if (pass == nullptr) {
        log_error("cid/excid: out of memory");
        forfeit(*parents, child_number);
        return nullptr;
    }
    pass->start(&whole);
    return pass;
}

int ExcidModule::name(const NewCommunicator& what, std::uint32_t index, const ExtendedId& id, int active) noexcept {
    what.comm.index = std::uint16_t(index);
    auto* name = new (std::nothrow) ExtendedCid(what.comm, id, active);
    if (name == nullptr) {
        _table.release(index);
        return MPI_ERR_NO_MEM;
    }
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        if (_directory.bind(id, &what.comm)) {
            return MPI_SUCCESS;
        }
        return note_cause(MPI_ERR_INTERN,
            "cid/excid: two communicators of this process would be named " + id.text() +
                ": the source of PGCIDs gave one twice");
    });
    if (code != MPI_SUCCESS) {
        delete name;
        _table.release(index);
        return code;
    }
    what.comm.id = name;
    return MPI_SUCCESS;
}

ExcidAllocation::ExcidAllocation(ExcidModule& module, const NewCommunicator& what, std::uint32_t index,
    std::optional<Derivation::ChildNumber> child_number) noexcept
    : _module(module),
      _what(what),
      _index(index),
      _child_number(child_number),
      _requests(!child_number || child_number->renews),
      _request(module._context, module._counters, module._source) {}

ExcidAllocation::~ExcidAllocation() {
    if (_child_number) {
        parents().detach(*_child_number, _waiter);
    }
    if (!_named) {
        _module._table.release(_index);
    }
}

int ExcidAllocation::start() noexcept {
    int code = MPI_SUCCESS;
    if (!_requests) {
        return code;
    }
    if (!_child_number) {
        code = _request.start_for(_what, MPI_SUCCESS);
    } else {
        const Communicator& parent = *_what.parent;
        code = _request.start(*_what.whole, parent, renewal_of(parent, *_child_number));
        if (code != MPI_SUCCESS) {
            parents().renew(*_child_number, 0, code); // others wait for it
        }
    }
    return code;
}

bool ExcidAllocation::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    if (_requests) {
        if (!_request.advance(code)) {
            return false;
        }
        _requests = false;
        if (_child_number) {
            parents().renew(*_child_number, _request.pgcid(), *code);
        }
    }
    if (_child_number && !parents().ready(*_child_number)) {
        return false;
    }
    if (*code == MPI_SUCCESS) {
        *code = finish();
    }
    return true;
}

int ExcidAllocation::finish() noexcept {
    Derivation::Child child{{_request.pgcid(), 0}, 7};
    if (_child_number) {
        int code = MPI_SUCCESS;
        const auto resolved = parents().resolve(*_child_number, &code);
        if (!resolved) {
            return code;
        }
        child = *resolved;
        _module._counters.children.add();
    }
    _named = true; // in any case the index is name()'s affair
    return _module.name(_what, _index, child.id, child.active);
}

ExcidParticipation::ExcidParticipation(ExcidModule& module, const NewCommunicator* refused, Communicator* parent,
    const std::optional<Derivation::ChildNumber>& child_number) noexcept
    : _parent(parent),
      _child_number(child_number),
      _requests(!child_number || child_number->renews),
      _request(module._context, module._counters, module._source) {
    if (refused != nullptr) {
        _refused.emplace(*refused);
    }
}

ExcidParticipation::~ExcidParticipation() {
    if (_child_number) {
        parents()->detach(*_child_number, _waiter);
    }
}

int ExcidParticipation::start(GroupReduction* whole) noexcept {
    if (_requests) {
        _failed = _child_number ? _request.start(*whole, *_parent, renewal_of(*_parent, *_child_number))
                                : _request.start_for(*_refused, MPI_ERR_NO_SPACE);
        if (_failed != MPI_SUCCESS && _child_number) {
            _requests = false;
            parents()->renew(*_child_number, 0, _failed);
            parents()->skip(*_child_number);
        }
    }
    return _failed;
}

bool ExcidParticipation::ready() const noexcept {
    return _failed != MPI_SUCCESS || (_requests ? _request.ready() : parents()->ready(*_child_number));
}

bool ExcidParticipation::advance(int* code) noexcept {
    *code = _failed;
    if (_failed != MPI_SUCCESS) {
        return true;
    }
    if (_requests) {
        if (!_request.advance(code)) {
            return false;
        }
        _requests = false;
        if (_child_number) {
            parents()->renew(*_child_number, _request.pgcid(), *code);
        }
    }
    if (!_refused) {
        parents()->skip(*_child_number);
        return true;
    }
    if (_child_number && !parents()->ready(*_child_number)) {
        return false;
    }
    if (_child_number) {
        const auto child = parents()->resolve(*_child_number, code);
        if (child) {
            *code = ExcidModule::refuse(*_refused, child->id);
        }
    } else if (*code == MPI_SUCCESS) {
        *code = ExcidModule::refuse(*_refused, {_request.pgcid(), 0});
    } else if (*code == MPI_ERR_NO_SPACE) {
        *code = no_index(); // the reduction has given the error to all members
    }
    return true;
}

} // namespace patchbay::cid
