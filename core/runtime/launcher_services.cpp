// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/launcher_services.h"

#include "core/base/out_of_memory.h"
#include "core/base/strings.h"
#include "core/runtime/dynamic_protocol.h"
#include "core/runtime/launch_environment.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime.h"

#include <atomic>
#include <cstring>
#include <functional>

namespace patchbay {

namespace {

char* copy_of(const std::string& text) {
    return ::strdup(text.c_str());
}

void add_info(std::vector<pmix_info_t>& infos, const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t& info = infos.emplace_back();
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, key, value, type);
}

void add_scope(std::vector<pmix_info_t>& infos, LauncherServices::Scope scope) {
    if (scope == LauncherServices::Scope::user) {
        const pmix_data_range_t range = PMIX_RANGE_GLOBAL;
        add_info(infos, PMIX_RANGE, &range, PMIX_DATA_RANGE);
    }
}

// false: out of memory.
bool append(char**& words, const std::string& word) {
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_ARGV_APPEND(status, words, word.c_str());
    return status == PMIX_SUCCESS;
}

// false: out of memory.
bool fill(pmix_app_t& app, const SpawnProgram& program) {
    app.cmd = copy_of(program.command);
    bool fine = app.cmd != nullptr && append(app.argv, program.command);
    for (const std::string& argument : program.arguments) {
        fine = fine && append(app.argv, argument);
    }
    for (const std::string& variable : program.environment) {
        fine = fine && append(app.env, variable);
    }
    app.cwd = copy_of(program.working_directory);
    app.maxprocs = program.processes;
    PMIX_INFO_CREATE(app.info, 2);
    if (!fine || app.cwd == nullptr || app.info == nullptr) {
        return false;
    }
    app.ninfo = 2;
    PMIX_INFO_LOAD(&app.info[0], spawn_path_key, program.search_path.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&app.info[1], spawn_psets_key, join(program.psets, ",").c_str(), PMIX_STRING);
    return true;
}

} // namespace

struct LauncherRequest::State {
    // Constant while PMIx has the request.
    std::string what;
    std::function<void()> wake;
    std::vector<pmix_info_t> infos;
    std::vector<char*> keys; // ends with a null pointer, unless it is empty
    pmix_app_t* programs = nullptr;
    std::size_t program_count = 0;
    std::shared_ptr<State> held; // this object itself, while PMIx has the request

    // Written by a callback before `done`.
    pmix_status_t code = PMIX_SUCCESS;
    std::string text;
    ProcessName peer;
    std::uint64_t pair = 0;
    std::atomic<bool> done{false};

    ~State() {
        for (pmix_info_t& info : infos) {
            PMIX_INFO_DESTRUCT(&info);
        }
        for (char* key : keys) {
            ::free(key);
        }
        if (programs != nullptr) {
            PMIX_APP_FREE(programs, program_count);
        }
    }
    void set_key(const std::string& key) { keys = {copy_of(key), nullptr}; }
};

// Nothing here throws: the caller is PMIx.
struct LauncherCallbacks {
    using State = LauncherRequest::State;

    static void finish(State& state, pmix_status_t status) noexcept {
        const std::shared_ptr<State> held = std::move(state.held);
        state.code = status;
        state.done.store(true, std::memory_order_release);
        if (state.wake) {
            state.wake();
        }
    }
    // Copies a result; the status is that of the request, or PMIX_ERR_NOMEM.
    template <class Copy>
    static pmix_status_t copy(pmix_status_t status, Copy&& copy) noexcept {
        return status != PMIX_SUCCESS ? status : unless_out_of_memory(PMIX_ERR_NOMEM, [&] {
            copy();
            return PMIX_SUCCESS;
        });
    }

    static void spawned(pmix_status_t status, char nspace[], void* context) {
        State& state = *static_cast<State*>(context);
        finish(state, copy(status, [&] { state.text = nspace; }));
    }
    static void finished(pmix_status_t status, void* context) { finish(*static_cast<State*>(context), status); }
    static void looked_up(pmix_status_t status, pmix_pdata_t data[], std::size_t count, void* context) {
        State& state = *static_cast<State*>(context);
        const bool found = status == PMIX_SUCCESS && count == 1 && data[0].value.type == PMIX_STRING;
        if (status == PMIX_SUCCESS && !found) {
            status = PMIX_ERR_NOT_FOUND;
        }
        finish(state, copy(status, [&] { state.text = data[0].value.data.string; }));
    }
    static void answered(pmix_status_t status, pmix_info_t* info, std::size_t count, void* context,
        pmix_release_cbfunc_t release, void* release_context) {
        State& state = *static_cast<State*>(context);
        // Another launcher may answer without a result.
        pmix_status_t result = status == PMIX_SUCCESS ? PMIX_ERR_NOT_SUPPORTED : status;
        for (std::size_t i = 0; status == PMIX_SUCCESS && i < count; ++i) {
            if (PMIX_CHECK_KEY(&info[i], port_done_key)) {
                result = PMIX_SUCCESS;
            } else if (PMIX_CHECK_KEY(&info[i], port_name_key) && info[i].value.type == PMIX_STRING) {
                result = copy(PMIX_SUCCESS, [&] { state.text = info[i].value.data.string; });
            } else if (PMIX_CHECK_KEY(&info[i], port_pair_key)) {
                state.pair = number_in(info[i].value).value_or(0);
            } else if (PMIX_CHECK_KEY(&info[i], port_peer_key) && info[i].value.type == PMIX_PROC) {
                const pmix_proc_t& peer = *info[i].value.data.proc;
                result = copy(PMIX_SUCCESS, [&] { state.peer = {peer.nspace, peer.rank}; });
            }
        }
        if (release != nullptr) {
            release(release_context);
        }
        finish(state, result);
    }

    // Sends the request; after an error at once no callback follows.
    template <class Send>
    static void send(const std::shared_ptr<State>& state, Send&& send) noexcept {
        state->held = state;
        const pmix_status_t status = send(*state);
        if (status != PMIX_SUCCESS) {
            finish(*state, status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status);
        }
    }
};

bool LauncherRequest::done() const noexcept {
    return _state->done.load(std::memory_order_acquire);
}

const std::string& LauncherRequest::text() const noexcept {
    return _state->text;
}

const ProcessName& LauncherRequest::peer() const noexcept {
    return _state->peer;
}

std::uint64_t LauncherRequest::pair() const noexcept {
    return _state->pair;
}

Status LauncherRequest::status() const {
    const std::string& what = _state->what;
    switch (_state->code) {
    case PMIX_SUCCESS:
        return {};
    case PMIX_ERR_NOT_FOUND:
        return Error{Errc::not_found, what + ": there is none"};
    case PMIX_ERR_TIMEOUT:
        return Error{Errc::timed_out, what + ": the time limit is over"};
    case PMIX_ERR_DUPLICATE_KEY:
        return Error{Errc::invalid, what + ": the name is in use"};
    case PMIX_ERR_BAD_PARAM:
        return Error{Errc::invalid, what + ": both ends are the same process"};
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_LOST_CONNECTION:
        return Error{Errc::peer_failed, what + ": a process has failed"};
    case PMIX_ERR_NOT_SUPPORTED:
        return Error{Errc::unsupported, what + ": not with this launcher"};
    case PMIX_ERR_NO_PERMISSIONS:
        return Error{Errc::not_available, what + ": mpirun can make no socket for other mpirun, and has printed why"};
    case PMIX_ERR_NOMEM:
        return Error{Errc::out_of_memory, what + ": out of memory"};
    default:
        return Error{Errc::system, what + ": " + text_of(_state->code)};
    }
}

Result<LauncherRequest> LauncherServices::new_request(std::string what) const {
    if (!_runtime.own_launcher()) {
        return Error{Errc::unsupported,
            what + ": needs the mpirun of Patchbay MPI, and " +
                (_runtime.is_singleton() ? "this process was started without it"
                                         : "another launcher started this one")};
    }
    LauncherRequest request;
    request._state = std::make_shared<LauncherRequest::State>();
    request._state->what = std::move(what);
    request._state->wake = _runtime.wake();
    return request;
}

Result<LauncherRequest> LauncherServices::spawn(const std::vector<SpawnProgram>& programs, std::string_view key) {
    Result<LauncherRequest> request = new_request("starting processes");
    if (!request) {
        return request;
    }
    LauncherRequest::State& state = *request->_state;
    PMIX_APP_CREATE(state.programs, programs.size());
    bool fine = state.programs != nullptr;
    state.program_count = fine ? programs.size() : 0;
    for (std::size_t i = 0; fine && i < programs.size(); ++i) {
        fine = fill(state.programs[i], programs[i]);
    }
    if (!fine) {
        return Error{Errc::out_of_memory, state.what + ": memory is exhausted"};
    }
    add_info(state.infos, spawn_key, std::string(key).c_str(), PMIX_STRING);
    LauncherCallbacks::send(request->_state, [](LauncherRequest::State& s) {
        return PMIx_Spawn_nb(
            s.infos.data(), s.infos.size(), s.programs, s.program_count, LauncherCallbacks::spawned, &s);
    });
    return request;
}

Result<LauncherRequest> LauncherServices::look_up_name(const std::string& name, std::string what, Scope scope) {
    Result<LauncherRequest> request = new_request(std::move(what));
    if (request) {
        request->_state->set_key(name);
        add_scope(request->_state->infos, scope);
        LauncherCallbacks::send(request->_state, [](LauncherRequest::State& s) {
            return PMIx_Lookup_nb(s.keys.data(), s.infos.data(), s.infos.size(), LauncherCallbacks::looked_up, &s);
        });
    }
    return request;
}

Result<LauncherRequest> LauncherServices::unpublish_name(const std::string& name, std::string what) {
    Result<LauncherRequest> request = new_request(std::move(what));
    if (request) {
        request->_state->set_key(name);
        LauncherCallbacks::send(request->_state, [](LauncherRequest::State& s) {
            return PMIx_Unpublish_nb(s.keys.data(), nullptr, 0, LauncherCallbacks::finished, &s);
        });
    }
    return request;
}

Result<LauncherRequest> LauncherServices::failure(std::string_view key) {
    return look_up_name(spawn_failure_name + std::string(key), "the cause", Scope::mpirun);
}

Result<LauncherRequest> LauncherServices::forget_failure(std::string_view key) {
    return unpublish_name(spawn_failure_name + std::string(key), "the cause");
}

std::string LauncherServices::parent_key() {
    return LaunchEnvironment::of_process().value(parent_variable);
}

Result<ProcessName> LauncherServices::parent() const {
    const pmix_proc_t self = process_of(_runtime.nspace(), _runtime.rank());
    pmix_value_t* raw = nullptr;
    const pmix_status_t status = PMIx_Get(&self, PMIX_PARENT_ID, nullptr, 0, &raw);
    if (status != PMIX_SUCCESS || raw == nullptr) {
        return Error{Errc::not_available, "the launcher does not name the parent of this process: " + text_of(status)};
    }
    const PmixValue value(raw);
    if (value->type != PMIX_PROC) {
        return Error{Errc::not_available, "the launcher does not name the parent of this process"};
    }
    return ProcessName{value->data.proc->nspace, value->data.proc->rank};
}

Result<LauncherRequest> LauncherServices::port_request(
    const char* key, std::string_view name, std::chrono::milliseconds limit) {
    Result<LauncherRequest> request = new_request("port \"" + std::string(name) + '"');
    if (!request) {
        return request;
    }
    LauncherRequest::State& state = *request->_state;
    add_info(state.infos, key, std::string(name).c_str(), PMIX_STRING);
    if (limit.count() > 0) {
        const std::uint64_t milliseconds = std::uint64_t(limit.count());
        add_info(state.infos, port_limit_key, &milliseconds, PMIX_UINT64);
    }
    LauncherCallbacks::send(request->_state, [](LauncherRequest::State& s) {
        return PMIx_Job_control_nb(nullptr, 0, s.infos.data(), s.infos.size(), LauncherCallbacks::answered, &s);
    });
    return request;
}

Result<LauncherRequest> LauncherServices::open_port(std::string_view name) {
    return port_request(port_open_key, name, {});
}

Result<LauncherRequest> LauncherServices::close_port(std::string_view name) {
    return port_request(port_close_key, name, {});
}

Result<LauncherRequest> LauncherServices::accept(std::string_view name, std::chrono::milliseconds limit) {
    return port_request(port_accept_key, name, limit);
}

Result<LauncherRequest> LauncherServices::connect(std::string_view name, std::chrono::milliseconds limit) {
    return port_request(port_connect_key, name, limit);
}

Result<LauncherRequest> LauncherServices::publish(std::string_view service, const std::string& value, Scope scope) {
    Result<LauncherRequest> request = new_request("service \"" + std::string(service) + '"');
    if (!request) {
        return request;
    }
    const std::string name = service_name + std::string(service);
    add_info(request->_state->infos, name.c_str(), value.c_str(), PMIX_STRING);
    add_scope(request->_state->infos, scope);
    LauncherCallbacks::send(request->_state, [](LauncherRequest::State& s) {
        return PMIx_Publish_nb(s.infos.data(), s.infos.size(), LauncherCallbacks::finished, &s);
    });
    return request;
}

Result<LauncherRequest> LauncherServices::look_up(std::string_view service, Scope scope) {
    return look_up_name(service_name + std::string(service), "service \"" + std::string(service) + '"', scope);
}

Result<LauncherRequest> LauncherServices::unpublish(std::string_view service) {
    return unpublish_name(service_name + std::string(service), "service \"" + std::string(service) + '"');
}

} // namespace patchbay
