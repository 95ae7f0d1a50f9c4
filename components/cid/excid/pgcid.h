// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/runtime.h"
#include "frameworks/cid/cid.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace patchbay {
class Context;
}

namespace patchbay::cid {

struct Counters;

// Where PGCIDs come from, in the order of parameter cid_excid_source.
enum class PgcidSource : std::uint8_t { automatic, pmix, launcher, bootstrap };

// A new PGCID for a group of processes, under way.
class PgcidRequest {
public:
    PgcidRequest(Context& context, Counters& counters, PgcidSource source) noexcept
        : _context(context),
          _counters(counters),
          _source(source) {}
    ~PgcidRequest() { count_down(); }

    // Called by all processes of `comm`, which may be under construction. `reduction` is over them; the first process
    // of the group provides the PGCID, in an intercommunicator the first of each group. `key` identifies this request
    // among those under way, unless the group reduction has a name. Returns an MPI code.
    int start(GroupReduction& reduction, const Communicator& comm, const ConstructorKey& key) noexcept;
    // The same for a communicator that has a PGCID of its own. `refused`: why this process can be in no new
    // communicator, or MPI_SUCCESS; advance() gives that error to all members. Where a launcher makes the PGCID the
    // others do not get it so, nor where they can withdraw: this process then refuses the communicator.
    int start_for(const NewCommunicator& what, int refused) noexcept;
    bool ready() const noexcept { return _group ? _group->done() : _reduction->ready(); }
    // As GroupReduction::attach().
    int attach(Continuation& next) noexcept;
    // true: finished, with the PGCID when *code is MPI_SUCCESS.
    bool advance(int* code) noexcept;
    std::uint64_t pgcid() const noexcept { return _words[0]; }

private:
    static int poll(void* self) noexcept;
    void count_down() noexcept;
    int start_group(const Group& group, std::string name, const ConstructorKey& key);
    bool asks_launcher() const noexcept;
    bool needs_launcher(const NewCommunicator& what) const noexcept;
    int start_group_of(const Communicator& comm, const GroupReduction& reduction, const ConstructorKey& key) noexcept;
    std::uint64_t fresh() noexcept;

    Context& _context;
    Counters& _counters;
    PgcidSource _source;
    GroupReduction* _reduction = nullptr;
    std::optional<GroupRequest> _group; // under construction by the launcher
    PollerHandle _poller;               // for its end; while `_next` is attached
    std::atomic<Continuation*> _next{nullptr};
    std::array<std::uint64_t, 2> _words{}; // the PGCID, and the error of a member that refuses
};

} // namespace patchbay::cid
