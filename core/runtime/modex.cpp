// SPDX-License-Identifier: BSD-3-Clause
// The modex, by which processes exchange data through the launcher: put and fence. get.cpp has the other half.
#include "core/runtime/launch_environment.h"
#include "core/runtime/modex_error.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime.h"

namespace patchbay {

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
            return modex_error(status, "modex: cannot put '" + std::string(key) + "'");
        }
    }
    environment.published().emplace(key, text);
    return {};
}

void Runtime::keep(std::string_view name, std::vector<std::byte> bytes) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    const std::lock_guard hold(environment.mutex());
    environment.kept().insert_or_assign(std::string(name), std::move(bytes));
}

std::vector<std::byte> Runtime::take_kept(std::string_view name) {
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    const std::lock_guard hold(environment.mutex());
    const auto found = environment.kept().find(name);
    return found == environment.kept().end() ? std::vector<std::byte>()
                                             : std::move(environment.kept().extract(found).mapped());
}

Status Runtime::commit() {
    pmix_status_t status = _singleton ? PMIX_SUCCESS : PMIx_Commit();
    return status == PMIX_SUCCESS ? Status() : Status(modex_error(status, "modex: cannot publish"));
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

FenceRequest::FenceRequest()
    : _state(std::make_shared<State>()) {}

Status FenceRequest::status() const {
    if (_group) {
        const Result<std::uint64_t> id = _group->id();
        return id ? Status() : Status(id.error());
    }
    return _state->code == PMIX_SUCCESS ? Status() : Status(modex_error(_state->code, "fence"));
}

Result<FenceRequest> Runtime::fence_start(std::span<const ProcessId> processes, bool collect) {
    if (collect && !processes.empty()) {
        // Slurm 22.05 hangs in it when the processes span nodes.
        return Error{Errc::unsupported, "fence: data is collected from the whole job only"};
    }
    // The server of 4.2.2 takes a process whose connection closes out of a pending fence, even when it had finalized
    // properly and has connected again: the other members would get the error that a member failed. On one node nothing
    // needs to be collected, because what is committed is with the server already.
    if (processes.empty() && has_groups() && (!collect || local_size() == _size)) {
        return fence_as_group();
    }
    auto members = processes_of(*_jobs, processes);
    if (!members) {
        return no_such_process("fence");
    }
    FenceRequest request;
    request._state->wake = wake();
    if (_singleton) {
        request._state->done.store(true, std::memory_order_release);
        return request;
    }
    if (members->empty()) {
        members->push_back(process_of(_nspace, PMIX_RANK_WILDCARD));
    }
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    auto context = std::make_unique<std::shared_ptr<FenceRequest::State>>(request._state);
    pmix_status_t status = PMIx_Fence_nb(
        members->data(), members->size(), &info, collect ? 1 : 0, RuntimeCallbacks::fence_done, context.get());
    PMIX_INFO_DESTRUCT(&info);
    if (status == PMIX_OPERATION_SUCCEEDED) {
        RuntimeCallbacks::finish(*request._state, PMIX_SUCCESS); // no callback follows
    } else if (status == PMIX_SUCCESS) {
        (void)context.release(); // the callback frees it
    } else {
        return modex_error(status, "fence");
    }
    return request;
}

Status Runtime::fence(std::span<const ProcessId> processes, bool collect) {
    Result<FenceRequest> request = fence_start(processes, collect);
    if (!request) {
        return request.error();
    }
    request->wait();
    return request->status();
}

} // namespace patchbay
