// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/pset_definition.h"
#include "core/runtime/pset_protocol.h"
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <algorithm>
#include <string_view>

namespace patchbay::launch {

namespace {

// Notifies the processes that have registered for the event. Blocks until PMIx's thread has sent the notification, so
// it is called only in the event loop's thread.
void announce(const std::string& name, const std::vector<pmix_proc_t>& members) {
    // PMIx copies both arguments. In 4.2.2 the return value is no status but an uninitialized variable (7 was seen).
    (void)PMIx_server_define_process_set(members.data(), members.size(), name.c_str());
}

bool are_ranks(const PmixHost& host, const std::vector<pmix_proc_t>& members) {
    return !members.empty() &&
        std::ranges::all_of(members, [&host](const pmix_proc_t& member) { return host.jobs.find(member).has_value(); });
}

void define(PmixHost& host, const std::string& name, const std::vector<pmix_proc_t>& members,
    pmix_info_cbfunc_t callback, void* data) {
    if (!check_pset_name(name) || !are_ranks(host, members)) {
        answer_error(callback, data, PMIX_ERR_BAD_PARAM);
        return;
    }
    const PsetTable::Entry* before = host.psets.find({}, name);
    const std::size_t old_version = before == nullptr ? 0 : before->version;
    const std::size_t version = host.psets.define(name, members);
    // The process that defines the set gets its answer when the others have been notified.
    host.loop.post(
        [name, ordered = host.psets.find({}, name)->members, is_new = version != old_version, version, callback, data] {
            if (is_new) {
                announce(name, ordered);
            }
            InfoList results;
            results.add_size(pset_version_key, version);
            answer(callback, data, std::move(results));
        });
}

std::vector<pmix_proc_t> members_of(const std::string& job, const JobLayout::Pset& pset) {
    std::vector<pmix_proc_t> members;
    for (const int rank : pset.ranks) {
        members.push_back(make_proc(job, static_cast<pmix_rank_t>(rank)));
    }
    return members;
}

// Other jobs do not learn of the sets of a job that was spawned, and its own ranks get them by queries.
void define_psets_of_spawned_job(PmixHost& host, const JobLayout& layout) {
    on_pmix_thread([&host, job = layout.nspace, psets = layout.psets] {
        for (const JobLayout::Pset& pset : psets) {
            host.psets.define_for(job, pset.name, members_of(job, pset), pset.is_listed);
        }
    });
}

} // namespace

// libpmix keeps the events for processes that register later; there may be too many sets that are not listed for that.
void define_initial_psets(PmixHost& host, const JobLayout& layout) {
    if (layout.parent) {
        define_psets_of_spawned_job(host, layout);
        return;
    }
    for (const JobLayout::Pset& pset : layout.psets) {
        const std::vector<pmix_proc_t> members = members_of(layout.nspace, pset);
        on_pmix_thread([&host, name = pset.name, members, is_listed = pset.is_listed] {
            host.psets.define(name, members, is_listed);
        });
        if (pset.is_listed) {
            announce(pset.name, members);
        }
    }
}

std::optional<pmix_status_t> pset_request(
    const pmix_info_t* directives, std::size_t count, pmix_info_cbfunc_t callback, void* data) {
    std::string name;
    std::vector<pmix_proc_t> members;
    for (std::size_t i = 0; i < count; ++i) {
        const pmix_value_t& value = directives[i].value;
        if (std::string_view(directives[i].key) == pset_define_key) {
            name = text_of(value);
        } else if (std::string_view(directives[i].key) == pset_members_key) {
            members = procs_in(value);
        }
    }
    if (name.empty()) {
        return std::nullopt;
    }
    define(pmix_host(), name, members, callback, data);
    return PMIX_SUCCESS;
}

} // namespace patchbay::launch
