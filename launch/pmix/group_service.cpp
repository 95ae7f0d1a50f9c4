// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/group_service.h"

#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <algorithm>

namespace patchbay::launch {

bool GroupService::ranks_of(const std::vector<pmix_proc_t>& procs, std::set<int>& ranks) const {
    for (const pmix_proc_t& proc : procs) {
        if (_nspace != proc.nspace) { // PMIX_CHECK_NSPACE would accept an empty one
            return false;
        }
        if (proc.rank == PMIX_RANK_WILDCARD) {
            for (int rank = 0; rank < _ranks; ++rank) {
                ranks.insert(rank);
            }
        } else if (proc.rank < static_cast<pmix_rank_t>(_ranks)) {
            ranks.insert(static_cast<int>(proc.rank));
        } else {
            return false;
        }
    }
    return true;
}

void GroupService::join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
    pmix_info_cbfunc_t callback, void* callback_data) {
    std::set<int> ranks;
    int rank = static_cast<int>(requestor.rank);
    if (!ranks_of(members, ranks) || _nspace != requestor.nspace || !ranks.contains(rank)) {
        answer_error(callback, callback_data, PMIX_ERR_BAD_PARAM);
        return;
    }
    auto [group, is_first] = _forming.try_emplace(name);
    if (is_first) {
        group->second.members = ranks;
    } else if (group->second.members != ranks || group->second.waiters.contains(rank)) {
        answer_error(callback, callback_data, PMIX_ERR_BAD_PARAM);
        return;
    }
    group->second.waiters[rank] = {callback, callback_data};
    if (std::ranges::any_of(ranks, [this](int member) { return _ended.contains(member); })) {
        complete(group, PMIX_ERR_PROC_ABORTED);
    } else if (group->second.waiters.size() == ranks.size()) {
        complete(group, PMIX_SUCCESS);
    }
}

void GroupService::ended(int rank) {
    _ended.insert(rank);
    for (auto group = _forming.begin(); group != _forming.end();) {
        auto next = std::next(group);
        if (group->second.members.contains(rank)) {
            complete(group, PMIX_ERR_PROC_ABORTED);
        }
        group = next;
    }
}

void GroupService::complete(std::map<std::string, Group>::iterator group, pmix_status_t status) {
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
