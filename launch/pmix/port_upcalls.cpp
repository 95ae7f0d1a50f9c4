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
                    request.name = text_of(value);
                }
            }
        }
    }
    return request;
}

void answer_change(pmix_info_cbfunc_t callback, void* data, pmix_status_t status, const std::string& name) {
    if (status != PMIX_SUCCESS) {
        answer_error(callback, data, status);
        return;
    }
    InfoList results;
    results.add_flag(port_done_key);
    if (!name.empty()) {
        results.add_string(port_name_key, name);
    }
    answer(callback, data, std::move(results));
}

// Other runs can reach the port if there can be a socket for them; its name tells them where it is.
void open(PmixHost& host, ProcessId process, const std::string& wanted, pmix_info_cbfunc_t callback, void* data) {
    const std::string name = host.listener.listen() ? host.port_exchange.name_here(wanted) : wanted;
    answer_change(callback, data, host.ports.open(process, name), name);
}

PortService::Answer answer_by(pmix_info_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, const PortService::Pair* pair) {
        if (pair == nullptr) {
            answer_error(callback, data, status);
            return;
        }
        InfoList results;
        results.add_proc(port_peer_key, pair->peer);
        results.add_u64(port_pair_key, pair->number);
        answer(callback, data, std::move(results));
    };
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
            open(host, process, request.name, callback, data);
        } else if (request.kind == port_close_key) {
            answer_change(callback, data, host.ports.close(request.name), "");
        } else if (request.kind == port_accept_key || host.ports.is_open(request.name)) {
            const auto side = request.kind == port_accept_key ? PortService::Side::accept : PortService::Side::connect;
            host.ports.wait(side, request.name, {process, request.limit, answer_by(callback, data)});
        } else {
            host.port_exchange.connect(request.name, {process, request.limit, answer_by(callback, data)});
        }
    });
    return PMIX_SUCCESS;
}

} // namespace patchbay::launch
