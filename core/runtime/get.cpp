// SPDX-License-Identifier: BSD-3-Clause
// What other processes have published: the half of the modex that reads.
#include "core/base/out_of_memory.h"
#include "core/runtime/launch_environment.h"
#include "core/runtime/modex_error.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime.h"

#include <cstring>
#include <thread>

namespace patchbay {

namespace {
using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// The server keeps a request no longer than this, after which it is sent again. It sends the answer when the process
// publishes something, so that the time matters only to a process that publishes nothing.
constexpr std::chrono::seconds longest_request(2);

Bytes bytes_of(std::string_view text) {
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// Without the namespace: it keeps other users from connecting to the launcher, and error texts may end in files that
// they can read.
std::string describe(ProcessId process, std::string_view key) {
    return "modex: '" + std::string(key) + "' of rank " + std::to_string(process.rank) +
        (process.job == own_job ? "" : " of another job");
}

Error not_in_time(const std::string& what) {
    return {Errc::timed_out, what + ": not published yet (waited for the time given by runtime_get_timeout)"};
}

Error not_ours(const std::string& what) {
    return {Errc::invalid, what + ": it was not published by Patchbay MPI"};
}
} // namespace

Error no_such_process(const char* what) {
    std::string text = what;
    text += ": no job that this process knows has such a process";
    return {Errc::invalid, std::move(text)};
}

Result<Bytes> Runtime::published_here(std::string_view key) const {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    const std::lock_guard hold(environment.mutex());
    const auto known = environment.published().find(key);
    if (known != environment.published().end()) {
        return bytes_of(known->second);
    }
    return Error{Errc::not_found, describe(self(), key) + ": not published yet"};
}

// For a process on this node the server replies at once. For one on another node it queries the server of that node,
// which replies after the process's first commit; `limit` bounds that.
Result<Bytes> Runtime::get_now(ProcessId process, std::string_view key, nanoseconds limit) const {
    if (process == self()) {
        return published_here(key);
    }
    const std::string what = describe(process, key);
    if (_singleton) {
        return Error{Errc::not_found, what + ": this process runs alone"};
    }
    const std::optional<ProcessName> name = _jobs->name_of(process);
    if (!name) {
        return no_such_process("modex");
    }
    const pmix_proc_t peer = process_of(*name);
    pmix_info_t info;
    bool immediate = true;
    int seconds = int(std::chrono::ceil<std::chrono::seconds>(std::max(limit, nanoseconds(1))).count());
    if (is_local(process)) {
        PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &immediate, PMIX_BOOL);
    } else {
        PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    }
    pmix_value_t* raw = nullptr;
    const pmix_status_t status = PMIx_Get(&peer, std::string(key).c_str(), &info, 1, &raw);
    PMIX_INFO_DESTRUCT(&info);
    if (status != PMIX_SUCCESS || raw == nullptr) {
        return modex_error(status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status, what);
    }
    const PmixValue value(raw);
    if (value->type != PMIX_BYTE_OBJECT) {
        return not_ours(what);
    }
    return bytes_of({value->data.bo.bytes, value->data.bo.size});
}

Result<Bytes> Runtime::try_get(ProcessId process, std::string_view key) const {
    return get_now(process, key, std::chrono::seconds(1));
}

Result<Bytes> Runtime::get(ProcessId process, std::string_view key) const {
    const Clock::time_point deadline = Clock::now() + _get_timeout;
    nanoseconds pause = std::chrono::microseconds(20);
    for (;;) {
        Result<Bytes> value = get_now(process, key, deadline - Clock::now());
        if (value || value.error().code != Errc::not_found || _singleton) {
            return value;
        }
        if (Clock::now() >= deadline) {
            return not_in_time(describe(process, key));
        }
        // Nothing announces what a peer publishes, and peers publish within milliseconds of each other when a job
        // starts; later ones are looked for ever more seldom.
        std::this_thread::sleep_for(pause);
        pause = std::min<nanoseconds>(pause * 2, std::chrono::milliseconds(2));
    }
}

struct GetRequest::State {
    // Constant while PMIx has the request.
    pmix_proc_t process;
    std::string key;
    std::string what;
    pmix_info_t directive;
    std::function<void()> wake;
    Clock::time_point deadline;
    std::shared_ptr<State> held; // this object itself, while PMIx has the request

    // Written by answered() before `answered`.
    pmix_status_t code = PMIX_SUCCESS;
    Bytes bytes;
    bool is_ours = true;
    std::atomic<bool> answered{false};

    bool finished = false;
    bool too_late = false;

    State() { PMIX_INFO_CONSTRUCT(&directive); }
    ~State() { PMIX_INFO_DESTRUCT(&directive); }
    bool is_missing() const noexcept { return code == PMIX_ERR_NOT_FOUND || code == PMIX_ERR_TIMEOUT; }
};

// Nothing here throws: the callers are PMIx and polls.
struct GetCallbacks {
    using State = GetRequest::State;

    static void answered(pmix_status_t status, pmix_value_t* value, void* context) {
        State& state = *static_cast<State*>(context);
        const std::shared_ptr<State> held = std::move(state.held);
        state.code = status == PMIX_SUCCESS && value == nullptr ? PMIX_ERR_NOT_FOUND : status;
        if (state.code == PMIX_SUCCESS) {
            state.is_ours = value->type == PMIX_BYTE_OBJECT;
            const bool copied = unless_out_of_memory(false, [&] {
                state.bytes = state.is_ours ? bytes_of({value->data.bo.bytes, value->data.bo.size}) : Bytes();
                return true;
            });
            state.code = copied ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
        }
        state.answered.store(true, std::memory_order_release);
        if (state.wake) {
            state.wake();
        }
    }

    static void send(const std::shared_ptr<State>& state) noexcept {
        state->answered.store(false, std::memory_order_relaxed);
        state->held = state;
        const pmix_status_t status =
            PMIx_Get_nb(&state->process, state->key.c_str(), &state->directive, 1, answered, state.get());
        if (status != PMIX_SUCCESS) { // no callback follows
            state->held.reset();
            state->code = status;
            state->answered.store(true, std::memory_order_relaxed);
        }
    }
};

Result<GetRequest> Runtime::get_start(ProcessId process, std::string_view key) const {
    const std::optional<ProcessName> name = _jobs->name_of(process);
    if (!name) {
        return no_such_process("modex");
    }
    GetRequest request;
    request._state = std::make_shared<GetRequest::State>();
    GetRequest::State& state = *request._state;
    state.what = describe(process, key);
    if (process == self()) {
        Result<Bytes> own = published_here(key);
        state.finished = true;
        state.too_late = !own;
        state.bytes = own ? std::move(*own) : Bytes();
        return request;
    }
    state.process = process_of(*name);
    state.key = key;
    state.wake = wake();
    state.deadline = Clock::now() + _get_timeout;
    const auto seconds = std::min(std::chrono::ceil<std::chrono::seconds>(_get_timeout), longest_request);
    const int limit = int(std::max<std::int64_t>(seconds.count(), 1));
    PMIX_INFO_LOAD(&state.directive, PMIX_TIMEOUT, &limit, PMIX_INT);
    GetCallbacks::send(request._state);
    return request;
}

bool GetRequest::done() noexcept {
    State& state = *_state;
    if (state.finished || !state.answered.load(std::memory_order_acquire)) {
        return state.finished;
    }
    state.too_late = state.is_missing() && Clock::now() >= state.deadline;
    state.finished = state.too_late || !state.is_missing();
    if (!state.finished) {
        GetCallbacks::send(_state);
    }
    return state.finished;
}

Result<Bytes> GetRequest::value() {
    State& state = *_state;
    if (state.too_late) {
        return not_in_time(state.what);
    }
    if (state.code != PMIX_SUCCESS) {
        return modex_error(state.code, state.what);
    }
    return state.is_ours ? Result<Bytes>(std::move(state.bytes)) : Result<Bytes>(not_ours(state.what));
}

} // namespace patchbay
