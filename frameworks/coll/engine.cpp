// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/engine.h"

#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/operation.h"
#include "frameworks/coll/outstanding.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/trials.h"
#include "object/error_cause.h"

#include <mutex>
#include <new>
#include <utility>

namespace patchbay::coll {

namespace {

// The operations of a communicator; nullptr: memory is exhausted.
Outstanding* outstanding_of(Communicator& comm) noexcept {
    if (comm.outstanding == nullptr) {
        comm.outstanding = new (std::nothrow) Outstanding;
    }
    return comm.outstanding;
}

} // namespace

Engine::~Engine() {
    while (_unused != nullptr) {
        delete std::exchange(_unused, _unused->next);
    }
}

Progress& Engine::progress() noexcept {
    return *_core.progress;
}

Progress& Engine::progress_of(const Communicator& comm) noexcept {
    return comm.progress != nullptr ? *comm.progress : progress();
}

// An operation keeps its Progress, so that those of threads are made for one use.
Operation* Engine::take(Communicator& comm, Form form) noexcept {
    Operation* operation = nullptr;
    if (comm.progress == nullptr) {
        std::lock_guard lock(_lock);
        if (_unused != nullptr) {
            operation = std::exchange(_unused, _unused->next);
            --_unused_count;
        }
    }
    if (operation == nullptr) {
        operation = new (std::nothrow) Operation(*this, progress_of(comm));
    }
    if (operation != nullptr) {
        operation->set_up(comm, form);
    }
    return operation;
}

void Engine::give_back(Operation* operation) noexcept {
    if (operation->progress == &progress()) {
        std::lock_guard lock(_lock);
        if (_unused_count < most_kept) {
            ++_unused_count;
            operation->next = std::exchange(_unused, operation);
            return;
        }
    }
    delete operation;
}

bool Engine::keep(Operation& operation) noexcept {
    if (_kept_plans.fetch_add(1, std::memory_order_relaxed) >= most_kept_plans) {
        _kept_plans.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    if (Operation* oldest = operation.comm->outstanding->keep(operation)) {
        oldest->leave_kept();
    }
    return true;
}

void Engine::set_binder(ChannelBinder* binder) noexcept {
    _binder = binder;
    _watcher.reset();
    _watched = nullptr;
}

void Engine::add_watched(Operation& operation) noexcept {
    operation.is_watched = true;
    operation.previous = nullptr;
    operation.next = _watched;
    if (_watched != nullptr) {
        _watched->previous = &operation;
    }
    _watched = &operation;
    _empty_polls = 0;
    if (!_watcher) [[unlikely]] {
        _watcher = progress().add_poller(
            [](void* engine) noexcept { return static_cast<Engine*>(engine)->poll_watched(); }, this);
    }
}

void Engine::remove_watched(Operation& operation) noexcept {
    operation.is_watched = false;
    (operation.previous != nullptr ? operation.previous->next : _watched) = operation.next;
    if (operation.next != nullptr) {
        operation.next->previous = operation.previous;
    }
    if (_next_watched == &operation) {
        _next_watched = operation.next;
    }
}

// An op of the program may poll.
int Engine::poll_watched() noexcept {
    if (_polls_watched) {
        return 0;
    }
    _polls_watched = true;
    int events = 0;
    for (Operation* operation = _watched; operation != nullptr; operation = _next_watched) {
        _next_watched = operation->next;
        events += operation->look();
    }
    _polls_watched = false;
    // A loop of starts would register a poller for each of them, which takes longer than some starts.
    constexpr int empty_polls_before_removal = 64;
    if (_watched == nullptr && ++_empty_polls == empty_polls_before_removal) {
        _watcher.reset();
    }
    return events;
}

void Engine::wait_for_freed(const Session* session) noexcept {
    _released.wait(progress(), session, [](const Request&) { return true; });
}

void Engine::wait_for_freed(
    Progress& of_thread, const Session* session, const std::function<bool(const Communicator&)>& is_one) noexcept {
    _released.wait(of_thread, session, [&](const Request& request) { return is_one(*request.comm); });
}

int Engine::plan(Module& module, const Call& call, Communicator& comm, Form form, Operation** planned) noexcept {
    Operation* operation = take(comm, form);
    if (operation == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    int code = module.plan(call, operation->schedule);
    if (code == MPI_SUCCESS) {
        code = operation->prepare();
    }
    if (code == MPI_SUCCESS && form != Form::blocking) {
        code = operation->hold(call);
    }
    if (code != MPI_SUCCESS) {
        operation->recycle();
        return code;
    }
    *planned = operation;
    return MPI_SUCCESS;
}

int Engine::run(Module& module, const Call& call, Communicator& comm) noexcept {
    Operation* operation = nullptr;
    int code = plan(module, call, comm, Form::blocking, &operation);
    if (code != MPI_SUCCESS) {
        return code;
    }
    operation->set_tag(tag_of(call.function));
    operation->start();
    wait_until(progress_of(comm), [operation] { return operation->is_complete(); });
    code = operation->error;
    if (code != MPI_SUCCESS) {
        note_cause(code, operation->cause());
    }
    operation->recycle();
    return code;
}

int Engine::compare_constructor(const char* function, Communicator& comm) noexcept {
    return _checker == nullptr || comm.view != nullptr ? MPI_SUCCESS : _checker->compare_constructor(function, comm);
}

int Engine::start(Module& module, const Call& call, Communicator& comm, Request** request) noexcept {
    Outstanding* outstanding = outstanding_of(comm);
    if (outstanding == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    Operation* operation = outstanding->take_kept(module, call);
    if (operation != nullptr) {
        _kept_plans.fetch_sub(1, std::memory_order_relaxed);
        operation->renew(comm);
        operation->schedule.note_start();
    } else if (const int code = plan(module, call, comm, Form::nonblocking, &operation); code != MPI_SUCCESS) {
        return code; // without a tag, so that the next call gets the tag of this one
    } else if (comm.progress == nullptr) {
        operation->note_call(module, call);
    }
    if (_checker != nullptr && comm.view == nullptr) [[unlikely]] {
        operation->gate = _checker->look_at(call, Form::nonblocking, comm);
        operation->calls_back = operation->gate != nullptr && operation->gate->follows_completion();
    }
    *request = operation;
    operation->activate();
    if (outstanding->add(*operation)) {
        operation->begin_at_once();
    } else {
        progress_of(comm).poll(); // too many are under way: some of them may end
    }
    return MPI_SUCCESS;
}

Effort Engine::effort_of(const Call& call) noexcept {
    return call.info == nullptr
        ? Effort::bind
        : unless_out_of_memory(Effort::bind, [&] { return _effort_key.read(call.info, init_name(call.function)); });
}

int Engine::init(Module& module, const Call& call, Communicator& comm, Request** request) noexcept {
    Outstanding* outstanding = outstanding_of(comm);
    if (outstanding == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    Operation* operation = nullptr;
    if (const int code = plan(module, call, comm, Form::persistent, &operation); code != MPI_SUCCESS) {
        return code;
    }
    const Effort effort = effort_of(call);
    int tag = 0;
    if (const int code = outstanding->take_persistent_tag(comm, &tag); code != MPI_SUCCESS) {
        operation->recycle();
        return code;
    }
    operation->set_tag(tag);
    int code = operation->bind_messages(bound_messages(effort));
    if (code == MPI_SUCCESS) {
        code = operation->bind_jointly(module, call, effort != Effort::plan);
    }
    if (code != MPI_SUCCESS) {
        outstanding->give_back_persistent_tag(tag);
        operation->recycle();
        return code;
    }
    if (_checker != nullptr && comm.view == nullptr) [[unlikely]] {
        operation->gate = _checker->look_at(call, Form::persistent, comm);
        operation->calls_back = operation->gate != nullptr && operation->gate->follows_completion();
    }
    // The checking mode would compare calls that the program has not made.
    if (_checker == nullptr && Trials::are_possible(module, call, comm)) {
        if (const int code = Trials(*this, module, call, comm, effort).run(&operation); code != MPI_SUCCESS) {
            operation->recycle();
            return code;
        }
    }
    *request = operation;
    return MPI_SUCCESS;
}

int plan_part(const Call& call, Communicator& comm, Schedule& schedule) noexcept {
    const Schedule::On on(schedule, comm);
    Module* module =
        comm.coll->find(call.function, schedule.form() == Form::persistent ? Form::persistent : Form::nonblocking);
    return module->plan(call, schedule);
}

void Engine::forget(Communicator& comm) noexcept {
    Module::forget(comm);
    delete std::exchange(comm.outstanding, nullptr);
}

} // namespace patchbay::coll
