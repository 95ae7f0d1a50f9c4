// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/cid/excid/pgcid.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/derivation.h"

#include <optional>

namespace patchbay::cid {

class Directory;
class IndexTable;

// Names communicators by exCID: derived from the parent's without a word to anybody where all of the parent takes part,
// else from a new PGCID. The local index is this process's own affair.
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

private:
    Derivation& parents() const noexcept { return *_what.parent->id->derivation(); }
    int finish() noexcept;

    ExcidModule& _module;
    const NewCommunicator _what;
    std::uint32_t _index;
    std::optional<Derivation::ChildNumber> _child_number; // nullopt: a PGCID for this communicator alone
    bool _requests;                                       // the PGCID is ours to get, and not there yet
    bool _named = false;
    PgcidRequest _request;
};

// The part in getting a PGCID of a process that has no use for it, and without which others would wait: it holds the
// child number that renews its parent's, or has no index left.
class ExcidParticipation final : public Allocation {
public:
    // `lacks_index`: the process fails, once the PGCID is there.
    ExcidParticipation(ExcidModule& module, bool lacks_index) noexcept
        : _lacks_index(lacks_index),
          _request(module._context, module._counters, module._source) {}

    // For the next block of names of `parent`.
    int renew(Communicator& parent, const Derivation::ChildNumber& child_number, GroupReduction& whole) noexcept;
    // For a communicator that this process fails to get.
    int help(const NewCommunicator& what) noexcept;
    bool ready() const noexcept override { return _failed != MPI_SUCCESS || _request.ready(); }
    bool advance(int* code) noexcept override;

private:
    Derivation* _parents = nullptr; // those that the child number is of
    Derivation::ChildNumber _child_number{};
    const bool _lacks_index;
    int _failed = MPI_SUCCESS;
    PgcidRequest _request;
};

} // namespace patchbay::cid
