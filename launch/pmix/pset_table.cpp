// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/pset_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace patchbay::launch {

std::size_t PsetTable::define(const std::string& name, std::vector<pmix_proc_t> members, bool is_listed) {
    const auto key = [](const pmix_proc_t& proc) { return std::pair(std::string_view(proc.nspace), proc.rank); };
    const auto same = [&key](const pmix_proc_t& a, const pmix_proc_t& b) { return key(a) == key(b); };
    std::ranges::sort(members, {}, key);
    members.erase(std::unique(members.begin(), members.end(), same), members.end());
    auto [found, is_new] = _of_run.try_emplace(name, Entry{1, {}, is_listed, false});
    Entry& entry = found->second;
    if (!is_new && !std::ranges::equal(entry.members, members, same)) {
        ++entry.version;
    }
    entry.members = std::move(members);
    return entry.version;
}

void PsetTable::define_for(
    const std::string& job, const std::string& name, std::vector<pmix_proc_t> members, bool is_listed) {
    _of_jobs[job].insert_or_assign(name, Entry{1, std::move(members), is_listed, true});
}

void PsetTable::forget_job(const std::string& job) {
    _of_jobs.erase(job);
}

const PsetTable::Entry* PsetTable::find(const std::string& job, const std::string& name) const {
    if (const auto own = _of_jobs.find(job); own != _of_jobs.end()) {
        if (const auto found = own->second.find(name); found != own->second.end()) {
            return &found->second;
        }
    }
    const auto found = _of_run.find(name);
    return found == _of_run.end() ? nullptr : &found->second;
}

std::vector<std::string> PsetTable::names(const std::string& job) const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : _of_run) {
        if (find(job, name)->is_listed) {
            names.push_back(name);
        }
    }
    if (const auto own = _of_jobs.find(job); own != _of_jobs.end()) {
        for (const auto& [name, entry] : own->second) {
            if (entry.is_listed && !_of_run.contains(name)) {
                names.push_back(name);
            }
        }
    }
    return names;
}

} // namespace patchbay::launch
