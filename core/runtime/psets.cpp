// SPDX-License-Identifier: BSD-3-Clause
// Process sets: the launcher keeps them, the PMIx server has nothing of them by itself.
#include "core/base/strings.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/pset_protocol.h"
#include "core/runtime/runtime.h"
#include "core/runtime/runtime_private.h"

#include <cstring>

namespace patchbay {

namespace {

// What PMIx has allocated for a result.
struct Infos {
    pmix_info_t* data = nullptr;
    std::size_t count = 0;

    Infos() = default;
    Infos(const Infos&) = delete;
    Infos& operator=(const Infos&) = delete;
    ~Infos() {
        if (data != nullptr) {
            PMIX_INFO_FREE(data, count);
        }
    }
    const pmix_value_t* find(const char* key) const {
        for (std::size_t i = 0; i < count; ++i) {
            if (PMIX_CHECK_KEY(&data[i], key)) {
                return &data[i].value;
            }
        }
        return nullptr;
    }
};

struct Qualifier {
    const char* key;
    std::string value;
};

pmix_status_t ask(const char* key, const std::vector<Qualifier>& qualifiers, Infos& answer) {
    pmix_query_t* query = nullptr;
    PMIX_QUERY_CREATE(query, 1);
    if (query == nullptr) {
        return PMIX_ERR_NOMEM;
    }
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_ARGV_APPEND(status, query->keys, key);
    if (status == PMIX_SUCCESS) {
        PMIX_QUERY_QUALIFIERS_CREATE(query, qualifiers.size() + 1);
    }
    if (status == PMIX_SUCCESS && query->qualifiers == nullptr) {
        status = PMIX_ERR_NOMEM;
    }
    if (status == PMIX_SUCCESS) {
        // Libpmix would return an earlier value from its cache.
        PMIX_INFO_LOAD(&query->qualifiers[0], PMIX_QUERY_REFRESH_CACHE, nullptr, PMIX_BOOL);
        for (std::size_t i = 0; i < qualifiers.size(); ++i) {
            const Qualifier& qualifier = qualifiers[i];
            PMIX_INFO_LOAD(&query->qualifiers[i + 1], qualifier.key, qualifier.value.c_str(), PMIX_STRING);
        }
        status = PMIx_Query_info(query, 1, &answer.data, &answer.count);
    }
    PMIX_QUERY_FREE(query, 1);
    return status;
}

// Other launchers need not know the key.
std::vector<Qualifier> qualifiers_of(const Runtime& runtime) {
    return runtime.own_launcher() ? std::vector<Qualifier>{{pset_job_key, runtime.nspace()}} : std::vector<Qualifier>{};
}

std::vector<ProcessName> names_in(const pmix_data_array_t& array) {
    const auto* processes = static_cast<const pmix_proc_t*>(array.array);
    std::vector<ProcessName> names;
    for (std::size_t i = 0; i < array.size; ++i) {
        names.push_back({processes[i].nspace, processes[i].rank});
    }
    return names;
}

const pmix_data_array_t* processes_in(const pmix_value_t* value) {
    const bool fits = value != nullptr && value->type == PMIX_DATA_ARRAY && value->data.darray != nullptr &&
        value->data.darray->type == PMIX_PROC;
    return fits ? value->data.darray : nullptr;
}

// Slurm's server supports no query and returns UNREACH, Open MPI's returns NOT_FOUND.
bool means_unsupported(pmix_status_t status) {
    return status == PMIX_ERR_NOT_SUPPORTED || status == PMIX_ERR_UNREACH || status == PMIX_ERR_NOT_FOUND;
}

Error names_none() {
    return {Errc::unsupported, "this launcher names no process sets"};
}

Error nobody_to_ask() {
    return {Errc::unsupported, "no launcher names process sets for a process that runs alone"};
}

using Handler = std::function<void(const std::string&, const std::vector<ProcessName>*)>;

void on_event(std::size_t, pmix_status_t code, const pmix_proc_t*, pmix_info_t* info, std::size_t count, pmix_info_t*,
    std::size_t, pmix_event_notification_cbfunc_fn_t done, void* done_context) {
    const Handler* handler = nullptr;
    const char* name = nullptr;
    const pmix_data_array_t* members = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_RETURN_OBJECT)) {
            handler = static_cast<const Handler*>(info[i].value.data.ptr);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_PSET_NAME) && info[i].value.type == PMIX_STRING) {
            name = info[i].value.data.string;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_PSET_MEMBERS)) {
            members = processes_in(&info[i].value);
        }
    }
    if (handler != nullptr && name != nullptr) {
        if (code == PMIX_PROCESS_SET_DELETE) {
            (*handler)(name, nullptr);
        } else if (members != nullptr) {
            const std::vector<ProcessName> names = names_in(*members);
            (*handler)(name, &names);
        }
    }
    if (done != nullptr) {
        done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_context);
    }
}

} // namespace

Result<std::vector<std::string>> Runtime::pset_names() const {
    if (_singleton) {
        return nobody_to_ask();
    }
    Infos answer;
    const pmix_status_t status = ask(PMIX_QUERY_PSET_NAMES, qualifiers_of(*this), answer);
    const pmix_value_t* names = status == PMIX_SUCCESS ? answer.find(PMIX_QUERY_PSET_NAMES) : nullptr;
    if (names != nullptr && names->type == PMIX_STRING) {
        return names->data.string == nullptr ? std::vector<std::string>() : split(names->data.string, ',');
    }
    // Patchbay's server always replies; when it does not, it has ended.
    if (!_own_launcher && (status == PMIX_SUCCESS || means_unsupported(status))) {
        return names_none();
    }
    return Error{Errc::system, "asking the launcher for its process sets: " + text_of(status)};
}

Result<ProcessSet> Runtime::pset(std::string_view name) const {
    if (_singleton) {
        return nobody_to_ask();
    }
    ProcessSet set;
    set.name = name;
    Infos answer;
    std::vector<Qualifier> qualifiers = qualifiers_of(*this);
    qualifiers.push_back({PMIX_PSET_NAME, set.name});
    const pmix_status_t status = ask(PMIX_QUERY_PSET_MEMBERSHIP, qualifiers, answer);
    if (status == PMIX_SUCCESS) {
        if (const auto* members = processes_in(answer.find(PMIX_QUERY_PSET_MEMBERSHIP))) {
            const pmix_value_t* version = answer.find(pset_version_key);
            set.version = version == nullptr ? 1 : number_in(*version).value_or(1);
            set.members = names_in(*members);
            set.is_jobs_own = answer.find(pset_own_key) != nullptr;
            return set;
        }
        return names_none();
    }
    if (status == PMIX_ERR_NOT_FOUND) {
        return Error{Errc::not_found, "the launcher has no process set '" + set.name + "'"};
    }
    if (!_own_launcher && means_unsupported(status)) {
        return names_none();
    }
    return Error{Errc::system, "asking the launcher for the process set '" + set.name + "': " + text_of(status)};
}

Result<std::uint64_t> Runtime::define_pset(std::string_view name, std::span<const ProcessId> members) {
    if (!_own_launcher) {
        return Error{Errc::unsupported, "only Patchbay's mpirun defines process sets for its ranks"};
    }
    const auto processes = processes_of(*_jobs, members);
    if (!processes) {
        return no_such_process("defining a process set");
    }
    pmix_info_t directives[2]{};
    PMIX_INFO_LOAD(&directives[0], pset_define_key, std::string(name).c_str(), PMIX_STRING);
    PMIX_INFO_CONSTRUCT(&directives[1]);
    PMIX_LOAD_KEY(directives[1].key, pset_members_key);
    directives[1].value.type = PMIX_DATA_ARRAY;
    directives[1].value.data.darray = array_of(*processes);
    Infos answer;
    const pmix_status_t status = PMIx_Job_control(nullptr, 0, directives, 2, &answer.data, &answer.count);
    PMIX_INFO_DESTRUCT(&directives[0]);
    PMIX_INFO_DESTRUCT(&directives[1]);
    const pmix_value_t* version = status == PMIX_SUCCESS ? answer.find(pset_version_key) : nullptr;
    if (version != nullptr) {
        return number_in(*version).value_or(1);
    }
    const Errc code = status == PMIX_ERR_BAD_PARAM ? Errc::invalid : Errc::system;
    return Error{code, "defining the process set '" + std::string(name) + "': " + text_of(status)};
}

Status Runtime::on_pset_change(Handler changed) {
    if (_singleton) {
        return nobody_to_ask();
    }
    if (_private->reports_psets) {
        return Error{Errc::invalid, "process sets are reported to one handler, which is there already"};
    }
    _private->pset_changed = std::move(changed);
    pmix_status_t codes[] = {PMIX_PROCESS_SET_DEFINE, PMIX_PROCESS_SET_DELETE};
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_EVENT_RETURN_OBJECT, &_private->pset_changed, PMIX_POINTER);
    // Without a callback the call blocks and returns the handler's number, or a negative status.
    const pmix_status_t number =
        PMIx_Register_event_handler(codes, std::size(codes), &info, 1, on_event, nullptr, nullptr);
    PMIX_INFO_DESTRUCT(&info);
    if (number < 0) {
        _private->pset_changed = nullptr;
        return Error{Errc::unsupported, "this launcher reports no new process sets: " + text_of(number)};
    }
    _private->pset_handler = std::size_t(number);
    _private->reports_psets = true;
    return {};
}

void Runtime::stop_pset_reports() noexcept {
    if (_private->reports_psets) {
        PMIx_Deregister_event_handler(_private->pset_handler, nullptr, nullptr);
        _private->pset_changed = nullptr; // its code may be a component's, which is unmapped before we go
        _private->reports_psets = false;
    }
}

} // namespace patchbay
