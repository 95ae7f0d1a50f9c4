// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/library/library.h"
#include "object/session.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

namespace [[gnu::visibility("default")]] patchbay {

// The world model (MPI-5.0, 11.2): an internal session and, in addition, MPI_COMM_WORLD, MPI_COMM_SELF and
// MPI_INFO_ENV. It can be initialized once per process. Thread-safe.
class World {
public:
    explicit World(Library& library) noexcept
        : _library(library) {}
    ~World();

    // `required`: MPI_THREAD_*. Errc::invalid: it has been called before. After any other error all steps are undone,
    // and it may be called again.
    Status init(int required);
    // Collective over MPI_COMM_WORLD. Returns an MPI code, for example that of a deletion callback of MPI_COMM_SELF.
    int finalize();

    // The results of MPI_Initialized and MPI_Finalized. Neither becomes false again.
    bool initialized() const noexcept { return _state.load(std::memory_order_acquire) >= State::running; }
    bool finalized() const noexcept { return _state.load(std::memory_order_acquire) == State::finished; }
    bool running() const noexcept { return _state.load(std::memory_order_acquire) == State::running; }

    // These are valid while running() is true.
    Instance& instance() noexcept { return *_session->instance; }
    Communicator& world() noexcept { return *_world; }
    Communicator& self() noexcept { return *_self; }
    // The result of MPI_Comm_get_parent; nullptr: the job was not spawned, or the program has freed it.
    Communicator* parent() const noexcept { return _parent.load(std::memory_order_acquire); }
    // The program has freed or disconnected a communicator.
    void forget(const Communicator* comm) noexcept;
    bool is_main_thread() const noexcept { return std::this_thread::get_id() == _main_thread; }
    int thread_level() const noexcept { return _session->thread_level; }
    // The thread that called MPI_Init.
    ThreadId opener() const noexcept { return _session->lease->user().thread; }

private:
    enum class State : std::uint8_t { fresh, starting, running, finished };
    Status start(CleanupStack& cleanup);
    Status make_communicators(CleanupStack& cleanup);
    Status connect_to_parent();
    int synchronize();

    Library& _library;
    std::mutex _mutex;                          // init and finalize
    std::atomic<std::thread::id> _finalizing{}; // the thread that is in finalize(), whose callbacks may call MPI
    std::atomic<State> _state{State::fresh};
    Ref<Session> _session; // internal: the `session` of world model objects is null
    std::unique_ptr<CleanupStack> _cleanup;
    Communicator* _world = nullptr;
    Communicator* _self = nullptr;
    std::atomic<Communicator*> _parent{nullptr}; // the reference is that of the handle
    bool _all_fail = false; // init() fails in all processes of the job, which may end without the job of their parents
    std::thread::id _main_thread;
};

} // namespace patchbay
