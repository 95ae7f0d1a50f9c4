// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/cid/excid/pgcid.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/derivation.h"

#include <optional>

namespace patchbay::cid {

class Directory;
class IndexTable;

// Allocates exCIDs: derived from the parent's without communication where all members of the parent call the
// constructor, otherwise from a new PGCID. Each process chooses its local index alone.
class ExcidModule final : public Module {
public:
    ExcidModule(Context& context, PgcidSource source) noexcept;

    std::unique_ptr<Allocation> begin(const NewCommunicator& what, int* code) noexcept override;
    std::unique_ptr<Allocation> participate(Communicator& parent, GroupReduction& whole) noexcept override;

private:
    friend class ExcidAllocation;
    friend class ExcidParticipation;
    std::unique_ptr<Allocation> begin_without_index(
        const NewCommunicator& what, const std::optional<Derivation::ChildNumber>& child_number, int* code) noexcept;
    static int refuse(const NewCommunicator& what, const ExtendedId& id) noexcept;
    // Gives `what` its name and index. Returns an MPI code; after an error the index is free again.
    int name(const NewCommunicator& what, std::uint32_t index, const ExtendedId& id, int active) noexcept;

    Context& _context;
    IndexTable& _table;
    Directory& _directory;
    Counters& _counters;
    const PgcidSource _source;
};

// A CID allocation that needs a new PGCID, or waits for one that an earlier constructor on the same parent is getting.
class ExcidAllocation final : public Allocation {
public:
    ExcidAllocation(ExcidModule& module, const NewCommunicator& what, std::uint32_t index,
        std::optional<Derivation::ChildNumber> child_number) noexcept;
    ~ExcidAllocation() override;

    int start() noexcept;
    bool ready() const noexcept override { return _requests ? _request.ready() : parents().ready(*_child_number); }
    bool advance(int* code) noexcept override;
    int attach(Continuation& next) noexcept override {
        return _requests ? _request.attach(next) : parents().attach(*_child_number, _waiter, next);
    }

private:
    Derivation& parents() const noexcept { return *_what.parent->id->derivation(); }
    int finish() noexcept;

    ExcidModule& _module;
    const NewCommunicator _what;
    std::uint32_t _index;
    std::optional<Derivation::ChildNumber> _child_number; // nullopt: a PGCID for this communicator alone
    bool _requests;                                       // the PGCID is ours to get, and not there yet
    bool _named = false;
    Derivation::Waiter _waiter; // for the block of the child number
    PgcidRequest _request;
};

// Participation of a process that gets no communicator: it is no member, or it has no free index. The other members may
// need its part in getting a PGCID. Where it has no free index it waits for the exCID that the communicator has in the
// other members, to send them its refusal.
class ExcidParticipation final : public Allocation {
public:
    // Of a process without a free index; nullptr instead of `refused`: of a process that is no member. `child_number`
    // is one of `parent`, which may be null where there is none.
    ExcidParticipation(ExcidModule& module, const NewCommunicator* refused, Communicator* parent,
        const std::optional<Derivation::ChildNumber>& child_number) noexcept;
    ~ExcidParticipation() override;

    // `whole`: the reduction over the parent, if the child number renews its block. Returns an MPI code.
    int start(GroupReduction* whole) noexcept;
    bool ready() const noexcept override;
    bool advance(int* code) noexcept override;
    int attach(Continuation& next) noexcept override {
        return _requests ? _request.attach(next) : parents()->attach(*_child_number, _waiter, next);
    }

private:
    Derivation* parents() const noexcept { return _parent != nullptr ? _parent->id->derivation() : nullptr; }

    std::optional<NewCommunicator> _refused;
    Communicator* _parent;
    std::optional<Derivation::ChildNumber> _child_number;
    bool _requests; // the PGCID is to be got, and not known yet
    int _failed = MPI_SUCCESS;
    Derivation::Waiter _waiter; // for the block of the child number
    PgcidRequest _request;
};

} // namespace patchbay::cid
