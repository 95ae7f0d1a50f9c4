// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/server.h"

#include "core/runtime/socket_delay.h"
#include "launch/job_name.h"
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/job_info.h"
#include "launch/pmix/pmix_thread.h"
#include "launch/report.h"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace patchbay::launch {

namespace {

PmixHost* current_host = nullptr;

Error pmix_error(const char* call, pmix_status_t status) {
    return Error{Errc::system, std::string(call) + " failed: " + PMIx_Error_string(status)};
}

void configure_library() {
    scrub_own_environment();
    // The clients use both values because the ranks inherit the variables. hash: a client starts in a tenth of the time
    // that shared-memory storage needs, and no file is left. No other value of the user is used, because the files of
    // shared-memory storage have the namespace in their names, and other users may read these (job_name.h).
    const char* storage = std::getenv("PMIX_MCA_gds");
    if (storage != nullptr && std::string_view(storage).find("hash") == std::string_view::npos && *storage != '^') {
        report(std::string("PMIX_MCA_gds=") + storage +
            " is not used, but hash: other storage of PMIx shows the job's namespace to other users");
    }
    ::setenv("PMIX_MCA_gds", "hash", 1);
    // ^zlib: no message is long enough to be compressed, and every rank would load the library. A value that the user
    // has set has precedence.
    ::setenv("PMIX_MCA_pcompress", "^zlib", 0);
}

pmix_server_module_t make_module() {
    pmix_server_module_t module{};
    add_process_upcalls(module);
    add_collective_upcalls(module);
    add_name_upcalls(module);
    add_query_upcalls(module);
    add_group_upcalls(module);
    add_event_upcalls(module);
    add_tool_upcalls(module);
    add_spawn_upcalls(module);
    return module;
}

} // namespace

PmixHost& pmix_host() {
    return *current_host;
}

void set_pmix_host(PmixHost* host) {
    current_host = host;
}

PmixServer::PmixServer(
    EventLoop& loop, RankEvents& rank_events, std::uint32_t run_number, const std::string& socket_file)
    : _run_number(run_number & 0x7fffffff),
      _host(std::make_unique<PmixHost>(loop, rank_events, _run_number, socket_file)) {}

Result<PmixServer*> PmixServer::start(EventLoop& loop, RankEvents& rank_events, const std::string& hostname,
    std::uint32_t run_number, const std::string& socket_file, const Topology& topology) {
    auto* server =
        new PmixServer(loop, rank_events, run_number, socket_file); // PMIx's thread uses it until the process ends
    configure_library();
    set_pmix_host(server->_host.get());

    // The server writes no file as long as it supports no tools, so it needs no directory and leaves no file; the two
    // keys only prevent it from searching for a directory.
    InfoList infos;
    infos.add_string(PMIX_SERVER_NSPACE, make_namespace());
    infos.add_rank(PMIX_SERVER_RANK, 0);
    infos.add_string(PMIX_SERVER_TMPDIR, "/tmp");
    infos.add_string(PMIX_SYSTEM_TMPDIR, "/tmp");
    infos.add_string(PMIX_HOSTNAME, hostname);
    pmix_topology_t pmix_topology;
    pmix_topology.source = const_cast<char*>("hwloc");
    pmix_topology.topology = topology.handle();
    infos.add_topology(PMIX_TOPOLOGY2, &pmix_topology);

    static pmix_server_module_t module = make_module(); // PMIx keeps the pointer
    pmix_status_t status = PMIx_server_init(&module, infos.data(), infos.size());
    if (status != PMIX_SUCCESS) {
        return pmix_error("PMIx_server_init", status);
    }
    send_without_delay_where_listening();
    return server;
}

Status PmixServer::register_job(JobNumber job, const JobLayout& layout) {
    if (!_host->jobs.add(job, layout.nspace, layout.ranks)) {
        return Error{Errc::out_of_memory, "no further job can be started: jobs of other mpirun have the numbers left"};
    }
    _host->job_exchange.add_own(job, layout);
    Status status = register_at_pmix(layout);
    if (status) {
        define_initial_psets(*_host, layout);
    } else {
        drop_job(job);
    }
    return status;
}

Status PmixServer::register_at_pmix(const JobLayout& layout) const {
    InfoList infos = job_info(layout, _run_number);
    // Without a callback these calls block until they are finished. They may, because this is not PMIx's own thread.
    pmix_status_t status =
        PMIx_server_register_nspace(layout.nspace.c_str(), layout.ranks, infos.data(), infos.size(), nullptr, nullptr);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        return pmix_error("PMIx_server_register_nspace", status);
    }
    for (int rank = 0; rank < layout.ranks; ++rank) {
        pmix_proc_t proc = make_proc(layout.nspace, static_cast<pmix_rank_t>(rank));
        status = PMIx_server_register_client(&proc, ::geteuid(), ::getegid(), nullptr, nullptr, nullptr);
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
            return pmix_error("PMIx_server_register_client", status);
        }
    }
    return {};
}

void PmixServer::drop_job(JobNumber job) {
    const std::string nspace = _host->jobs.name_of({job, 0}).nspace;
    _host->jobs.remove(job);
    _host->names.forget(nspace);
    _host->job_exchange.drop_own(job);
    _host->job_ended(job);
    on_pmix_thread([host = _host.get(), nspace] { host->psets.forget_job(nspace); });
    PMIx_server_deregister_nspace(
        nspace.c_str(), [](pmix_status_t, void*) {}, nullptr);
}

Status PmixServer::add_to_environment(ProcessId rank, Environment& environment) {
    pmix_proc_t proc = _host->jobs.name_of(rank);
    char** entries = nullptr;
    pmix_status_t status = PMIx_server_setup_fork(&proc, &entries);
    environment.take(entries);
    for (const char* name : {"PMIX_MCA_gds", "PMIX_MCA_pcompress"}) {
        environment.set(name, std::getenv(name));
    }
    return status == PMIX_SUCCESS ? Status() : pmix_error("PMIx_server_setup_fork", status);
}

void PmixServer::rank_ended(ProcessId rank, RankEnd end) {
    _host->job_exchange.own_rank_ended(rank, end);
    _host->rank_ended(rank, end);
}

} // namespace patchbay::launch
