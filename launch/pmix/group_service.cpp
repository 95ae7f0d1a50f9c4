// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/group_service.h"

#include <algorithm>

namespace patchbay::launch {

void GroupService::join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
    const Answer& answer) {
    const std::optional<std::set<ProcessId>> processes = _jobs.find_all(members);
    const std::optional<ProcessId> self = _jobs.find(requestor);
    if (!processes || !self || !processes->contains(*self)) {
        answer(PMIX_ERR_BAD_PARAM, 0);
        return;
    }
    auto [group, is_first] = _forming.try_emplace({processes->begin()->job, name});
    if (is_first) {
        group->second.members = *processes;
    } else if (group->second.members != *processes || group->second.waiters.contains(*self)) {
        answer(PMIX_ERR_BAD_PARAM, 0);
        return;
    }
    group->second.waiters[*self] = answer;
    if (std::ranges::any_of(*processes, [this](ProcessId member) { return !_jobs.is_running(member); })) {
        complete(group, PMIX_ERR_PROC_ABORTED);
    } else if (group->second.waiters.size() == processes->size()) {
        complete(group, PMIX_SUCCESS);
    }
}

void GroupService::ended(ProcessId rank) {
    for (auto group = _forming.begin(); group != _forming.end();) {
        auto next = std::next(group);
        if (group->second.members.contains(rank)) {
            complete(group, PMIX_ERR_PROC_ABORTED);
        }
        group = next;
    }
}

void GroupService::complete(Groups::iterator group, pmix_status_t status) {
    const std::uint64_t context_id = status == PMIX_SUCCESS ? next_context_id() : 0;
    for (const auto& [rank, answer] : group->second.waiters) {
        answer(status, context_id);
    }
    _forming.erase(group);
}

} // namespace patchbay::launch
