// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"

#include "launch/pmix/info_list.h"

#include <cstdlib>
#include <string>

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

// Of local processes the server has all data, so what it does not have does not exist. Those of other runs have servers
// of their own.
pmix_status_t direct_modex(const pmix_proc_t* process, const pmix_info_t* directives, std::size_t count,
    pmix_modex_cbfunc_t callback, void* callback_data) {
    PmixHost& host = pmix_host();
    const auto fetched = [callback, callback_data](pmix_status_t status, const std::string& bytes) {
        if (status != PMIX_SUCCESS) {
            callback(status, nullptr, 0, callback_data, nullptr, nullptr);
            return;
        }
        auto* held = new std::string(bytes);
        callback(
            PMIX_SUCCESS, held->data(), held->size(), callback_data,
            [](void* memory) { delete static_cast<std::string*>(memory); }, held);
    };
    host.loop.post([&host, process = *process, key = text_in(directives, count, PMIX_REQUIRED_KEY), fetched] {
        host.job_exchange.fetch(process, key, fetched);
    });
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
