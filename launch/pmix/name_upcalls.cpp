// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"
#include "launch/pmix/pmix_thread.h"

namespace patchbay::launch {

namespace {

std::vector<std::string> copy_keys(char** keys) {
    std::vector<std::string> copy;
    for (char** key = keys; key != nullptr && *key != nullptr; ++key) {
        copy.emplace_back(*key);
    }
    return copy;
}

// PMIx keeps the infos valid until the callback.
pmix_status_t publish(
    const pmix_proc_t* proc, const pmix_info_t* infos, std::size_t count, pmix_op_cbfunc_t callback, void* data) {
    PmixHost& host = pmix_host();
    host.loop.post([&host, owner = *proc, infos, count, callback, data] {
        host.names.publish(
            owner, infos, count, [callback, data](pmix_status_t status) { answer_operation(callback, data, status); });
    });
    return PMIX_SUCCESS;
}

pmix_status_t lookup(const pmix_proc_t*, char** keys, const pmix_info_t* infos, std::size_t count,
    pmix_lookup_cbfunc_t callback, void* data) {
    NameService::Lookup request;
    request.keys = copy_keys(keys);
    request.callback = callback;
    request.callback_data = data;
    request.everywhere = NameService::is_everywhere(infos, count);
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&infos[i], PMIX_WAIT)) {
            request.wait = true; // the request waits for all keys; a lower count in the value is not supported
        } else if (PMIX_CHECK_KEY(&infos[i], PMIX_TIMEOUT) && infos[i].value.type == PMIX_INT) {
            request.timeout_seconds = infos[i].value.data.integer;
        }
    }
    PmixHost& host = pmix_host();
    host.loop.post([&host, request] { host.names.lookup(request); });
    return PMIX_SUCCESS;
}

pmix_status_t unpublish(
    const pmix_proc_t* proc, char** keys, const pmix_info_t*, std::size_t, pmix_op_cbfunc_t callback, void* data) {
    PmixHost& host = pmix_host();
    host.loop.post([&host, owner = *proc, names = copy_keys(keys), callback, data] {
        answer_operation(callback, data, host.names.unpublish(owner, names));
    });
    return PMIX_SUCCESS;
}

} // namespace

void add_name_upcalls(pmix_server_module_t& module) {
    module.publish = publish;
    module.lookup = lookup;
    module.unpublish = unpublish;
}

} // namespace patchbay::launch
