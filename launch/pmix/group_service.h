// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/group_protocol.h"

#include <cstddef>
#include <map>
#include <pmix.h>
#include <set>
#include <string>
#include <vector>

namespace patchbay::launch {

// Groups of processes that get an identifier which no other group of the job has (a PGCID).
//
// PMIx_Group_construct of PMIx 4.2.2 makes the surviving members wait for ever if a member dies; its server calls its
// host only when all members have called, so that the host cannot help. Here the request of each member arrives at
// once: if a member has died, or dies while others wait, all of them get PMIX_ERR_PROC_ABORTED. Called on PMIx's thread
// only.
class GroupService {
public:
    // `nspace` and `ranks` describe the job, which contains all processes.
    GroupService(std::string nspace, int ranks)
        : _nspace(std::move(nspace)),
          _ranks(ranks) {}

    // The identifier of a group that PMIx itself has constructed.
    std::size_t next_context_id() { return _next_context_id++; }

    // The request of one member; the callback is called with PMIX_GROUP_CONTEXT_ID when all members have sent theirs.
    // PMIX_ERR_BAD_PARAM: a process is not in the job, or the members differ from those in the requests of others.
    void join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
        pmix_info_cbfunc_t callback, void* callback_data);

    // The process of this rank has ended and will send no request.
    void ended(int rank);

private:
    struct Waiter {
        pmix_info_cbfunc_t callback;
        void* callback_data;
    };
    struct Group {
        std::set<int> members;
        std::map<int, Waiter> waiters; // by rank
    };

    bool ranks_of(const std::vector<pmix_proc_t>& procs, std::set<int>& ranks) const;
    void complete(std::map<std::string, Group>::iterator group, pmix_status_t status);

    std::string _nspace;
    int _ranks;
    std::size_t _next_context_id = 1;
    std::map<std::string, Group> _forming;
    std::set<int> _ended;
};

} // namespace patchbay::launch
