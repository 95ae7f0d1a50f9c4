// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"

#include <map>
#include <mutex>
#include <optional>
#include <pmix.h>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// The jobs of the PMIx server, by namespace and by the numbers that the head has given them: those of this run, and
// those of other runs (other mpirun of the user) that are connected with it, which have numbers from the other end.
// Thread-safe.
class JobDirectory {
public:
    // false: a job of another run has the number.
    bool add(JobNumber job, const std::string& nspace, int ranks);
    // A job of another run; nothing: there is no number left.
    std::optional<JobNumber> add_foreign(const std::string& run, const std::string& nspace, int ranks);
    void remove(JobNumber job);
    // A process of one of the jobs has ended.
    void ended(ProcessId process);

    // Nothing: the process is in none of the jobs. The names are compared as they are: PMIX_CHECK_NSPACE would accept
    // an empty namespace for any other one.
    std::optional<ProcessId> find(const pmix_proc_t& proc) const;
    // The same for several; a process of rank PMIX_RANK_WILDCARD stands for all of its job. Nothing where one of them
    // is in none of the jobs.
    std::optional<std::set<ProcessId>> find_all(const std::vector<pmix_proc_t>& procs) const;
    // Whether the process is in one of the jobs and has not ended. What it has asked for may arrive afterwards.
    bool is_running(ProcessId process) const;
    // The job must be there.
    pmix_proc_t name_of(ProcessId process) const;

    // A job by its namespace. `run`: empty for one of this run.
    struct Job {
        JobNumber number;
        std::uint32_t ranks;
        std::string run;
    };
    std::optional<Job> job(std::string_view nspace) const;

private:
    const Job* job_of(std::string_view nspace) const; // with the mutex held

    mutable std::mutex _mutex;
    std::map<std::string, Job, std::less<>> _jobs;
    std::map<JobNumber, std::string> _names;
    std::set<ProcessId> _ended;
};

} // namespace patchbay::launch
