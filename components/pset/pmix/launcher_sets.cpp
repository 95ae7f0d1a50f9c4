// SPDX-License-Identifier: BSD-3-Clause
#include "components/pset/pmix/launcher_sets.h"

#include "core/log.h"

namespace patchbay::pset {

Result<std::vector<std::string>> LauncherSets::names() {
    _requests.fetch_add(1, std::memory_order_relaxed);
    return _runtime.pset_names();
}

// Sets are cached from the first one on, so that changes must be received from then on.
void LauncherSets::listen() {
    if (_listens) {
        return;
    }
    _listens = true;
    Status listening =
        _runtime.on_pset_change([this](const std::string& name, const std::vector<ProcessName>* processes) {
            Members members = processes == nullptr ? std::nullopt : members_of(*processes);
            const std::lock_guard lock(_mutex);
            _heard.insert_or_assign(name, std::move(members));
        });
    if (!listening) {
        log_verbose(1, "process sets: " + listening.error().text + "; each is taken to stay as it is");
    }
}

LauncherSets::Members LauncherSets::members_of(const std::vector<ProcessName>& processes) const {
    std::vector<ProcessId> members;
    for (const ProcessName& process : processes) {
        if (process.nspace != _runtime.nspace()) {
            return std::nullopt;
        }
        members.push_back({0, process.rank});
    }
    return Set::of({}, 1, std::move(members)).runs;
}

Result<Set> LauncherSets::find(const std::string& name) {
    listen();
    _requests.fetch_add(1, std::memory_order_relaxed);
    auto answer = _runtime.pset(name);
    if (!answer) {
        return answer.error();
    }
    Members members = members_of(answer->members);
    if (!members) {
        return Error{Errc::unsupported, "the process set '" + name + "' has members of another job"};
    }
    return Set{name, answer->version, std::move(*members)};
}

// Reports of what we know already come as well, and late.
bool LauncherSets::is_current(const Set& set) const noexcept {
    const std::lock_guard lock(_mutex);
    auto heard = _heard.find(set.name);
    return heard == _heard.end() || heard->second == set.runs;
}

} // namespace patchbay::pset
