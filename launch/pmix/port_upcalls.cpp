// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/dynamic_protocol.h"
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <string_view>

namespace patchbay::launch {

namespace {

struct PortRequest {
    std::string_view kind; // one of the keys in dynamic_protocol.h; empty: it is another request
    std::string name;
    std::chrono::milliseconds limit{0};
};

PortRequest read(const pmix_info_t* directives, std::size_t count) {
    PortRequest request;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view key = directives[i].key;
        const pmix_value_t& value = directives[i].value;
        if (key == port_limit_key && value.type == PMIX_UINT64) {
            request.limit = std::chrono::milliseconds(value.data.uint64);
        } else if (value.type == PMIX_STRING) {
            for (const std::string_view kind : {port_open_key, port_close_key, port_accept_key, port_connect_key}) {
                if (key == kind) {
                    request.kind = kind;
                    request.name = value.data.string;
                }
            }
        }
    }
    return request;
}

void answer_change(pmix_info_cbfunc_t callback, void* data, pmix_status_t status) {
    if (status != PMIX_SUCCESS) {
        answer_error(callback, data, status);
        return;
    }
    InfoList results;
    results.add_flag(port_done_key);
    answer(callback, data, std::move(results));
}

} // namespace

std::optional<pmix_status_t> port_request(const pmix_proc_t& requestor, const pmix_info_t* directives,
    std::size_t count, pmix_info_cbfunc_t callback, void* data) {
    PortRequest request = read(directives, count);
    if (request.kind.empty()) {
        return std::nullopt;
    }
    PmixHost& host = pmix_host();
    const std::optional<ProcessId> process = host.jobs.find(requestor);
    if (!process) {
        return PMIX_ERR_NOT_FOUND;
    }
    host.loop.post([&host, process = *process, request = std::move(request), callback, data] {
        if (request.kind == port_open_key) {
            answer_change(callback, data, host.ports.open(process, request.name));
        } else if (request.kind == port_close_key) {
            answer_change(callback, data, host.ports.close(request.name));
        } else {
            const auto side = request.kind == port_accept_key ? PortService::Side::accept : PortService::Side::connect;
            host.ports.wait(side, request.name, {process, request.limit, callback, data});
        }
    });
    return PMIX_SUCCESS;
}

} // namespace patchbay::launch
