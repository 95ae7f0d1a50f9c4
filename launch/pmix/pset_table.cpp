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
    auto [found, is_new] = _entries.try_emplace(name, Entry{1, {}, is_listed});
    Entry& entry = found->second;
    if (!is_new && !std::ranges::equal(entry.members, members, same)) {
        ++entry.version;
    }
    entry.members = std::move(members);
    return entry.version;
}

const PsetTable::Entry* PsetTable::find(const std::string& name) const {
    auto found = _entries.find(name);
    return found == _entries.end() ? nullptr : &found->second;
}

std::size_t PsetTable::size() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(_entries, [](const auto& entry) { return entry.second.is_listed; }));
}

std::string PsetTable::names() const {
    std::string names;
    for (const auto& [name, entry] : _entries) {
        if (entry.is_listed) {
            names += (names.empty() ? "" : ",") + name;
        }
    }
    return names;
}

} // namespace patchbay::launch
