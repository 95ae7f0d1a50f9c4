// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"

#include <cstdlib>

namespace patchbay::launch {

namespace {

// The server completes a fence of local processes by itself. It calls its host only if some of them have exited: then
// no more data will arrive, and the upcall returns `data` unchanged. The upcall owns `data` and frees it.
pmix_status_t fence(const pmix_proc_t*, std::size_t, const pmix_info_t*, std::size_t, char* data, std::size_t size,
    pmix_modex_cbfunc_t callback, void* callback_data) {
    pmix_host().loop.post([data, size, callback, callback_data] {
        callback(
            PMIX_SUCCESS, data, size, callback_data, [](void* memory) { std::free(memory); }, data);
    });
    return PMIX_SUCCESS;
}

// Every process of the job is local, so data that the server does not have does not exist.
pmix_status_t direct_modex(
    const pmix_proc_t*, const pmix_info_t*, std::size_t, pmix_modex_cbfunc_t callback, void* callback_data) {
    pmix_host().loop.post(
        [callback, callback_data] { callback(PMIX_ERR_NOT_FOUND, nullptr, 0, callback_data, nullptr, nullptr); });
    return PMIX_SUCCESS;
}

pmix_status_t connect(const pmix_proc_t*, std::size_t, const pmix_info_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

} // namespace

void add_collective_upcalls(pmix_server_module_t& module) {
    module.fence_nb = fence;
    module.direct_modex = direct_modex;
    module.connect = connect;
    module.disconnect = connect;
}

} // namespace patchbay::launch
