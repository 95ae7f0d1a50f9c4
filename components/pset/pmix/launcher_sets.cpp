// SPDX-License-Identifier: BSD-3-Clause
#include "components/pset/pmix/launcher_sets.h"

#include "core/log.h"

#include <algorithm>

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

// Nothing: a member is of a job that this process does not know (yet).
LauncherSets::Members LauncherSets::members_of(const std::vector<ProcessName>& processes) const {
    std::vector<ProcessId> members;
    for (const ProcessName& process : processes) {
        const std::optional<ProcessId> member = _runtime.jobs().id_of(process);
        if (!member) {
            return std::nullopt;
        }
        members.push_back(*member);
    }
    return Set::of({}, 1, std::move(members)).runs;
}

// Adds the jobs of these processes to the table, once each.
Status LauncherSets::know_jobs_of(const std::vector<ProcessName>& processes) {
    for (const ProcessName& process : processes) {
        const std::optional<JobNumber> known = _runtime.jobs().find(process.nspace);
        if (known && (*known == own_job || std::ranges::find(_jobs, *known) != _jobs.end())) {
            continue;
        }
        const Result<JobNumber> added = _runtime.add_job(process.nspace);
        if (!added) {
            return added.error();
        }
        _jobs.push_back(added.value());
    }
    return {};
}

LauncherSets::~LauncherSets() {
    _runtime.stop_pset_reports();
    for (const JobNumber job : _jobs) {
        _runtime.jobs().drop(job);
    }
}

Result<Set> LauncherSets::find(const std::string& name) {
    listen();
    _requests.fetch_add(1, std::memory_order_relaxed);
    auto answer = _runtime.pset(name);
    if (!answer) {
        return answer.error();
    }
    if (Status known = know_jobs_of(answer->members); !known) {
        return Error{Errc::unsupported, "the process set '" + name + "' has members of " + known.error().text};
    }
    Members members = members_of(answer->members);
    if (!members) {
        return Error{Errc::unsupported, "the process set '" + name + "' has members that are in no job"};
    }
    if (answer->is_jobs_own) {
        const std::lock_guard lock(_mutex);
        _of_own_job.insert(name);
    }
    return Set{name, answer->version, std::move(*members)};
}

// Reports of what we know already come as well, and late.
bool LauncherSets::is_current(const Set& set) const noexcept {
    const std::lock_guard lock(_mutex);
    if (_of_own_job.contains(set.name)) {
        return true;
    }
    auto heard = _heard.find(set.name);
    return heard == _heard.end() || heard->second == set.runs;
}

} // namespace patchbay::pset
