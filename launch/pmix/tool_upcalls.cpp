// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"

namespace patchbay::launch {

namespace {

// No tool may attach. Without this upcall the server of PMIx 4.2.2 would accept every process that connects as a tool
// under a name of its own: of any user, without any secret. It could then query the process sets, whose members have
// the job's namespace, and with the namespace connect as a rank.
void refuse_tool(pmix_info_t*, std::size_t, pmix_tool_connection_cbfunc_t callback, void* data) {
    pmix_proc_t nobody = make_proc("", PMIX_RANK_UNDEF); // the callback reads it even when the status is an error
    callback(PMIX_ERR_NO_PERMISSIONS, &nobody, data);
}

} // namespace

void add_tool_upcalls(pmix_server_module_t& module) {
    module.tool_connected = refuse_tool;
}

} // namespace patchbay::launch
