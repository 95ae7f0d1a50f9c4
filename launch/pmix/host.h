// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/pmix/group_service.h"
#include "launch/pmix/name_service.h"
#include "launch/pmix/pset_table.h"

#include <pmix.h>
#include <pmix_server.h>
#include <string>

namespace patchbay::launch {

// What stands behind PMIx's upcalls. All of it is used in the loop's thread only: an upcall runs on PMIx's own thread,
// copies what does not survive its return, posts a closure to the loop and returns.
struct PmixHost {
    PmixHost(EventLoop& loop, RankEvents& rank_events, const JobLayout& layout)
        : loop(loop),
          rank_events(rank_events),
          nspace(layout.nspace),
          names(loop),
          groups(layout.nspace, layout.ranks) {}

    bool knows(const pmix_proc_t& proc) const { return PMIX_CHECK_NSPACE(proc.nspace, nspace.c_str()); }

    EventLoop& loop;
    RankEvents& rank_events;
    std::string nspace;
    NameService names;
    GroupService groups;
    PsetTable psets;
};

// The host of this process' PMIx server. PMIx has one server per process and hands its upcalls no pointer of ours, so
// this is the one thing that must be found by itself. Set before PMIx_server_init.
PmixHost& pmix_host();
void set_pmix_host(PmixHost* host);

// Each fills in the upcalls of one subject.
void add_process_upcalls(pmix_server_module_t& module);
void add_collective_upcalls(pmix_server_module_t& module);
void add_name_upcalls(pmix_server_module_t& module);
void add_query_upcalls(pmix_server_module_t& module);
void add_group_upcalls(pmix_server_module_t& module);
void add_event_upcalls(pmix_server_module_t& module);

} // namespace patchbay::launch
