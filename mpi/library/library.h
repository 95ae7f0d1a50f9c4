// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/lifetime/lease.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/process_state.h"

#include <atomic>
#include <memory>

namespace [[gnu::visibility("default")]] patchbay {

class World;

// A lease on the instance: it keeps the instance initialized while it exists.
class [[nodiscard]] InstanceLease {
public:
    InstanceLease() = default;
    InstanceLease(InstanceLease&& other) noexcept;
    InstanceLease& operator=(InstanceLease&& other) noexcept;
    ~InstanceLease() { release(); }
    Instance& instance() const noexcept { return *_instance; }
    explicit operator bool() const noexcept { return _instance != nullptr; }
    const User& user() const noexcept { return _user; }
    void release() noexcept;

private:
    friend class Library;
    Lease _core; // declared first, so that it is released last
    Lease _users;
    Instance* _instance = nullptr;
    User _user;
};

// The root object, which owns the instance and the world model. The C interface passes no context, so that there is one
// global object, library(). All other objects are passed by reference, and a test may construct a Library of its own.
class Library {
public:
    Library();
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    // Returns a lease on the instance. The first lease initializes the instance, and the release of the last one
    // finalizes it. `thread_level`: MPI_THREAD_*. An error undoes all steps; a later call tries again. Thread-safe.
    Result<InstanceLease> acquire(int thread_level);
    // Returns a lease on the core only, for tools that need the parameters and the list of components.
    Result<Lease> acquire_core();
    Core* core() noexcept { return _core.get(); }

    // The instance, or nullptr where there is none. The caller must know of a lease that keeps it initialized.
    Instance* instance() noexcept { return _instance.load(std::memory_order_acquire); }
    World& world() noexcept { return *_world; }

private:
    Status start(int thread_level, CleanupStack& cleanup);

    Subsystem _core_users{"core"};
    Subsystem _instance_users{"instance"};
    std::unique_ptr<Core> _core;
    ProcessState _process_state;
    std::atomic<Instance*> _instance{nullptr};
    std::unique_ptr<World> _world;
};

Library& library() noexcept;

// Prints the decisions that parameter `explain` requests and that have not been printed yet. One process of the job
// prints them.
void print_explanation(Core& core);

} // namespace patchbay
