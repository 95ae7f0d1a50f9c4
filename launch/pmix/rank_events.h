// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"
#include "launch/job.h"

#include <functional>
#include <string>
#include <vector>

namespace patchbay::launch {

// What the PMIx server learns from the ranks, called in the event loop's thread. The numbers of the jobs are the
// head's.
class RankEvents {
public:
    virtual ~RankEvents() = default;
    virtual void connected(ProcessId rank) = 0; // in PMIx_Init
    virtual void finalized(ProcessId rank) = 0; // in PMIx_Finalize
    // Has finished its first MPI_Init; only with --timing (core/runtime/ready_protocol.h).
    virtual void ready(ProcessId rank) = 0;
    // The rank is in PMIx_Abort, which returns when `done` is called.
    virtual void aborted(ProcessId rank, int status, const std::string& message, std::function<void()> done) = 0;
    // A line for the user.
    virtual void message(const std::string& text) = 0;
    // The rank is in PMIx_Spawn, which returns when `done` is called with the namespace of the new job; empty: it could
    // not be started, for the reason in `error`. `key` names the call of MPI_Comm_spawn; empty: there is none.
    using SpawnDone = std::function<void(const std::string& nspace, const std::string& error)>;
    virtual void spawn(ProcessId parent, std::vector<AppSpec> apps, std::string key, SpawnDone done) = 0;
};

} // namespace patchbay::launch
