// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/threads/carrier.h"
#include "mpi/threads/engine.h"
#include "mpi/threads/process_polls.h"
#include "mpi/threads/thread_context.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::threads {

// The time of one thread communicator between the start and the finish of its threads: the threads of this process, and
// where all ranks are. Its threads keep it.
class Activation {
public:
    explicit Activation(int threads);

    // Whether the calling thread gets a number: the first calls do, one for each thread. One caller at a time.
    bool join(int* number) noexcept;
    int threads() const noexcept { return int(_threads.size()); }
    int joined() const noexcept;

    // Makes the engine of a thread, in its context. Throws std::bad_alloc.
    void make_engine(int number, std::shared_ptr<ThreadContext> context, Carrier* carrier);
    void drop_engine(int number) noexcept;
    const ThreadContext& context(int number) const noexcept { return *_threads[std::size_t(number)].context; }
    Engine& engine(int number) noexcept { return *_threads[std::size_t(number)].engine; }
    std::span<Engine* const> engines() const noexcept { return _engines; }

    // Before is_last_to_be_ready(): the thread cannot start, so that none will.
    void refuse(int code) noexcept;
    // Of any thread, when all are ready.
    int refused() const noexcept { return _refused.load(std::memory_order_acquire); }
    // Called by each thread when it has its engine, or an error: true for the last one, which calls give_up(), or
    // claim_start() and then started(), next.
    bool is_last_to_be_ready() noexcept;
    // false: another thread has waited for too long, and the start is given up. Otherwise it cannot be any more.
    bool claim_start() noexcept;
    void started() noexcept;
    // Waits for that. false: it did not happen within `limit`, or was given up, and then it never does.
    bool wait_for_start(int number, std::chrono::nanoseconds limit) noexcept;
    // The start is given up, unless it has happened. Returns whether it has not.
    bool give_up() noexcept;

    // A context that no other communicator of the activation has, in any process; 0, which is that of the thread
    // communicator itself: there are none left. Called by rank 0 of the new communicator's parent, or of its group, for
    // all members. On any thread.
    std::uint32_t take_context() noexcept;

    // The team of the members of an intracommunicator that are threads of this process, for each of them in turn.
    // Throws std::bad_alloc.
    std::shared_ptr<coll::ThreadTeam> join_team(std::uint32_t context, const Members& members);

    // The threads wait for each other at the end, each with an MPI code. true for the last one: *code is the first
    // error of all, and it calls release() next. The others wait in here, and *code is what release() was called with.
    bool gather(int number, int* code) noexcept;
    void release(int code) noexcept;

    // The rank in the thread communicator of a member of any communicator of the activation.
    int rank_of(const Member& member) const noexcept {
        return first_ranks[std::size_t(member.process)] + member.thread;
    }

    // Set by the last thread before started().
    std::shared_ptr<const Members> members;
    std::vector<ProcessId> processes; // of the ranks
    std::vector<int> first_ranks;     // of each process of the parent: the rank of its first thread
    int process = 0;                  // this one's rank in the parent of the thread communicator
    int process_count = 1;
    ProcessPolls process_polls; // open from the start to the finish, unless there is a carrier

private:
    enum class State { gathering, claimed, started, given_up };
    struct Thread {
        std::shared_ptr<ThreadContext> context;
        std::unique_ptr<Engine> engine;
        Carrier* carrier = nullptr;
        ProcessPolls* process_polls = nullptr;
        PollerHandle poller;
    };
    // A team that some of its members have joined. It is kept for the others: the first ones may have used the
    // communicator and freed it before the last one comes.
    struct Gathering {
        std::uint32_t context;
        int first; // the thread that comes first: members of one split have the same context
        int missing;
        std::shared_ptr<coll::ThreadTeam> team;
    };
    bool is_decided() const noexcept;
    static int poll(void* thread) noexcept;
    void wake_all() noexcept;

    std::vector<Thread> _threads;
    std::vector<Engine*> _engines;
    std::mutex _teams_mutex; // protects the list
    std::vector<Gathering> _teams;
    std::atomic<std::uint64_t> _contexts{0}; // that take_context() has returned
    std::atomic<int> _joined{0};
    std::atomic<int> _ready{0};
    std::atomic<int> _refused{MPI_SUCCESS};
    std::atomic<State> _state{State::gathering};
    std::atomic<int> _gathered{0};
    std::atomic<int> _error;
    std::atomic<std::uint32_t> _round{0};
    int _result; // of the round; written before it ends
};

} // namespace patchbay::threads
