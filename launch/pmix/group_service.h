// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/group_protocol.h"
#include "core/runtime/process_id.h"
#include "launch/pmix/job_directory.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <pmix.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::launch {

// Groups of processes that get an identifier which no other group of any job has (a PGCID).
//
// PMIx_Group_construct of PMIx 4.2.2 makes the surviving members wait for ever if a member fails; its server calls its
// host only when all members have called, so that the host cannot help. Here the request of each member arrives at
// once: if a member has failed, or fails while others wait, all of them get PMIX_ERR_PROC_ABORTED. Called on PMIx's
// thread only.
class GroupService {
public:
    // The upper 31 bits of the identifiers are those of `prefix`, which the head has given to this server only, so that
    // the identifiers of all servers differ. The highest bit of all is clear: identifiers that processes choose by
    // themselves have it set.
    GroupService(const JobDirectory& jobs, std::uint32_t prefix)
        : _jobs(jobs),
          _next_context_id(std::uint64_t(prefix & 0x7fffffff) << 32 | 1) {}

    // The identifier of a group that PMIx itself has constructed.
    std::size_t next_context_id() { return _next_context_id++; }

    // The request of one member, which may be of another run (group_exchange.h); it is answered with the identifier
    // when all members have sent theirs.
    // Groups of different jobs may have the same name at one time. PMIX_ERR_BAD_PARAM: a process is in no job, or the
    // members differ from those in the requests of others.
    using Answer = std::function<void(pmix_status_t status, std::uint64_t id)>;
    void join(const pmix_proc_t& requestor, const std::string& name, const std::vector<pmix_proc_t>& members,
        const Answer& answer);

    // The process has ended, as the directory already tells: the groups that wait for it fail.
    void ended(ProcessId rank);

private:
    struct Group {
        std::set<ProcessId> members;
        std::map<ProcessId, Answer> waiters;
    };
    // A name belongs to the first of the jobs that have members of the group.
    using Groups = std::map<std::pair<JobNumber, std::string>, Group>;

    void complete(Groups::iterator group, pmix_status_t status);

    const JobDirectory& _jobs;
    std::uint64_t _next_context_id;
    Groups _forming;
};

} // namespace patchbay::launch
