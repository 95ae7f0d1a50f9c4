// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"

namespace patchbay::launch {

namespace {

// No tool may attach. Without this upcall the server of PMIx 4.2.2 would accept every process that connects as a tool
// under a name of its own: of any user, without any secret. It could then query the process sets, whose members have
// the job's namespace, and with the namespace connect as a rank.
//
// The callback is not called: with an error the server of 4.2.2 crashes (it takes the name of the tool out of a list in
// which it is not). A process that gets no answer stays outside; its connection remains open until the job ends.
void leave_outside(pmix_info_t*, std::size_t, pmix_tool_connection_cbfunc_t, void*) {}

} // namespace

void add_tool_upcalls(pmix_server_module_t& module) {
    module.tool_connected = leave_outside;
}

} // namespace patchbay::launch
