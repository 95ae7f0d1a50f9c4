// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/pset/set.h"

#include <algorithm>

namespace patchbay::pset {

namespace {

// The numbers of the jobs in the order in which the jobs occur.
std::vector<JobNumber> jobs_of(const std::vector<ProcessId>& members) {
    std::vector<JobNumber> jobs;
    for (const ProcessId& member : members) {
        if (std::ranges::find(jobs, member.job) == jobs.end()) {
            jobs.push_back(member.job);
        }
    }
    return jobs;
}

} // namespace

Set Set::of(std::string name, std::uint64_t version, std::vector<ProcessId> members) {
    const std::vector<JobNumber> jobs = jobs_of(members);
    std::ranges::sort(members, {}, [&jobs](const ProcessId& member) {
        return std::pair(std::ranges::find(jobs, member.job), std::pair(member.thread, member.rank));
    });
    members.erase(std::unique(members.begin(), members.end()), members.end());
    Set set{std::move(name), version, {}};
    for (const ProcessId& process : members) {
        Run* last = set.runs.empty() ? nullptr : &set.runs.back();
        if (last != nullptr && last->first.job == process.job && last->first.thread == process.thread &&
            last->first.rank + last->count == process.rank) {
            ++last->count;
        } else {
            set.runs.push_back({process, 1});
        }
    }
    return set;
}

Set Set::run(std::string name, ProcessId first, std::uint32_t count) {
    Set set{std::move(name), 1, {}};
    if (count > 0) {
        set.runs.push_back({first, count});
    }
    return set;
}

std::size_t Set::size() const noexcept {
    std::size_t size = 0;
    for (const Run& run : runs) {
        size += run.count;
    }
    return size;
}

bool Set::contains(ProcessId process) const noexcept {
    return std::any_of(runs.begin(), runs.end(), [process](const Run& run) {
        return run.first.job == process.job && run.first.thread == process.thread && process.rank >= run.first.rank &&
            process.rank - run.first.rank < run.count;
    });
}

std::vector<ProcessId> Set::members() const {
    std::vector<ProcessId> members;
    members.reserve(size());
    for (const Run& run : runs) {
        for (std::uint32_t i = 0; i < run.count; ++i) {
            members.push_back({run.first.job, run.first.rank + i, run.first.thread});
        }
    }
    return members;
}

Ref<Group> Set::group(ProcessId self) const {
    if (runs.empty()) {
        return Group::empty();
    }
    return runs.size() == 1 ? Group::range(runs[0].first, int(runs[0].count), self) : Group::list(members(), self);
}

} // namespace patchbay::pset
