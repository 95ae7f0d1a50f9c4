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
// PMIx's own PMIx_Group_construct hangs the survivors when a member dies (4.2.2), and its server asks its host only
// once everyone has come, so that the host cannot help. Here each member's request comes to us at once: when a member
// has died, or dies while others wait, all of them get PMIX_ERR_PROC_ABORTED. Only on PMIx's thread.
class GroupService {
public:
    // `nspace` and `ranks`: the job, which is all the processes there are.
    GroupService(std::string nspace, int ranks)
        : _nspace(std::move(nspace)),
          _ranks(ranks) {}

    // The identifier for a group that PMIx itself has put together.
    std::size_t next_context_id() { return _next_context_id++; }

    // One member's request; the callback is answered with PMIX_GROUP_CONTEXT_ID when all members have come.
    // PMIX_ERR_BAD_PARAM: a process that is none of the job's, or members that differ from those that others named.
    void join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
        pmix_info_cbfunc_t callback, void* callback_data);

    // The process of this rank has ended and will join no more.
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
