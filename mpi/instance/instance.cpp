// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/instance.h"

#include "core/memory/node_segment.h"
#include "core/progress/progress.h"
#include "core/progress/wait_policy.h"
#include "core/runtime/hw_resources.h"
#include "core/runtime/runtime.h"
#include "frameworks/btl/select.h"
#include "frameworks/coll/params.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pset/sets.h"
#include "frameworks/wrap_params.h"
#include "mpi/instance/mpi_params.h"
#include "mpi/instance/operation_key.h"
#include "mpi/instance/peer_failures.h"
#include "mpi/instance/thread_levels.h"
#include "mpi/instance/thread_registry.h"
#include "object/session.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <utility>

namespace patchbay {

Instance::Instance(Core& core, ProcessState& process_state, int thread_level)
    : _core(core),
      _process_state(process_state),
      _thread_level(thread_level),
      _pml_framework("pml", pml::interface_version, wrap_params, std::size(wrap_params)),
      _btl_framework("btl", btl::interface_version, wrap_params, std::size(wrap_params)),
      _cid_framework("cid", cid::interface_version),
      _coll_framework("coll", coll::interface_version, coll::params, std::size(coll::params)),
      _osc_framework("osc", osc::interface_version),
      _chan_framework("chan", chan::interface_version),
      _pset_framework("pset", pset::interface_version),
      _coll_engine(core),
      _coll_selector(_coll_framework, _coll_engine),
      _osc_selector(_osc_framework),
      _chan_selector(_chan_framework),
      _partitioned(std::make_unique<pml::PartitionedEngine>(core)),
      _thread_communicators(std::make_unique<threads::Registry>()),
      _hw_resources(std::make_unique<HwResources>()) {}

Instance::~Instance() = default;

void Instance::make_tables(ThreadLevelUpgrade& threads) {
    _communicators.emplace(threads);
    _directory.emplace(threads);
}

void Instance::drop_tables() noexcept {
    _directory.reset();
    _communicators.reset();
}

void Instance::drain(const Session* session) noexcept {
    _coll_engine.wait_for_freed(session);
    _partitioned->wait_for_freed(session);
    pml().drain_session(session);
}

// The kind makes the key differ from those of all string tags of users.
std::string Instance::operation_name(const Group& members, std::string_view text) {
    OperationKey key{std::string(text) + '\0' + "name", members_of(members, runtime().jobs()), 0};
    key.sequence = _process_state.next_sequence(key.string_tag, key.members);
    return key.unique_name();
}

Result<btl::Transports*> Instance::transports() {
    const std::lock_guard lock(_transports_mutex);
    if (_transports == nullptr) {
        auto selected = btl::select(_btl_framework, *this);
        if (!selected) {
            return selected.error();
        }
        _transports = std::make_unique<btl::Transports>(progress(), _self, std::move(*selected));
    }
    return _transports.get();
}

void Instance::peer_failed(ProcessId process) noexcept {
    btl::Transports* made;
    {
        const std::lock_guard lock(_transports_mutex);
        made = _transports.get();
    }
    if (made != nullptr) {
        made->peer_failed(process);
    }
    _pml->peer_failed(process);
    _bound_channels.peer_failed(process);
    _tool_sources->note_peer_failed(process);
}

void Instance::forget_ended_jobs() {
    const std::vector<JobNumber> unused = runtime().jobs().unused();
    btl::Transports* made;
    {
        const std::lock_guard lock(_transports_mutex);
        made = _transports.get();
    }
    if (made != nullptr) {
        made->forget_ended(unused);
    }
}

// An ill-typed parameter does not keep the others from being defined, so that a tool can list them all.
Result<JobNumber> Instance::add_job(std::string_view nspace) {
    Result<JobNumber> number = runtime().add_job(nspace);
    if (!number) {
        return number;
    }
    const std::shared_ptr<const Job> job = runtime().jobs().job(number.value());
    if (job != nullptr && job->is_foreign) {
        if (Status watched = watch_peers(); !watched) {
            runtime().jobs().drop(number.value());
            return watched.error();
        }
    }
    return number;
}

Status Instance::watch_peers() {
    const std::lock_guard lock(_peer_failures_mutex);
    if (_peer_failures == nullptr) {
        auto failures = PeerFailures::create(*this);
        if (!failures) {
            return failures.error();
        }
        _peer_failures = std::move(*failures);
    }
    return {};
}

void Instance::stop_watching_peers() noexcept {
    const std::lock_guard lock(_peer_failures_mutex);
    _peer_failures.reset();
}

Status Instance::define_params() {
    Status result;
    const auto note = [&result](const Status& defined) {
        if (result && !defined) {
            result = defined;
        }
    };
    note(_core.params.define("mpi", "", mpi_params));
    note(_core.params.define("cid", "", cid_params));
    note(_core.params.define("runtime", "", runtime_params));
    note(_core.params.define("wait", "", wait_params));
    note(_core.params.define("shm", "", shm_params));
    for (FrameworkBase* framework : frameworks()) {
        note(framework->announce(_core));
    }
    return result;
}

void Instance::add_user(const User& user) {
    std::lock_guard lock(_mutex);
    _users.push_back(user);
    choose_single_thread();
}

void Instance::remove_user(const User& user) noexcept {
    std::lock_guard lock(_mutex);
    _users.erase(std::find(_users.begin(), _users.end(), user)); // equal users are interchangeable
    choose_single_thread();
}

// Called with the mutex held, after a change of the users.
void Instance::choose_single_thread() noexcept {
    _user_count.store(_users.size(), std::memory_order_relaxed);
    const bool alone = !_users.empty() && !progress().threaded() && _thread_activations == 0 &&
        std::all_of(_users.begin(), _users.end(), [](const User& user) { return user.uses_one_thread(); });
    single_thread_instance.store(alone ? this : nullptr, std::memory_order_relaxed);
    set_single_thread(alone ? _users.front().thread : 0);
}

// check_thread() enables the locks when this ceases to be true.
bool Instance::one_thread_at_a_time() {
    std::lock_guard lock(_mutex);
    return known_single_thread() != 0 || (_users.size() == 1 && _users.front().thread_level < MPI_THREAD_MULTIPLE);
}

std::string Instance::locks_reason() {
    std::lock_guard lock(_mutex);
    const auto highest = std::max_element(
        _users.begin(), _users.end(), [](const User& a, const User& b) { return a.thread_level < b.thread_level; });
    return fmt::format("of {} users (sessions, the world model) number {} requested {}", _users.size(),
        highest - _users.begin() + 1, thread_level_name(highest->thread_level));
}

void Instance::record_locking(bool on, std::string_view reason) {
    _core.decisions.record("progress", "job", "locks", on ? Outcome::chosen : Outcome::declined, 0, reason);
}

void Instance::enable_locks(std::string_view reason) noexcept {
    if (!progress().threaded()) {
        record_locking(true, reason);
    }
    progress().enable_threads();
    // This store comes last, because a thread that finds `single_thread` set meanwhile must wait for enable_threads()
    // too.
    set_single_thread(0);
}

// Counted first: where another team ends meanwhile, end_threads() keeps the locks on.
void Instance::begin_threads() noexcept {
    {
        const std::lock_guard lock(_mutex);
        ++_thread_activations;
    }
    if (!progress().threaded()) {
        progress().enable_threads();
        const std::lock_guard lock(_mutex);
        _locks_for_threads = true;
    }
    const std::lock_guard lock(_mutex);
    choose_single_thread();
}

void Instance::end_threads() noexcept {
    const std::lock_guard lock(_mutex);
    --_thread_activations;
    // Another user may be in the library now.
    const bool alone = _users.size() == 1 && _users.front().thread_level < MPI_THREAD_MULTIPLE;
    if (_thread_activations == 0 && std::exchange(_locks_for_threads, false) && alone) {
        progress().disable_threads();
    }
    choose_single_thread();
}

bool Instance::threads_are_active() noexcept {
    const std::lock_guard lock(_mutex);
    return _thread_activations > 0;
}

Status Instance::choose_locking() {
    check_thread();
    if (!progress().threaded() && one_thread_at_a_time()) {
        record_locking(false, "one thread at a time uses the library");
        return {};
    }
    enable_locks(_core.decisions.enabled() ? locks_reason() : std::string());
    std::lock_guard lock(_mutex);
    if (!_thread_safe_leases.empty() || _thread_level != MPI_THREAD_MULTIPLE) {
        return {};
    }
    // Communicators that are made from here on use thread-safe components only.
    for (FrameworkBase* framework : std::initializer_list<FrameworkBase*>{&_cid_framework, &_coll_framework}) {
        auto lease = framework->open(_core, Capability::thread_multiple);
        if (!lease) {
            return lease.error();
        }
        _thread_safe_leases.push_back(std::move(*lease));
    }
    // These are opened by the first window and the first channel otherwise.
    for (FrameworkBase* framework : {_osc_lease ? static_cast<FrameworkBase*>(&_osc_framework) : nullptr,
             _chan_lease ? static_cast<FrameworkBase*>(&_chan_framework) : nullptr}) {
        if (framework == nullptr) {
            continue;
        }
        auto lease = framework->open(_core, Capability::thread_multiple);
        if (!lease) {
            return lease.error();
        }
        _thread_safe_leases.push_back(std::move(*lease));
    }
    set_cid_module(nullptr); // the module is selected again among the components that are still open
    _coll_selector.clear();
    return {};
}

Status Instance::open_cid(Capability needed) {
    std::lock_guard lock(_mutex);
    if (_cid_lease) {
        return {};
    }
    auto lease = _cid_framework.open(_core, needed);
    if (!lease) {
        return lease.error();
    }
    _cid_lease = std::move(*lease);
    return {};
}

Status Instance::open_osc() {
    return open_when_used(_osc_framework, _osc_lease);
}

Status Instance::open_chan() {
    return open_when_used(_chan_framework, _chan_lease);
}

Status Instance::open_when_used(FrameworkBase& framework, Lease& kept) {
    const bool threaded = progress().threaded() && _thread_level == MPI_THREAD_MULTIPLE;
    std::lock_guard lock(_mutex);
    if (kept) {
        return {};
    }
    auto lease = framework.open(_core, threaded ? Capability::thread_multiple : Capability::none);
    if (!lease) {
        return lease.error();
    }
    kept = std::move(*lease);
    return {};
}

void Instance::add_session(Session& session) {
    std::lock_guard lock(_mutex);
    _sessions.push_back(&session);
}

void Instance::remove_session(Session& session) noexcept {
    std::lock_guard lock(_mutex);
    std::erase(_sessions, &session);
}

bool Instance::is_open(const Session* session) noexcept {
    std::lock_guard lock(_mutex);
    return std::find(_sessions.begin(), _sessions.end(), session) != _sessions.end();
}

bool Instance::is_open(const SessionId& id) noexcept {
    std::lock_guard lock(_mutex);
    return std::any_of(
        _sessions.begin(), _sessions.end(), [&id](const Session* session) { return session->number == id.number; });
}

void Instance::add_window(Window& window) {
    std::lock_guard lock(_mutex);
    _windows.push_back(&window);
}

void Instance::remove_window(Window& window) noexcept {
    std::lock_guard lock(_mutex);
    std::erase(_windows, &window);
}

Window* Instance::first_window(const Session* session) noexcept {
    std::lock_guard lock(_mutex);
    const auto found = std::find_if(
        _windows.begin(), _windows.end(), [session](const Window* window) { return window->session == session; });
    return found != _windows.end() ? *found : nullptr;
}

Window* Instance::any_window() noexcept {
    std::lock_guard lock(_mutex);
    return _windows.empty() ? nullptr : _windows.front();
}

} // namespace patchbay
