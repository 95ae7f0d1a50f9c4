// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/pmix/job_directory.h"
#include "launch/pmix/rank_end.h"
#include "launch/run_links.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <pmix.h>
#include <string>

namespace patchbay::launch {

// What connected runs (other mpirun of the user) know of each other's jobs. A job of another run is registered at the
// PMIx server of this one as a job without processes on this node, because its processes do not share the node segment;
// what they have published comes from their own server. Which ranks have ended is reported to all connected runs.
// Called in the event loop's thread only.
class JobExchange {
public:
    // `ended` is called for each rank of another run that has ended, `gone` when the whole job has.
    struct Hooks {
        std::function<void(ProcessId, RankEnd)> ended;
        std::function<void(JobNumber)> gone;
    };
    JobExchange(EventLoop& loop, JobDirectory& jobs, RunLinks& links, std::uint32_t run_number, Hooks hooks);

    // The jobs of this run.
    void add_own(JobNumber job, const JobLayout& layout);
    void own_rank_ended(ProcessId rank, RankEnd end);
    void drop_own(JobNumber job);
    // A job of this run that add_own() has added.
    RunJob describe(JobNumber job) const { return _own.at(job); }

    // Registers the job of another run, to which there is a connection, unless it is known.
    Status learn(const RunJob& job);
    // Looks for a job that this server does not know in all connected runs, and in those that they name. `found` is
    // called once, maybe within this call, when the job is known, or with false.
    using Found = std::function<void(bool known)>;
    void find(const std::string& nspace, Found found);
    // PMIX_ERR_NOT_FOUND: the process is of no other run, has published no such key, or has ended.
    using Fetched = std::function<void(pmix_status_t status, const std::string& bytes)>;
    void fetch(const pmix_proc_t& process, const std::string& key, Fetched fetched);

    // From other runs.
    void take(const std::string& run, const JobRequest& request);
    void take(const std::string& run, const ModexRequest& request);
    void take(const std::string& run, const RankGone& report);
    void take(const std::string& run, const JobGone& report);
    void run_ended(const std::string& run);

private:
    struct Foreign {
        JobNumber number;
        RunJob job;
    };
    struct Inquiry {
        std::string nspace;
        Found found;
        int missing = 0; // answers
        std::optional<EventLoop::TimerId> timer;
    };
    struct Publication; // a ModexRequest of another run that waits for its key

    void ask(const std::shared_ptr<Inquiry>& inquiry, const std::string& run);
    void answered(const std::shared_ptr<Inquiry>& inquiry, const std::string& run, const JobAnswer* answer);
    void finish(const std::shared_ptr<Inquiry>& inquiry, bool known);
    void look_for(const std::shared_ptr<Publication>& publication);
    void published(const std::shared_ptr<Publication>& publication, pmix_status_t status, const std::string& bytes);
    void answer(Publication& publication, const std::string* bytes); // null: there is no such value
    bool has_ended(const RunProcess& process) const;
    void rank_ended(Foreign& foreign, std::uint32_t rank, RankEnd end);
    void drop(const std::string& nspace);

    EventLoop& _loop;
    JobDirectory& _jobs;
    RunLinks& _links;
    std::uint32_t _run_number;
    Hooks _hooks;
    std::map<JobNumber, RunJob> _own;
    std::map<std::string, Foreign, std::less<>> _foreign; // by namespace
};

} // namespace patchbay::launch
