// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/cid/excid/pgcid.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/derivation.h"

#include <optional>

namespace patchbay::cid {

// Names communicators by exCID: derived from the parent's without a word to anybody where all of the parent takes part,
// else from a new PGCID. The local index is this process's own affair.
class ExcidModule final : public Module {
public:
    ExcidModule(Instance& instance, PgcidSource source) noexcept
        : _instance(instance),
          _source(source) {}

    std::unique_ptr<Assignment> begin(const NewCommunicator& what, int* code) noexcept override;
    std::unique_ptr<Assignment> pass(Communicator& parent, Agreement& whole) noexcept override;

private:
    friend class ExcidAssignment;
    friend class ExcidPass;
    std::unique_ptr<Assignment> begin_without_index(
        const NewCommunicator& what, const std::optional<Derivation::Ticket>& ticket, int* code) noexcept;
    // Gives `what` its name and index. Returns an MPI code; after an error the index is free again.
    int name(const NewCommunicator& what, std::uint32_t index, const ExtendedId& id, int active) noexcept;

    Instance& _instance;
    PgcidSource _source;
};

// A naming that needs a new PGCID, or waits for one that an earlier constructor on the same parent is getting.
class ExcidAssignment final : public Assignment {
public:
    ExcidAssignment(ExcidModule& module, const NewCommunicator& what, std::uint32_t index,
        std::optional<Derivation::Ticket> ticket) noexcept;
    ~ExcidAssignment() override;

    int start() noexcept;
    bool ready() const noexcept override { return _requests ? _request.ready() : parents().ready(*_ticket); }
    bool advance(int* code) noexcept override;

private:
    Derivation& parents() const noexcept { return *_what.parent->name_service->derivation(); }
    int finish() noexcept;

    ExcidModule& _module;
    const NewCommunicator _what;
    std::uint32_t _index;
    std::optional<Derivation::Ticket> _ticket; // nullopt: a PGCID for this communicator alone
    bool _requests;                            // the PGCID is ours to get, and not there yet
    bool _named = false;
    PgcidRequest _request;
};

// The part in getting a PGCID of a process that has no use for it, and without which others would wait: it holds the
// ticket that renews its parent's, or has no index left.
class ExcidPass final : public Assignment {
public:
    // `result`: the code after the PGCID is there.
    ExcidPass(ExcidModule& module, int result) noexcept
        : _result(result),
          _request(module._instance, module._source) {}

    // For the next block of names of `parent`.
    int renew(Communicator& parent, const Derivation::Ticket& ticket, Agreement& whole) noexcept;
    // For a communicator that this process fails to get.
    int help(const NewCommunicator& what) noexcept;
    bool ready() const noexcept override { return _failed != MPI_SUCCESS || _request.ready(); }
    bool advance(int* code) noexcept override;

private:
    Derivation* _parents = nullptr; // those that the ticket is of
    Derivation::Ticket _ticket{};
    const int _result;
    int _failed = MPI_SUCCESS;
    PgcidRequest _request;
};

} // namespace patchbay::cid
