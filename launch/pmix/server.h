// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/environment.h"
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/topology.h"

#include <memory>

namespace patchbay::launch {

struct PmixHost;

// The PMIx server of this process: it has the data of the job and answers its ranks. There is one per process, and it
// is never finalized: PMIx_server_finalize of 4.2.2 sometimes waits for a lock that its own ended thread holds, and it
// would only free what the end of the process frees anyway, since the server has no files. So end the process by
// _exit(2).
class PmixServer {
public:
    // Sets PMIX_* variables in this process, so call it before any thread exists. The topology must outlive the server.
    // Errc::system with the error text of PMIx.
    static Result<PmixServer*> start(
        EventLoop& loop, RankEvents& rank_events, const JobLayout& layout, const Topology& topology);
    PmixServer(const PmixServer&) = delete;
    PmixServer& operator=(const PmixServer&) = delete;

    // Passes the data of the job to PMIx, before any rank is started.
    Status register_job();

    // Adds the variables that the process of the rank needs to connect to this server.
    Status add_to_environment(int rank, Environment& environment);

    // The process of the rank has ended. Ranks that wait for it in a group get an error; if it failed, all ranks that
    // have registered for such events get an event.
    enum class End { clean, exit_status, signal };
    void rank_ended(int rank, End end);

private:
    PmixServer(EventLoop& loop, RankEvents& rank_events, const JobLayout& layout);

    JobLayout _layout;
    std::unique_ptr<PmixHost> _host;
};

} // namespace patchbay::launch
