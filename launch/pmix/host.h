// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/job_layout.h"
#include "launch/pmix/group_exchange.h"
#include "launch/pmix/group_service.h"
#include "launch/pmix/job_directory.h"
#include "launch/pmix/job_exchange.h"
#include "launch/pmix/name_service.h"
#include "launch/pmix/port_exchange.h"
#include "launch/pmix/port_service.h"
#include "launch/pmix/pset_table.h"
#include "launch/pmix/rank_events.h"
#include "launch/run_links.h"
#include "launch/user_listener.h"

#include <cstdint>
#include <map>
#include <optional>
#include <pmix.h>
#include <pmix_server.h>
#include <set>
#include <string>
#include <vector>

namespace patchbay::launch {

// The state behind PMIx's upcalls, which run on PMIx's own thread. Each part has an owning thread. PMIx's thread owns
// groups and process sets, so that such a request is handled within its upcall. The event loop's thread owns what needs
// timers or concerns the ranks: then the upcall copies what does not survive its return and posts a closure. In both
// cases pmix_thread.h sends the answer.
struct PmixHost {
    // `run_number`: core/runtime/job_protocol.h; it also begins the identifiers of groups and the numbers of pairs.
    // `socket_file`: user_socket.h.
    PmixHost(EventLoop& loop, RankEvents& rank_events, std::uint32_t run_number, std::string socket_file);
    PmixHost(const PmixHost&) = delete;
    PmixHost& operator=(const PmixHost&) = delete;

    // The following are called in the event loop's thread. A process has begun MPI.
    void connected(ProcessId rank);
    // A process of this run or another one has ended: the services learn of it, and where it has failed, all ranks that
    // have registered for such events get an event. After a failure in its job, or in another one of which a process
    // has begun MPI, they get an event also if it has ended in good order, before or afterwards: it has not waited for
    // the others in MPI_Finalize, so that they may wait for it. A process that ends in good order and has not begun
    // MPI, as others of its job have or will, has failed for them.
    void rank_ended(ProcessId rank, RankEnd end);
    // No rank of the job is left.
    void job_ended(JobNumber job);

    EventLoop& loop;
    RankEvents& rank_events;
    JobDirectory jobs;
    UserListener listener;
    RunLinks links;
    NameService names;
    PortService ports;
    GroupService groups;
    PsetTable psets;
    JobExchange job_exchange;
    PortExchange port_exchange;
    GroupExchange group_exchange;

private:
    void received(const std::string& run, const RunMessage& message);
    void take_end(ProcessId rank, RankEnd end);
    void report_end(ProcessId rank, RankEnd end);

    // Whether the processes of the job may wait for one that has ended after a failure.
    bool concerns_failure(JobNumber job) const;

    std::map<JobNumber, std::set<std::uint32_t>> _in_mpi; // the ranks that have begun MPI
    // The processes that have ended in good order before any of their job has begun MPI.
    std::map<JobNumber, std::vector<ProcessId>> _silent_ends;
    std::set<JobNumber> _failed;                             // jobs of which a process has failed
    std::map<JobNumber, std::vector<ProcessId>> _clean_ends; // that have not been reported, of the jobs that go on
};

// The host of the PMIx server of this process. PMIx has one server per process and passes no user pointer to its
// upcalls, so this is a global variable. It is set before PMIx_server_init.
PmixHost& pmix_host();
void set_pmix_host(PmixHost* host);

// Each of these sets the upcalls of one subject.
void add_process_upcalls(pmix_server_module_t& module);
void add_collective_upcalls(pmix_server_module_t& module);
void add_name_upcalls(pmix_server_module_t& module);
void add_query_upcalls(pmix_server_module_t& module);
void add_group_upcalls(pmix_server_module_t& module);
void add_event_upcalls(pmix_server_module_t& module);
void add_tool_upcalls(pmix_server_module_t& module);
void add_spawn_upcalls(pmix_server_module_t& module);

// Defines the process sets of the layout, before any rank of the job is started.
void define_initial_psets(PmixHost& host, const JobLayout& layout);
// Handles a job control request that defines a process set; does nothing with other requests.
std::optional<pmix_status_t> pset_request(
    const pmix_info_t* directives, std::size_t count, pmix_info_cbfunc_t callback, void* data);
// The same for the requests on ports.
std::optional<pmix_status_t> port_request(const pmix_proc_t& requestor, const pmix_info_t* directives,
    std::size_t count, pmix_info_cbfunc_t callback, void* data);

} // namespace patchbay::launch
