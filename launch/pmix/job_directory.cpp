// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/job_directory.h"

#include "launch/pmix/info_list.h"

#include <limits>

namespace patchbay::launch {

bool JobDirectory::add(JobNumber job, const std::string& nspace, int ranks) {
    const std::lock_guard lock(_mutex);
    if (!_names.emplace(job, nspace).second) {
        return false;
    }
    _jobs.emplace(nspace, Job{job, static_cast<std::uint32_t>(ranks), {}});
    return true;
}

std::optional<JobNumber> JobDirectory::add_foreign(const std::string& run, const std::string& nspace, int ranks) {
    const std::lock_guard lock(_mutex);
    JobNumber job = std::numeric_limits<JobNumber>::max();
    while (job > 0 && _names.contains(job)) {
        --job;
    }
    if (job == 0) {
        return std::nullopt;
    }
    _jobs.emplace(nspace, Job{job, static_cast<std::uint32_t>(ranks), run});
    _names.emplace(job, nspace);
    return job;
}

void JobDirectory::remove(JobNumber job) {
    const std::lock_guard lock(_mutex);
    if (const auto name = _names.extract(job); !name.empty()) {
        _jobs.erase(name.mapped());
    }
    std::erase_if(_ended, [job](ProcessId process) { return process.job == job; });
}

void JobDirectory::ended(ProcessId process) {
    const std::lock_guard lock(_mutex);
    _ended.insert(process);
}

bool JobDirectory::is_running(ProcessId process) const {
    const std::lock_guard lock(_mutex);
    return _names.contains(process.job) && !_ended.contains(process);
}

const JobDirectory::Job* JobDirectory::job_of(std::string_view nspace) const {
    const auto job = _jobs.find(nspace);
    return job == _jobs.end() ? nullptr : &job->second;
}

std::optional<JobDirectory::Job> JobDirectory::job(std::string_view nspace) const {
    const std::lock_guard lock(_mutex);
    const Job* job = job_of(nspace);
    return job == nullptr ? std::nullopt : std::optional(*job);
}

std::optional<ProcessId> JobDirectory::find(const pmix_proc_t& proc) const {
    const std::lock_guard lock(_mutex);
    const Job* job = job_of(proc.nspace);
    return job != nullptr && proc.rank < job->ranks ? std::optional(ProcessId{job->number, proc.rank}) : std::nullopt;
}

std::optional<std::set<ProcessId>> JobDirectory::find_all(const std::vector<pmix_proc_t>& procs) const {
    const std::lock_guard lock(_mutex);
    std::set<ProcessId> all;
    for (const pmix_proc_t& proc : procs) {
        const Job* job = job_of(proc.nspace);
        if (job == nullptr || (proc.rank != PMIX_RANK_WILDCARD && proc.rank >= job->ranks)) {
            return std::nullopt;
        }
        const bool whole = proc.rank == PMIX_RANK_WILDCARD;
        for (std::uint32_t rank = whole ? 0 : proc.rank; rank < (whole ? job->ranks : proc.rank + 1); ++rank) {
            all.emplace(job->number, rank);
        }
    }
    return all;
}

pmix_proc_t JobDirectory::name_of(ProcessId process) const {
    const std::lock_guard lock(_mutex);
    return make_proc(_names.at(process.job), process.rank);
}

} // namespace patchbay::launch
