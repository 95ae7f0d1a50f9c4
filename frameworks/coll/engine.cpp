// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/engine.h"

#include "core/core.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/operation.h"
#include "frameworks/coll/outstanding.h"
#include "frameworks/coll/tags.h"
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

Operation* Engine::take(Communicator& comm, Form form) noexcept {
    Operation* operation = nullptr;
    {
        std::lock_guard lock(_lock);
        if (_unused != nullptr) {
            operation = std::exchange(_unused, _unused->next);
            --_unused_count;
        }
    }
    if (operation == nullptr) {
        operation = new (std::nothrow) Operation(*this, progress());
    }
    if (operation != nullptr) {
        operation->set_up(comm, form);
    }
    return operation;
}

void Engine::give_back(Operation* operation) noexcept {
    {
        std::lock_guard lock(_lock);
        if (_unused_count < most_kept) {
            ++_unused_count;
            operation->next = std::exchange(_unused, operation);
            return;
        }
    }
    delete operation;
}

int Engine::plan(Operation& operation, Module& module, const Call& call) noexcept {
    const int code = module.plan(call, operation.schedule);
    return code == MPI_SUCCESS ? operation.prepare() : code;
}

int Engine::run(Module& module, const Call& call, Communicator& comm) noexcept {
    Operation* operation = take(comm, Form::blocking);
    if (operation == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    operation->set_tag(tag_of(call.function));
    int code = plan(*operation, module, call);
    if (code == MPI_SUCCESS) {
        operation->start();
        wait_until(progress(), [operation] { return operation->is_complete(); });
        code = operation->error;
        if (code != MPI_SUCCESS) {
            note_cause(code, operation->cause());
        }
    }
    operation->recycle();
    return code;
}

int Engine::start(Module& module, const Call& call, Communicator& comm, Request** request) noexcept {
    Outstanding* outstanding = outstanding_of(comm);
    if (outstanding == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    Operation* operation = take(comm, Form::nonblocking);
    if (operation == nullptr) {
        outstanding->skip();
        return MPI_ERR_NO_MEM;
    }
    int code = plan(*operation, module, call);
    if (code == MPI_SUCCESS) {
        code = operation->hold(call);
    }
    if (code != MPI_SUCCESS) {
        outstanding->skip();
        operation->recycle();
        return code;
    }
    *request = operation;
    operation->activate();
    if (outstanding->add(*operation)) {
        operation->begin();
    }
    progress().poll(); // sends the first messages before the caller continues its computation
    return MPI_SUCCESS;
}

int Engine::init(Module& module, const Call& call, Communicator& comm, Request** request) noexcept {
    Outstanding* outstanding = outstanding_of(comm);
    if (outstanding == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    int code = MPI_SUCCESS;
    const int tag = outstanding->take_persistent_tag(comm, &code);
    if (code != MPI_SUCCESS) {
        return code;
    }
    Operation* operation = take(comm, Form::persistent);
    if (operation == nullptr) {
        outstanding->free_persistent_tag(tag);
        return MPI_ERR_NO_MEM;
    }
    operation->set_tag(tag);
    code = plan(*operation, module, call);
    if (code == MPI_SUCCESS) {
        code = operation->hold(call);
    }
    if (code != MPI_SUCCESS) {
        operation->recycle();
        return code;
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
    delete std::exchange(comm.outstanding, nullptr);
}

} // namespace patchbay::coll
