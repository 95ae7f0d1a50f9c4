// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"
#include "launch/pmix/pmix_thread.h"

namespace patchbay::launch {

namespace {

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    PmixHost& host = pmix_host();
    const std::optional<ProcessId> rank = host.jobs.find(*proc);
    if (!rank) {
        return PMIX_ERR_NOT_FOUND;
    }
    host.loop.post([&host, rank = *rank] {
        host.connected(rank);
        host.rank_events.connected(rank);
    });
    return PMIX_OPERATION_SUCCEEDED;
}

// Posted before the client returns from PMIx_Finalize, hence before anything that its end causes.
pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    PmixHost& host = pmix_host();
    const std::optional<ProcessId> rank = host.jobs.find(*proc);
    if (!rank) {
        return PMIX_ERR_NOT_FOUND;
    }
    host.loop.post([&host, rank = *rank] { host.rank_events.finalized(rank); });
    return PMIX_OPERATION_SUCCEEDED;
}

// The whole run ends, whichever processes the call names: a job that has lost some of its ranks is of no use to the
// others.
pmix_status_t abort_job(const pmix_proc_t* proc, void*, int status, const char* message, pmix_proc_t*, std::size_t,
    pmix_op_cbfunc_t callback, void* data) {
    PmixHost& host = pmix_host();
    const std::optional<ProcessId> rank = host.jobs.find(*proc);
    if (!rank) {
        return PMIX_ERR_NOT_FOUND;
    }
    host.loop.post(
        [&host, rank = *rank, status, text = std::string(message == nullptr ? "" : message), callback, data] {
            host.rank_events.aborted(
                rank, status, text, [callback, data] { answer_operation(callback, data, PMIX_SUCCESS); });
        });
    return PMIX_SUCCESS;
}

} // namespace

void add_process_upcalls(pmix_server_module_t& module) {
    module.client_connected2 = client_connected;
    module.client_finalized = client_finalized;
    module.abort = abort_job;
}

} // namespace patchbay::launch
