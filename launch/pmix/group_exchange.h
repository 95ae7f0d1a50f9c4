// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/pmix/group_service.h"
#include "launch/pmix/job_directory.h"
#include "launch/pmix/job_exchange.h"
#include "launch/run_links.h"

#include <pmix.h>
#include <string>
#include <vector>

namespace patchbay::launch {

// Groups with members of several runs: the run with the lowest name among those of the members makes the identifier,
// and the others pass the requests of their processes on to it.
class GroupExchange {
public:
    GroupExchange(
        EventLoop& loop, const JobDirectory& jobs, RunLinks& links, JobExchange& job_exchange, GroupService& groups)
        : _loop(loop),
          _jobs(jobs),
          _links(links),
          _job_exchange(job_exchange),
          _groups(groups) {}

    // The request of a process of this run. On PMIx's thread, on any thread it is answered. PMIX_ERR_PROC_ABORTED also
    // if the run that would make the identifier has ended.
    void join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
        const GroupService::Answer& answer);

    // From another run, in the event loop's thread.
    void take(const std::string& run, const GroupRequest& request);

private:
    void pass_on(const std::string& run, const GroupRequest& request, const GroupService::Answer& answer);
    void join_when_known(const std::string& run, const GroupRequest& request, std::size_t known);

    EventLoop& _loop;
    const JobDirectory& _jobs;
    RunLinks& _links;
    JobExchange& _job_exchange;
    GroupService& _groups;
};

} // namespace patchbay::launch
