// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/group_exchange.h"

#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <algorithm>
#include <optional>

namespace patchbay::launch {

void GroupExchange::join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
    const GroupService::Answer& answer) {
    std::optional<std::string> lowest;
    for (const pmix_proc_t& member : members) {
        const std::optional<JobDirectory::Job> job = _jobs.job(member.nspace);
        if (!job) { // all processes of it have ended
            answer(PMIX_ERR_PROC_ABORTED, 0);
            return;
        }
        const std::string& run = job->run.empty() ? _links.own() : job->run;
        if (!lowest || run < *lowest) {
            lowest = run;
        }
    }
    if (!lowest || *lowest == _links.own()) {
        _groups.join(requestor, name, members, answer);
        return;
    }
    GroupRequest request{0, name, {requestor.nspace, requestor.rank}, {}};
    for (const pmix_proc_t& member : members) {
        request.members.push_back({member.nspace, member.rank});
    }
    _loop.post([this, run = *lowest, request = std::move(request), answer] { pass_on(run, request, answer); });
}

void GroupExchange::pass_on(const std::string& run, const GroupRequest& request, const GroupService::Answer& answer) {
    _links.ask(run, request, [answer](const RunMessage* message) {
        const auto* given = message == nullptr ? nullptr : std::get_if<GroupAnswer>(message);
        answer(given == nullptr ? PMIX_ERR_PROC_ABORTED : given->status, given == nullptr ? 0 : given->id);
    });
}

void GroupExchange::take(const std::string& run, const GroupRequest& request) {
    join_when_known(run, request, 0);
}

// Members of a third run may be of jobs with which this run has had nothing to do. The first `known` members are of
// known jobs.
void GroupExchange::join_when_known(const std::string& run, const GroupRequest& request, std::size_t known) {
    while (known < request.members.size() && _jobs.job(request.members[known].nspace)) {
        ++known;
    }
    const auto answer = [this, run, token = request.token](pmix_status_t status, std::uint64_t id) {
        _loop.post([this, run, token, status, id] { _links.send(run, GroupAnswer{token, status, id}); });
    };
    if (known < request.members.size()) {
        _job_exchange.find(request.members[known].nspace, [this, run, request, known, answer](bool found) {
            if (found) {
                join_when_known(run, request, known);
            } else {
                answer(PMIX_ERR_PROC_ABORTED, 0); // its job has ended
            }
        });
        return;
    }
    on_pmix_thread([this, request, answer] {
        std::vector<pmix_proc_t> members;
        for (const RunProcess& member : request.members) {
            members.push_back(make_proc(member.nspace, member.rank));
        }
        _groups.join(make_proc(request.process.nspace, request.process.rank), request.name, members, answer);
    });
}

} // namespace patchbay::launch
