// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"

namespace patchbay::launch {

namespace {

// The server itself notifies the clients on its own node, and there is no other node.

pmix_status_t register_events(pmix_status_t*, std::size_t, const pmix_info_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t deregister_events(pmix_status_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t notify_event(
    pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

} // namespace

void add_event_upcalls(pmix_server_module_t& module) {
    module.register_events = register_events;
    module.deregister_events = deregister_events;
    module.notify_event = notify_event;
}

} // namespace patchbay::launch
