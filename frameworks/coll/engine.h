// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"
#include "core/progress/progress.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/effort.h"
#include "frameworks/coll/scratch.h"
#include "object/released_list.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace [[gnu::visibility("default")]] patchbay {

struct Core;

namespace coll {

class CallChecker;
class ChannelBinder;
class Operation;

// Runs the plans of modules. One per instance; every table refers to it. Thread-safe. Functions return MPI codes.
//
// An operation is a request (operation.h). Its steps run in polls of the process, and nowhere else: a message that is
// complete links its step into the ready list of Progress, and the next poll runs the steps that waited for it. So a
// poll costs nothing for operations in which nothing has happened, however many there are.
class Engine {
public:
    explicit Engine(Core& core) noexcept
        : _core(core) {}
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Plans and runs an operation; returns its code. The cause of an error is noted. Blocks.
    int run(Module& module, const Call& call, Communicator& comm) noexcept;
    // Plans and starts a nonblocking operation; the plan may be that of an earlier call. The request keeps the
    // communicator, the datatypes and the op until it is released. Never blocks. Called in the same order by all
    // members of the communicator. After an error the operation has not begun, and the next call may be the same one
    // again; that is true for init(), too.
    int start(Module& module, const Call& call, Communicator& comm, Request** request) noexcept;
    // Plans a persistent operation; the request is inactive. A start of it may be in another order than in other
    // members; it allocates no memory, unless the call's info has patchbay_effort = 0 (effort.h). Called in the same
    // order by all members. May block: it is not local.
    int init(Module& module, const Call& call, Communicator& comm, Request** request) noexcept;

    // Waits until each persistent operation of the session (nullptr: of the world model) is complete whose request was
    // freed while it was active: other members wait for this one's part of it. Blocks. Called before the session's
    // communication ends.
    void wait_for_freed(const Session* session) noexcept;
    // The same for those on communicators for which is_one() is true, all of which belong to the calling thread.
    void wait_for_freed(
        Progress& of_thread, const Session* session, const std::function<bool(const Communicator&)>& is_one) noexcept;

    // Before the first operation; nullptr: none, which is the default (gate.h).
    void set_checker(CallChecker* checker) noexcept { _checker = checker; }
    // What CallChecker::compare_constructor() returns; MPI_SUCCESS without a checker, and where the ranks are threads.
    int compare_constructor(const char* function, Communicator& comm) noexcept;
    // Before the first operation, in all processes or in none; nullptr: no messages are carried by channels, which is
    // the default. nullptr again after the last operation, in any case: that ends the poller, too.
    void set_binder(ChannelBinder* binder) noexcept;

    // Temporary memory of operations, in whatever form.
    ScratchPool& scratch_pool() noexcept { return _scratch; }

    // Called when the last reference to a communicator has gone.
    static void forget(Communicator& comm) noexcept;

private:
    friend class Operation;
    friend class Trials;
    static constexpr std::size_t most_kept = 64;
    static constexpr int most_kept_plans = 256;

    Progress& progress() noexcept;
    // That of a rank that is a thread, otherwise that of the process.
    Progress& progress_of(const Communicator& comm) noexcept;
    Operation* take(Communicator& comm, Form form) noexcept;
    void give_back(Operation* operation) noexcept;
    // Has the communicator of a complete operation keep it for the same call. false: there are too many.
    bool keep(Operation& operation) noexcept;
    int plan(Module& module, const Call& call, Communicator& comm, Form form, Operation** planned) noexcept;
    Effort effort_of(const Call& call) noexcept;
    // In a poll, or where there can be none on another thread.
    void add_watched(Operation& operation) noexcept;
    void remove_watched(Operation& operation) noexcept;
    int poll_watched() noexcept;

    Core& _core;
    CallChecker* _checker = nullptr;
    ChannelBinder* _binder = nullptr;
    // The operations that wait for messages of channels, which complete only where somebody looks. The poller exists
    // while there are any and for a while afterwards; it sees to them while the process waits for something else.
    Operation* _watched = nullptr;
    Operation* _next_watched = nullptr; // to be visited by the poll that is under way
    bool _polls_watched = false;
    int _empty_polls = 0; // since the last of them ended
    PollerHandle _watcher;
    ScratchPool _scratch;
    EffortKey _effort_key;
    ReleasedList _released;          // operations whose requests were freed while they were active
    ProgressLock _lock{true};        // protects the list of the unused ones
    Operation* _unused = nullptr;    // operations that keep their memory for the next one
    std::size_t _unused_count = 0;   // at most most_kept
    std::atomic<int> _kept_plans{0}; // of all communicators, at most most_kept_plans
};

} // namespace coll
} // namespace patchbay
