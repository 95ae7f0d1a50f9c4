// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/group_service.h"

#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <algorithm>

namespace patchbay::launch {

void GroupService::join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
    pmix_info_cbfunc_t callback, void* callback_data) {
    const std::optional<std::set<ProcessId>> processes = _jobs.find_all(members);
    const std::optional<ProcessId> self = _jobs.find(requestor);
    if (!processes || !self || !processes->contains(*self)) {
        answer_error(callback, callback_data, PMIX_ERR_BAD_PARAM);
        return;
    }
    auto [group, is_first] = _forming.try_emplace({processes->begin()->job, name});
    if (is_first) {
        group->second.members = *processes;
    } else if (group->second.members != *processes || group->second.waiters.contains(*self)) {
        answer_error(callback, callback_data, PMIX_ERR_BAD_PARAM);
        return;
    }
    group->second.waiters[*self] = {callback, callback_data};
    if (std::ranges::any_of(*processes, [this](ProcessId member) { return _ended.contains(member); })) {
        complete(group, PMIX_ERR_PROC_ABORTED);
    } else if (group->second.waiters.size() == processes->size()) {
        complete(group, PMIX_SUCCESS);
    }
}

void GroupService::ended(ProcessId rank) {
    _ended.insert(rank);
    for (auto group = _forming.begin(); group != _forming.end();) {
        auto next = std::next(group);
        if (group->second.members.contains(rank)) {
            complete(group, PMIX_ERR_PROC_ABORTED);
        }
        group = next;
    }
}

void GroupService::forget(JobNumber job) {
    std::erase_if(_ended, [job](ProcessId rank) { return rank.job == job; });
}

void GroupService::complete(Groups::iterator group, pmix_status_t status) {
    std::size_t context_id = status == PMIX_SUCCESS ? next_context_id() : 0;
    for (const auto& [rank, waiter] : group->second.waiters) {
        if (status != PMIX_SUCCESS) {
            answer_error(waiter.callback, waiter.callback_data, status);
            continue;
        }
        InfoList results;
        results.add_size(PMIX_GROUP_CONTEXT_ID, context_id);
        answer(waiter.callback, waiter.callback_data, std::move(results));
    }
    _forming.erase(group);
}

} // namespace patchbay::launch
