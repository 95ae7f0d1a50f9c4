// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"

#include <map>
#include <mutex>
#include <optional>
#include <pmix.h>
#include <set>
#include <string>
#include <vector>

namespace patchbay::launch {

// The jobs of the PMIx server, by namespace and by the numbers that the head has given them. Thread-safe.
class JobDirectory {
public:
    void add(JobNumber job, const std::string& nspace, int ranks);
    void remove(JobNumber job);

    // Nothing: the process is in none of the jobs. The names are compared as they are: PMIX_CHECK_NSPACE would accept
    // an empty namespace for any other one.
    std::optional<ProcessId> find(const pmix_proc_t& proc) const;
    // The same for several; a process of rank PMIX_RANK_WILDCARD stands for all of its job. Nothing where one of them
    // is in none of the jobs.
    std::optional<std::set<ProcessId>> find_all(const std::vector<pmix_proc_t>& procs) const;
    // The job must be there.
    pmix_proc_t name_of(ProcessId process) const;

private:
    struct Job {
        JobNumber number;
        std::uint32_t ranks;
    };
    std::optional<Job> job_of(const pmix_proc_t& proc) const; // with the mutex held

    mutable std::mutex _mutex;
    std::map<std::string, Job, std::less<>> _jobs;
    std::map<JobNumber, std::string> _names;
};

} // namespace patchbay::launch
