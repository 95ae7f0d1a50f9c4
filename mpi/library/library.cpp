// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library/library.h"

#include "core/base/out_of_memory.h"
#include "core/component/static_components.h"
#include "core/log.h"
#include "core/runtime/runtime.h"
#include "mpi/instance/handle_faults.h"
#include "mpi/instance/settings.h"
#include "mpi/library/instance_builder.h"
#include "mpi/library/world.h"

#include <cstdio>

namespace patchbay {

Settings settings;

InstanceLease::InstanceLease(InstanceLease&& other) noexcept
    : _core(std::move(other._core)),
      _users(std::move(other._users)),
      _instance(std::exchange(other._instance, nullptr)),
      _user(other._user) {}

InstanceLease& InstanceLease::operator=(InstanceLease&& other) noexcept {
    if (this != &other) {
        release();
        _core = std::move(other._core);
        _users = std::move(other._users);
        _instance = std::exchange(other._instance, nullptr);
        _user = other._user;
    }
    return *this;
}

void InstanceLease::release() noexcept {
    if (_instance != nullptr) {
        std::exchange(_instance, nullptr)->remove_user(_user);
    }
    _users.release();
    _core.release();
}

Library::Library()
    : _world(std::make_unique<World>(*this)) {}
Library::~Library() = default;

Result<Lease> Library::acquire_core() {
    return _core_users.acquire([this](CleanupStack& cleanup) -> Status {
        auto core = Core::create(static_components());
        if (!core) {
            return core.error();
        }
        _core = std::move(*core);
        cleanup.push([this] { _core.reset(); });
        return {};
    });
}

Result<InstanceLease> Library::acquire(int thread_level) {
    auto core = acquire_core();
    if (!core) {
        return core.error();
    }
    InstanceLease lease;
    lease._core = std::move(*core);
    auto users = _instance_users.acquire(
        [this, thread_level](CleanupStack& cleanup) { return start(thread_level, cleanup); }, &_core->faults);
    if (!users) {
        return users.error();
    }
    lease._users = std::move(*users);
    lease._user = {thread_level, this_thread_id()};
    instance()->add_user(lease._user);
    lease._instance = instance();
    return lease;
}

namespace {

void apply_settings(const ParamRegistry& params) {
    using Behaviour = Errhandler::Behaviour;
    const Behaviour by_choice[] = {Behaviour::fatal, Behaviour::abort, Behaviour::give_back};
    settings.check_arguments.store(params.at("mpi_param_check").as_bool());
    settings.initial_errhandler.store(by_choice[params.at("mpi_initial_errhandler").as_enum()]);
}

void reset_settings() {
    settings.check_arguments.store(true);
    settings.initial_errhandler.store(Errhandler::Behaviour::fatal);
}

} // namespace

Status Library::start(int thread_level, CleanupStack& cleanup) {
    auto* instance = new Instance(*_core, _process_state, thread_level);
    cleanup.push([this, instance] {
        _instance.store(nullptr, std::memory_order_release);
        delete instance;
    });
    const Status built = unless_out_of_memory([&] { return InstanceBuilder(*instance, cleanup).build(); });
    const auto abandon = [instance] {
        if (instance->core().runtime != nullptr) {
            instance->core().runtime->abandon();
        }
    };
    if (!built) {
        abandon();
        return built;
    }
    _instance.store(instance, std::memory_order_release);
    apply_settings(_core->params);
    cleanup.push(reset_settings);
    if (_core->params.at("mpi_check_addresses").as_bool()) {
        if (Status handled = survive_handle_faults(); !handled) {
            abandon();
            return handled;
        }
        cleanup.push(stop_surviving_handle_faults);
    }
    cleanup.push([this] { print_explanation(*_core); });
    return {};
}

Library& library() noexcept {
    // This object is never destroyed, because a program may call MPI in its static destructors.
    static auto* const root = new Library;
    return *root;
}

void print_explanation(Core& core) {
    if (!log_speaks_for_job()) {
        return;
    }
    if (const std::string text = core.take_explanation(); !text.empty()) {
        std::fputs(text.c_str(), stderr);
    }
}

} // namespace patchbay
