// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/job_directory.h"

#include "launch/pmix/info_list.h"

#include <string_view>

namespace patchbay::launch {

void JobDirectory::add(JobNumber job, const std::string& nspace, int ranks) {
    const std::lock_guard lock(_mutex);
    _jobs.emplace(nspace, Job{job, static_cast<std::uint32_t>(ranks)});
    _names.emplace(job, nspace);
}

void JobDirectory::remove(JobNumber job) {
    const std::lock_guard lock(_mutex);
    if (const auto name = _names.extract(job); !name.empty()) {
        _jobs.erase(name.mapped());
    }
}

std::optional<JobDirectory::Job> JobDirectory::job_of(const pmix_proc_t& proc) const {
    const auto job = _jobs.find(std::string_view(proc.nspace));
    return job == _jobs.end() ? std::nullopt : std::optional(job->second);
}

std::optional<ProcessId> JobDirectory::find(const pmix_proc_t& proc) const {
    const std::lock_guard lock(_mutex);
    const std::optional<Job> job = job_of(proc);
    return job && proc.rank < job->ranks ? std::optional(ProcessId{job->number, proc.rank}) : std::nullopt;
}

std::optional<std::set<ProcessId>> JobDirectory::find_all(const std::vector<pmix_proc_t>& procs) const {
    const std::lock_guard lock(_mutex);
    std::set<ProcessId> all;
    for (const pmix_proc_t& proc : procs) {
        const std::optional<Job> job = job_of(proc);
        if (!job || (proc.rank != PMIX_RANK_WILDCARD && proc.rank >= job->ranks)) {
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
