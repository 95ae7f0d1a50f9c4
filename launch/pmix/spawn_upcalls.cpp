// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/strings.h"
#include "core/runtime/dynamic_protocol.h"
#include "launch/environment.h"
#include "launch/pmix/host.h"
#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <algorithm>
#include <string_view>

namespace patchbay::launch {

namespace {

// Variables that would make a rank of the new job one of another launcher are left out.
std::vector<NameValue> environment_of(const pmix_app_t& app) {
    std::vector<NameValue> environment;
    for (char** entry = app.env; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != text.npos && !Environment::belongs_to_a_launcher(text.substr(0, equals))) {
            environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return environment;
}

AppSpec app_spec_of(const pmix_app_t& app) {
    AppSpec spec;
    for (char** word = app.argv; word != nullptr && *word != nullptr; ++word) {
        spec.argv.emplace_back(*word);
    }
    spec.argv.resize(std::max<std::size_t>(spec.argv.size(), 1));
    if (app.cmd != nullptr) {
        spec.argv[0] = app.cmd;
    }
    spec.ranks = app.maxprocs;
    spec.working_directory = app.cwd == nullptr ? "" : app.cwd;
    spec.environment = environment_of(app);
    spec.search_path = text_in(app.info, app.ninfo, spawn_path_key);
    spec.psets = split(text_in(app.info, app.ninfo, spawn_psets_key), ',');
    return spec;
}

// The rank that has called looks the cause up under the key of its call, because PMIx gives it only a number.
void keep_cause(PmixHost& host, const pmix_proc_t& parent, const std::string& key, const std::string& error) {
    InfoList cause;
    cause.add_string((spawn_failure_name + key).c_str(), error);
    host.names.publish(parent, cause.data(), cause.size(), [](pmix_status_t) {});
}

pmix_status_t spawn(const pmix_proc_t* proc, const pmix_info_t* infos, std::size_t info_count, const pmix_app_t apps[],
    std::size_t count, pmix_spawn_cbfunc_t callback, void* data) {
    PmixHost& host = pmix_host();
    const std::optional<ProcessId> parent = host.jobs.find(*proc);
    std::vector<AppSpec> specs;
    for (std::size_t i = 0; i < count; ++i) {
        if (apps[i].maxprocs < 1) {
            return PMIX_ERR_BAD_PARAM;
        }
        specs.push_back(app_spec_of(apps[i]));
    }
    if (!parent || specs.empty()) {
        return PMIX_ERR_BAD_PARAM;
    }
    const std::string key = text_in(infos, info_count, spawn_key);
    const auto answer = [&host, caller = *proc, key, callback, data](
                            const std::string& nspace, const std::string& error) {
        if (nspace.empty() && !key.empty()) {
            keep_cause(host, caller, key, error);
        }
        on_pmix_thread([callback, data, name = nspace]() mutable {
            callback(name.empty() ? PMIX_ERR_JOB_FAILED_TO_LAUNCH : PMIX_SUCCESS, name.data(), data);
        });
    };
    host.loop.post([&host, parent = *parent, specs = std::move(specs), key, answer] {
        host.rank_events.spawn(parent, specs, key, answer);
    });
    return PMIX_SUCCESS;
}

} // namespace

void add_spawn_upcalls(pmix_server_module_t& module) {
    module.spawn = spawn;
}

} // namespace patchbay::launch
