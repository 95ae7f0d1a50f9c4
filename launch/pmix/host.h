// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/pmix/group_service.h"
#include "launch/pmix/name_service.h"
#include "launch/pmix/pset_table.h"

#include <optional>
#include <pmix.h>
#include <pmix_server.h>
#include <string>

namespace patchbay::launch {

// What stands behind PMIx's upcalls, which run on PMIx's own thread. Each part says which thread it belongs to: groups
// and process sets to PMIx's, so that a request is served within its upcall; what needs the loop's timers or concerns
// the ranks to the loop's: then the upcall copies what does not survive its return and posts a closure. Either way the
// answer goes by pmix_thread.h.
struct PmixHost {
    PmixHost(EventLoop& loop, RankEvents& rank_events, const JobLayout& layout)
        : loop(loop),
          rank_events(rank_events),
          nspace(layout.nspace),
          ranks(layout.ranks),
          names(loop),
          groups(layout.nspace, layout.ranks) {}

    bool knows(const pmix_proc_t& proc) const { return PMIX_CHECK_NSPACE(proc.nspace, nspace.c_str()); }

    EventLoop& loop;
    RankEvents& rank_events;
    const std::string nspace;
    const int ranks;
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

// Defines the sets that the layout names, before any rank is started.
void define_initial_psets(PmixHost& host, const JobLayout& layout);
// Takes a job control request that defines a set; nothing when it is about something else.
std::optional<pmix_status_t> pset_request(
    const pmix_info_t* directives, std::size_t count, pmix_info_cbfunc_t callback, void* data);

} // namespace patchbay::launch
