// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/environment.h"
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/pmix/rank_end.h"
#include "launch/pmix/rank_events.h"
#include "launch/topology.h"

#include <memory>

namespace patchbay::launch {

struct PmixHost;

// The PMIx server of this process: it has the data of all jobs and answers their ranks. There is one per process, and
// it is never finalized: PMIx_server_finalize of 4.2.2 sometimes waits for a lock that its own ended thread holds, and
// it would only free what the end of the process frees anyway, since the server has no files. So end the process by
// _exit(2).
class PmixServer {
public:
    // Sets PMIX_* variables in this process, so call it before any thread exists. The topology must outlive the server.
    // Errc::system with the error text of PMIx.
    // `run_number`: 31 random bits (core/runtime/job_protocol.h); `socket_file`: see user_socket.h.
    static Result<PmixServer*> start(EventLoop& loop, RankEvents& rank_events, const std::string& hostname,
        std::uint32_t run_number, const std::string& socket_file, const Topology& topology);
    PmixServer(const PmixServer&) = delete;
    PmixServer& operator=(const PmixServer&) = delete;

    // Passes the data of a job to PMIx, before any of its ranks is started. While ranks run this blocks until PMIx's
    // thread has done it, so it is called in the event loop's thread only. After an error the server does not know the
    // job.
    Status register_job(JobNumber job, const JobLayout& layout);
    // No rank of the job is left: forgets its data.
    void drop_job(JobNumber job);

    // Adds the variables that the process of the rank needs to connect to this server.
    Status add_to_environment(ProcessId rank, Environment& environment);

    // The process of the rank has ended. Ranks that wait for it in a group get an error; if it failed, or exited with 0
    // without having finalized, all ranks that have registered for such events get an event.
    void rank_ended(ProcessId rank, RankEnd end);

private:
    PmixServer(EventLoop& loop, RankEvents& rank_events, std::uint32_t run_number, const std::string& socket_file);

    Status register_at_pmix(const JobLayout& layout) const;

    std::uint32_t _run_number;
    std::unique_ptr<PmixHost> _host;
};

} // namespace patchbay::launch
