// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/job_protocol.h"
#include "core/runtime/ready_protocol.h"
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <string_view>

namespace patchbay::launch {

namespace {

struct GroupDirectives {
    bool wants_context_id = false;
    std::string endpoint_data;
};

GroupDirectives read_directives(const pmix_info_t* directives, std::size_t count) {
    GroupDirectives read;
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&directives[i], PMIX_GROUP_ASSIGN_CONTEXT_ID)) {
            read.wants_context_id = PMIX_INFO_TRUE(&directives[i]);
        } else if (PMIX_CHECK_KEY(&directives[i], PMIX_GROUP_ENDPT_DATA) &&
            directives[i].value.type == PMIX_BYTE_OBJECT) {
            const pmix_byte_object_t& bytes = directives[i].value.data.bo;
            read.endpoint_data.assign(bytes.bytes, bytes.bytes == nullptr ? 0 : bytes.size);
        }
    }
    return read;
}

// Called when all members have called, because all of them are local.
pmix_status_t group(pmix_group_operation_t operation, char*, const pmix_proc_t*, std::size_t,
    const pmix_info_t* directives, std::size_t count, pmix_info_cbfunc_t callback, void* data) {
    if (operation != PMIX_GROUP_CONSTRUCT) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    const GroupDirectives read = read_directives(directives, count);
    InfoList results;
    if (read.wants_context_id) {
        results.add_size(PMIX_GROUP_CONTEXT_ID, pmix_host().groups.next_context_id());
    }
    if (!read.endpoint_data.empty()) {
        results.add_bytes(PMIX_GROUP_ENDPT_DATA, read.endpoint_data);
    }
    answer(callback, data, std::move(results));
    return PMIX_SUCCESS;
}

// Looks for a job of another run.
std::optional<pmix_status_t> job_request(
    const pmix_info_t* directives, std::size_t count, pmix_info_cbfunc_t callback, void* data) {
    const char* nspace = find_text(directives, count, job_find_key);
    if (nspace == nullptr) {
        return std::nullopt;
    }
    PmixHost& host = pmix_host();
    host.loop.post([&host, nspace = std::string(nspace), callback, data] {
        host.job_exchange.find(nspace, [callback, data](bool known) {
            if (!known) {
                answer_error(callback, data, PMIX_ERR_NOT_FOUND);
                return;
            }
            InfoList results;
            results.add_flag(job_found_key);
            answer(callback, data, std::move(results));
        });
    });
    return PMIX_SUCCESS;
}

// Carries the requests of group_service.h, and of dynamic_protocol.h, job_protocol.h, pset_protocol.h and
// ready_protocol.h in core/runtime.
pmix_status_t job_control(const pmix_proc_t* requestor, const pmix_proc_t*, std::size_t, const pmix_info_t* directives,
    std::size_t count, pmix_info_cbfunc_t callback, void* data) {
    if (std::optional<pmix_status_t> status = pset_request(directives, count, callback, data)) {
        return *status;
    }
    if (std::optional<pmix_status_t> status = port_request(*requestor, directives, count, callback, data)) {
        return *status;
    }
    if (std::optional<pmix_status_t> status = job_request(directives, count, callback, data)) {
        return *status;
    }
    PmixHost& host = pmix_host();
    std::string name;
    std::vector<pmix_proc_t> members;
    for (std::size_t i = 0; i < count; ++i) {
        const pmix_value_t& value = directives[i].value;
        if (std::string_view(directives[i].key) == ready_key) {
            const std::optional<ProcessId> rank = host.jobs.find(*requestor);
            if (!rank) {
                return PMIX_ERR_NOT_FOUND;
            }
            host.loop.post([&host, rank = *rank] { host.rank_events.ready(rank); });
            return PMIX_OPERATION_SUCCEEDED;
        }
        if (std::string_view(directives[i].key) == group_key) {
            name = text_of(value);
        } else if (std::string_view(directives[i].key) == group_members_key) {
            members = procs_in(value);
        }
    }
    if (name.empty() || members.empty()) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    host.group_exchange.join(*requestor, name, members, [callback, data](pmix_status_t status, std::uint64_t id) {
        if (status != PMIX_SUCCESS) {
            answer_error(callback, data, status);
            return;
        }
        InfoList results;
        results.add_size(PMIX_GROUP_CONTEXT_ID, id);
        answer(callback, data, std::move(results));
    });
    return PMIX_SUCCESS;
}

} // namespace

void add_group_upcalls(pmix_server_module_t& module) {
    module.group = group;
    module.job_control = job_control;
}

} // namespace patchbay::launch
