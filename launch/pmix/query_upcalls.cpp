// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/strings.h"
#include "core/runtime/pset_protocol.h"
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <string_view>

namespace patchbay::launch {

namespace {

pmix_status_t answer_key(const PmixHost& host, const pmix_query_t& query, const char* key, InfoList& results) {
    const std::string job = text_in(query.qualifiers, query.nqual, pset_job_key);
    if (std::string_view(key) == PMIX_QUERY_NUM_PSETS) {
        results.add_size(key, host.psets.names(job).size());
    } else if (std::string_view(key) == PMIX_QUERY_PSET_NAMES) {
        results.add_string(key, join(host.psets.names(job), ","));
    } else if (std::string_view(key) == PMIX_QUERY_PSET_MEMBERSHIP) {
        const PsetTable::Entry* pset = host.psets.find(job, text_in(query.qualifiers, query.nqual, PMIX_PSET_NAME));
        if (pset == nullptr) {
            return PMIX_ERR_NOT_FOUND;
        }
        results.add_procs(key, pset->members);
        results.add_size(pset_version_key, pset->version);
        if (pset->is_jobs_own) {
            results.add_flag(pset_own_key);
        }
    } else {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

// The process that PMIx passes is the server, not the one that sent the query (4.2.2), so that our ranks give their
// job.
pmix_status_t query(pmix_proc_t*, pmix_query_t* queries, std::size_t count, pmix_info_cbfunc_t callback, void* data) {
    const PmixHost& host = pmix_host();
    InfoList results;
    for (std::size_t i = 0; i < count; ++i) {
        for (char** key = queries[i].keys; key != nullptr && *key != nullptr; ++key) {
            pmix_status_t status = answer_key(host, queries[i], *key, results);
            if (status != PMIX_SUCCESS) {
                answer_error(callback, data, status);
                return PMIX_SUCCESS;
            }
        }
    }
    answer(callback, data, std::move(results));
    return PMIX_SUCCESS;
}

} // namespace

void add_query_upcalls(pmix_server_module_t& module) {
    module.query = query;
}

} // namespace patchbay::launch
