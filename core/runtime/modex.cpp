// SPDX-License-Identifier: BSD-3-Clause
// The modex, by which processes exchange data through the launcher: put, get, fence.
#include "core/runtime/launch_environment.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime.h"
#include "core/runtime/runtime_private.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace patchbay {

namespace {
using std::chrono::nanoseconds;

std::vector<std::byte> bytes_of(std::string_view text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// Without the namespace: it keeps other users from connecting to the launcher, and error texts may end in files that
// they can read.
std::string describe(std::uint32_t rank, std::string_view key, bool is_own_job) {
    return "modex: '" + std::string(key) + "' of rank " + std::to_string(rank) + (is_own_job ? "" : " of another job");
}

Error failure(pmix_status_t status, const std::string& what) {
    switch (status) {
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_TIMEOUT:
        return Error{Errc::not_found, what + ": not published yet"};
    case PMIX_ERR_PARTIAL_SUCCESS:
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_LOST_CONNECTION:
        return Error{Errc::peer_failed, what + ": a process that takes part has died"};
    case PMIX_ERR_NOT_SUPPORTED:
        return Error{Errc::unsupported, what + ": this launcher does not offer it"};
    case PMIX_ERR_UNREACH:
        return Error{Errc::system, what + ": the launcher does not answer any more"};
    default:
        return Error{Errc::system, what + ": " + text_of(status)};
    }
}
} // namespace

Status Runtime::put(std::string_view key, std::span<const std::byte> bytes) {
    if (key.empty() || key.size() > 500 || key.starts_with("pmix.")) {
        return Error{Errc::invalid, "modex: '" + std::string(key) + "' cannot be a key"};
    }
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::lock_guard hold(environment.mutex());
    if (auto known = environment.published().find(key); known != environment.published().end()) {
        if (known->second == text) {
            return {};
        }
        return Error{Errc::invalid, "modex: '" + std::string(key) + "' was published before with another value"};
    }
    if (!_singleton) {
        pmix_value_t value;
        PMIX_VALUE_CONSTRUCT(&value);
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo.bytes = const_cast<char*>(text.data()); // PMIx_Put copies it
        value.data.bo.size = text.size();
        pmix_status_t status = PMIx_Put(PMIX_GLOBAL, std::string(key).c_str(), &value);
        if (status != PMIX_SUCCESS) {
            return failure(status, "modex: cannot put '" + std::string(key) + "'");
        }
    }
    environment.published().emplace(key, text);
    return {};
}

Status Runtime::commit() {
    pmix_status_t status = _singleton ? PMIX_SUCCESS : PMIx_Commit();
    return status == PMIX_SUCCESS ? Status() : Status(failure(status, "modex: cannot publish"));
}

// For a process on this node the server replies at once. For one on another node it queries the server of that node,
// which replies after the process's first commit; `limit` bounds that.
Result<std::vector<std::byte>> Runtime::get_now(
    const std::string& nspace, std::uint32_t rank, std::string_view key, bool local, nanoseconds limit) const {
    std::string key_text(key);
    if (nspace == _nspace && rank == _rank) {
        LaunchEnvironment& environment = LaunchEnvironment::of_process();
        std::lock_guard hold(environment.mutex());
        auto known = environment.published().find(key);
        if (known != environment.published().end()) {
            return bytes_of(known->second);
        }
        return Error{Errc::not_found, "modex: '" + key_text + "' of this process: not published yet"};
    }
    const std::string what = describe(rank, key, nspace == _nspace);
    if (_singleton) {
        return Error{Errc::not_found, what + ": this process runs alone"};
    }
    pmix_proc_t process;
    PMIX_LOAD_PROCID(&process, nspace.c_str(), rank);
    pmix_info_t info;
    bool immediate = true;
    int seconds = int(std::chrono::ceil<std::chrono::seconds>(std::max(limit, nanoseconds(1))).count());
    if (local) {
        PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &immediate, PMIX_BOOL);
    } else {
        PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    }
    pmix_value_t* raw = nullptr;
    pmix_status_t status = PMIx_Get(&process, key_text.c_str(), &info, 1, &raw);
    PMIX_INFO_DESTRUCT(&info);
    if (status != PMIX_SUCCESS || raw == nullptr) {
        return failure(status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status, what);
    }
    PmixValue value(raw);
    if (value->type != PMIX_BYTE_OBJECT) {
        return Error{Errc::invalid, what + ": it was not published by Patchbay MPI"};
    }
    return bytes_of({value->data.bo.bytes, value->data.bo.size});
}

Result<std::vector<std::byte>> Runtime::try_get(std::uint32_t rank, std::string_view key) const {
    return get_now(_nspace, rank, key, is_local(rank), std::chrono::seconds(1));
}

Result<std::vector<std::byte>> Runtime::get(std::uint32_t rank, std::string_view key) const {
    return get(ProcessName{_nspace, rank}, key);
}

Result<std::vector<std::byte>> Runtime::get(const ProcessName& process, std::string_view key) const {
    using Clock = std::chrono::steady_clock;
    bool local = process.nspace == _nspace && is_local(process.rank);
    Clock::time_point deadline = Clock::now() + _get_timeout;
    nanoseconds pause = std::chrono::microseconds(20);
    for (;;) {
        Result<std::vector<std::byte>> value =
            get_now(process.nspace, process.rank, key, local, deadline - Clock::now());
        if (value || value.error().code != Errc::not_found || _singleton) {
            return value;
        }
        if (Clock::now() >= deadline) {
            return Error{Errc::timed_out, value.error().text + " (waited for the time given by runtime_get_timeout)"};
        }
        // Nothing announces what a peer publishes, and peers publish within milliseconds of each other when a job
        // starts; later ones are looked for ever more seldom.
        std::this_thread::sleep_for(pause);
        pause = std::min<nanoseconds>(pause * 2, std::chrono::milliseconds(2));
    }
}

struct RuntimeCallbacks {
    using State = FenceRequest::State;

    static void fence_done(pmix_status_t status, void* context) {
        std::unique_ptr<std::shared_ptr<State>> state(static_cast<std::shared_ptr<State>*>(context));
        finish(**state, status);
    }
    static void finish(State& state, pmix_status_t status) {
        std::function<void()> wake = state.wake;
        state.code = status;
        state.done.store(true, std::memory_order_release);
        state.done.notify_all();
        if (wake) {
            wake();
        }
    }
};

Status FenceRequest::status() const {
    if (_group) {
        const Result<std::uint64_t> id = _group->id();
        return id ? Status() : Status(id.error());
    }
    return _state->code == PMIX_SUCCESS ? Status() : Status(failure(_state->code, "fence"));
}

Result<FenceRequest> Runtime::fence_start(std::span<const std::uint32_t> ranks, bool collect) {
    if (collect && !ranks.empty()) {
        // Slurm 22.05 hangs in it when the ranks span nodes.
        return Error{Errc::unsupported, "fence: data is collected from the whole job only"};
    }
    // The server of 4.2.2 takes a process whose connection closes out of a pending fence, even when it had finalized
    // properly and has connected again: the other members would get the error that a member failed. On one node nothing
    // needs to be collected, because what is committed is with the server already.
    if (ranks.empty() && has_groups() && (!collect || local_size() == _size)) {
        return fence_as_group();
    }
    FenceRequest request;
    request._state->wake = wake();
    if (_singleton) {
        request._state->done.store(true, std::memory_order_release);
        return request;
    }
    std::vector<pmix_proc_t> members(std::max<std::size_t>(ranks.size(), 1));
    PMIX_LOAD_PROCID(&members[0], _nspace.c_str(), PMIX_RANK_WILDCARD);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        PMIX_LOAD_PROCID(&members[i], _nspace.c_str(), ranks[i]);
    }
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    auto context = std::make_unique<std::shared_ptr<FenceRequest::State>>(request._state);
    pmix_status_t status = PMIx_Fence_nb(
        members.data(), members.size(), &info, collect ? 1 : 0, RuntimeCallbacks::fence_done, context.get());
    PMIX_INFO_DESTRUCT(&info);
    if (status == PMIX_OPERATION_SUCCEEDED) {
        RuntimeCallbacks::finish(*request._state, PMIX_SUCCESS); // no callback follows
    } else if (status == PMIX_SUCCESS) {
        (void)context.release(); // the callback frees it
    } else {
        return failure(status, "fence");
    }
    return request;
}

Status Runtime::fence(std::span<const std::uint32_t> ranks, bool collect) {
    Result<FenceRequest> request = fence_start(ranks, collect);
    if (!request) {
        return request.error();
    }
    request->wait();
    return request->status();
}

} // namespace patchbay
