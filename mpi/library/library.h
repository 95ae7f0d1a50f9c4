// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/lifetime/lease.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/process_state.h"

#include <atomic>
#include <memory>

namespace [[gnu::visibility("default")]] patchbay {

class World;

// The right to use the instance; whoever holds one may call it.
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
    Lease _core; // declared first: released last
    Lease _users;
    Instance* _instance = nullptr;
    User _user;
};

// The root of everything. The C interface passes no context, so there is one per process, library(); all else gets what
// it needs by reference, and a test may have a root of its own.
class Library {
public:
    Library();
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    // The instance, brought up for the first lease and taken down after the last one. `thread_level`: MPI_THREAD_*.
    // An error leaves nothing behind; a later call tries again. Thread-safe.
    Result<InstanceLease> acquire(int thread_level);
    // Parameters and the list of components alone, for tools that want no more.
    Result<Lease> acquire_core();
    Core* core() noexcept { return _core.get(); }

    // The instance while there is one, else nullptr. Only somebody else's lease keeps it there.
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

// Prints what parameter `explain` asks for and has not been printed yet; once per job.
void print_explanation(Core& core);

} // namespace patchbay
