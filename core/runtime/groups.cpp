// SPDX-License-Identifier: BSD-3-Clause
// Group identifiers, from our own mpirun or by PMIx_Group_construct. Nothing of ours needs the latter: in 4.2.2 the
// survivors of a member that fails hang in it for ever.
#include "core/runtime/group_protocol.h"
#include "core/runtime/pmix_connection.h"
#include "core/runtime/pmix_value.h"
#include "core/runtime/runtime.h"

namespace patchbay {

struct GroupRequest::State {
    std::atomic<bool> done{false};
    pmix_status_t code = PMIX_SUCCESS;
    std::uint64_t id = 0;
    std::function<void()> wake;
    pmix_info_t directives[2]; // PMIx reads them until its callback, and these two as well
    std::string name;
    std::vector<pmix_proc_t> members;

    State() {
        PMIX_INFO_CONSTRUCT(&directives[0]);
        PMIX_INFO_CONSTRUCT(&directives[1]);
    }
    ~State() {
        PMIX_INFO_DESTRUCT(&directives[0]);
        PMIX_INFO_DESTRUCT(&directives[1]);
    }
};

struct GroupCallbacks {
    using State = GroupRequest::State;

    static void answered(pmix_status_t status, pmix_info_t* info, std::size_t count, void* context,
        pmix_release_cbfunc_t release, void* release_context) {
        std::unique_ptr<std::shared_ptr<State>> holder(static_cast<std::shared_ptr<State>*>(context));
        State& state = **holder;
        state.code = status == PMIX_SUCCESS ? PMIX_ERR_NOT_SUPPORTED : status; // until the identifier is found
        for (std::size_t i = 0; status == PMIX_SUCCESS && i < count; ++i) {
            std::optional<std::uint64_t> id = number_in(info[i].value);
            if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_CONTEXT_ID) && id) {
                state.id = *id;
                state.code = PMIX_SUCCESS;
            }
        }
        if (release != nullptr) {
            release(release_context);
        }
        std::function<void()> wake = state.wake;
        state.done.store(true, std::memory_order_release);
        state.done.notify_all();
        if (wake) {
            wake();
        }
    }

    // Of PMIx_Group_construct. The server forgets a group's members only when all have left it again.
    static void constructed(pmix_status_t status, pmix_info_t* info, std::size_t count, void* context,
        pmix_release_cbfunc_t release, void* release_context) {
        if (status == PMIX_SUCCESS) {
            const State& state = **static_cast<std::shared_ptr<State>*>(context);
            // No process waits for it: the name is not used again, and the next group has another one.
            PMIx_Group_destruct_nb(
                state.name.c_str(), nullptr, 0, [](pmix_status_t, void*) {}, nullptr);
        }
        // When it failed there is rubbish in `info` (4.2.2); answered() looks only on success.
        answered(is_missing(status) ? PMIX_ERR_NOT_SUPPORTED : status, info, count, context, release, release_context);
    }

    static bool is_missing(pmix_status_t status) {
        return status == PMIX_ERR_NOT_SUPPORTED || status == PMIX_ERR_UNREACH || status == PMIX_ERR_NOT_FOUND;
    }
};

Result<GroupRequest> Runtime::group_start(std::string_view name, std::span<const ProcessId> members) {
    if (!has_groups()) {
        return Error{Errc::unsupported, "this launcher gives no identifiers to groups"};
    }
    if (name.empty() || members.empty()) {
        return Error{Errc::invalid, "a group needs a name and members"};
    }
    const auto processes = processes_of(*_jobs, members);
    if (!processes) {
        return no_such_process("group");
    }
    GroupRequest request;
    request._state = std::make_shared<GroupRequest::State>();
    GroupRequest::State& state = *request._state;
    state.wake = wake();
    PMIX_INFO_LOAD(&state.directives[0], group_key, std::string(name).c_str(), PMIX_STRING);
    PMIX_LOAD_KEY(state.directives[1].key, group_members_key);
    state.directives[1].value.type = PMIX_DATA_ARRAY;
    state.directives[1].value.data.darray = array_of(*processes);

    auto context = std::make_unique<std::shared_ptr<GroupRequest::State>>(request._state);
    pmix_status_t status =
        PMIx_Job_control_nb(nullptr, 0, state.directives, 2, GroupCallbacks::answered, context.get());
    if (status != PMIX_SUCCESS) {
        return Error{Errc::system, "group '" + std::string(name) + "': " + text_of(status)};
    }
    (void)context.release(); // answered() frees it
    return request;
}

Result<GroupRequest> Runtime::pmix_group_start(std::string_view name, std::span<const ProcessId> members) {
    if (_singleton) {
        return Error{Errc::unsupported, "no launcher gives identifiers to the groups of a process that runs alone"};
    }
    if (name.empty() || members.empty()) {
        return Error{Errc::invalid, "a group needs a name and members"};
    }
    auto processes = processes_of(*_jobs, members);
    if (!processes) {
        return no_such_process("group");
    }
    GroupRequest request;
    request._state = std::make_shared<GroupRequest::State>();
    GroupRequest::State& state = *request._state;
    state.wake = wake();
    state.name = name;
    state.members = std::move(*processes);
    // No PMIX_TIMEOUT: with it the server of 4.2.2 crashes.
    PMIX_INFO_LOAD(&state.directives[0], PMIX_GROUP_ASSIGN_CONTEXT_ID, nullptr, PMIX_BOOL);
    auto context = std::make_unique<std::shared_ptr<GroupRequest::State>>(request._state);
    const pmix_status_t status = PMIx_Group_construct_nb(state.name.c_str(), state.members.data(), state.members.size(),
        state.directives, 1, GroupCallbacks::constructed, context.get());
    if (GroupCallbacks::is_missing(status)) {
        return Error{Errc::unsupported, "this launcher makes no groups"};
    }
    if (status != PMIX_SUCCESS) {
        return Error{Errc::system, "group '" + state.name + "': " + text_of(status)};
    }
    (void)context.release(); // answered() frees it
    return request;
}

void Runtime::keep_connection() noexcept {
    if (!_singleton) {
        pmix_connection::keep();
    }
}

Result<FenceRequest> Runtime::fence_as_group() {
    std::vector<ProcessId> everybody(_size);
    for (std::uint32_t rank = 0; rank < _size; ++rank) {
        everybody[rank] = {own_job, rank};
    }
    // Over all lifetimes: the processes of the job make the same fences, but not in lifetimes of the same number.
    static std::atomic<std::uint32_t> fences{0};
    const std::string name = "fence." + std::to_string(fences.fetch_add(1, std::memory_order_relaxed));
    Result<GroupRequest> group = group_start(name, everybody);
    if (!group) {
        return group.error();
    }
    FenceRequest fence;
    fence._group = std::move(*group);
    return fence;
}

void FenceRequest::wait() const noexcept {
    std::atomic<bool>& done = _group ? _group->_state->done : _state->done;
    done.wait(false, std::memory_order_acquire);
}

bool GroupRequest::done() const noexcept {
    return _state->done.load(std::memory_order_acquire);
}

Result<std::uint64_t> GroupRequest::id() const {
    switch (_state->code) {
    case PMIX_SUCCESS:
        return _state->id;
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_LOST_CONNECTION:
        return Error{Errc::peer_failed, "group: a member has failed"};
    case PMIX_ERR_NOT_SUPPORTED:
        return Error{Errc::unsupported, "group: the launcher gave no identifier"};
    default:
        return Error{Errc::system, "group: " + text_of(_state->code)};
    }
}

} // namespace patchbay
