// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/progress/doorbell.h"
#include "core/progress/lock.h"
#include "core/progress/ready_list.h"
#include "core/progress/thread_level_upgrade.h"
#include "core/progress/wait_policy.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

class DescriptorSet;
class Progress;

// Looks for work once and returns how many events it handled. Must not block.
using PollFunction = int (*)(void* context) noexcept;

inline constexpr std::chrono::nanoseconds sleeps_well = std::chrono::nanoseconds::max();

// The registration of one poller; ends with reset() or with the handle.
class PollerHandle {
public:
    PollerHandle() = default;
    PollerHandle(PollerHandle&& other) noexcept
        : _progress(std::exchange(other._progress, nullptr)),
          _slot(std::exchange(other._slot, nullptr)) {}
    PollerHandle& operator=(PollerHandle&& other) noexcept {
        if (this != &other) {
            reset();
            _progress = std::exchange(other._progress, nullptr);
            _slot = std::exchange(other._slot, nullptr);
        }
        return *this;
    }
    ~PollerHandle() { reset(); }

    // The poller is not started again. May be called from inside a poller, its own included, and never blocks. With
    // several threads a call that another thread began earlier may still run: call Progress::quiesce() before the
    // context is destroyed.
    void reset() noexcept;
    explicit operator bool() const noexcept { return _slot != nullptr; }

private:
    friend class Progress;
    PollerHandle(Progress* progress, void* slot) noexcept
        : _progress(progress),
          _slot(slot) {}
    Progress* _progress = nullptr;
    void* _slot = nullptr;
};

// The pollers of one process and the state of its waits (core/progress/waiter.h).
class Progress {
public:
    // Who polls: any thread, of which one at a time does where there are several, or only the thread to which this
    // Progress belongs. Where it is threaded, others may link ready items and ring the bell in both cases.
    enum class PolledBy : bool { any_thread, own_thread };

    explicit Progress(
        bool threaded = false, const WaitPolicy& policy = {}, PolledBy polled_by = PolledBy::any_thread) noexcept;
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Thread-level upgrade: several threads may call from now on. Another thread may be anywhere in
    // the library at that time, also asleep in a wait. Not to be called from inside a poller. Each thread that begins
    // to use the library beside another one calls this first, even when it was called before: it returns when all other
    // threads lock.
    void enable_threads() noexcept;
    // Undoes it, where no other thread is in the library and none comes without calling enable_threads() first. Nothing
    // happens where sleeps need the locks anyway.
    void disable_threads() noexcept;
    bool threaded() const noexcept { return _threads.on(); }
    // For the locks of pollers, and of other objects that a single thread uses until then.
    ThreadLevelUpgrade& threads() noexcept { return _threads; }

    // A poller is registered only while there may be work for it. Work that arrives from outside must ring this
    // process's doorbell; a poller for work that cannot ring it gives the longest time between two polls
    // (`longest_sleep`), and no wait sleeps longer. May be called from inside a poller.
    PollerHandle add_poller(PollFunction poll, void* context, std::chrono::nanoseconds longest_sleep = sleeps_well);

    // Calls every poller once, then runs what is in the ready list; returns the number of events. With several threads
    // only one polls at a time: a second one returns 0 at once. A poller that calls poll() (through a callback) is
    // itself called again: it must either bear that or return 0.
    int poll() noexcept {
        bool outer;
        if (!_polling_alone.enter_again(outer)) [[unlikely]] {
            return poll_exclusively();
        }
        const int events = poll_each();
        _polling_alone.leave_to(outer);
        return events;
    }

    // Calls run() as a poll would, with no other poll at the same time, where that takes no lock: below several
    // threads, or where only its own thread polls. false: it was not called, and the caller links a ready item in its
    // place.
    template <class Run>
    bool run_alone(const Run& run) noexcept {
        bool outer;
        if (!_polling_alone.enter_again(outer)) [[unlikely]] {
            return false;
        }
        run();
        _polling_alone.leave_to(outer);
        return true;
    }

    // Whether the calling thread is in a poll, or in run_alone(): a function of the program that one of them calls.
    bool is_in_poll() const noexcept;

    // Returns when no poll that another thread began before this call is still running. Call it without locks that a
    // poller takes. Inside a poller, and where only one thread polls, it returns at once.
    void quiesce() noexcept;

    // A thread that is a rank of a thread communicator has a Progress of its own beside that of the process. From
    // begin_beside() to end_beside() its waits and tests on this one go on with that one, too, because the peers of
    // both may wait for this thread. Both are called by that thread, at most once each, and `own` exists until then.
    void begin_beside(Progress& own) noexcept;
    void end_beside() noexcept;
    // Whether any thread has one beside this one.
    bool has_beside() const noexcept { return _beside.load(std::memory_order_relaxed) != 0; }
    // Whether this is such a thread's.
    bool is_beside() const noexcept { return _is_beside; }
    // That of the calling thread; nullptr: it has none.
    Progress* beside() const noexcept;
    // Polls it, if there is one.
    int poll_beside() noexcept;

    // Operations that wait for others (continuation.h) are run from this list instead of having a poller each.
    ReadyList& ready_list() noexcept { return _ready; }

    // Calls change(threaded()), during which the thread level does not change: `change` may use plain loads and stores
    // instead of atomic operations when it gets false. Inside a poller, and with a ProgressLock of threads() held, the
    // level does not change either. `change` must not block, poll or call a function of the program.
    template <class Change>
    void with_thread_level(const Change& change) noexcept {
        bool outer;
        if (_changing_alone.enter_again(outer)) [[likely]] {
            change(false);
            _changing_alone.leave_to(outer);
        } else {
            change(true);
        }
    }

    // The bell on which this process sleeps: process-private until shared memory is there. Only while no wait sleeps.
    void set_doorbell(Doorbell* bell) noexcept { _bell.store(bell ? bell : &_private_bell); }
    Doorbell& doorbell() noexcept { return *_bell.load(std::memory_order_acquire); }

    // Something that a wait of this process looks at has changed: ends its sleep. Callable from any thread (that of
    // the PMIx library, say), also below MPI_THREAD_MULTIPLE.
    void wake() noexcept;

    // For a poller whose work arrives in descriptors: no wait sleeps while one of them is readable. An epoll descriptor
    // stands for many. The process sleeps in ppoll(2) as long as there is one, so that a ring of its doorbell takes its
    // caller a few system calls more; without any, nothing changes. Callable from any thread, also from inside a
    // poller. Errc::system: the text has the cause.
    Status watch(int fd);
    // Before the descriptor is closed.
    void unwatch(int fd) noexcept;

    // How often waits of this process have slept, and how many nanoseconds in total.
    std::uint64_t sleeps() const noexcept { return _sleeps.load(std::memory_order_relaxed); }
    std::uint64_t asleep_ns() const noexcept { return _asleep_ns.load(std::memory_order_relaxed); }

    // What a wait does now. It may change while the wait lasts (share_core).
    const WaitPolicy& policy() const noexcept { return *_policy.load(std::memory_order_relaxed); }
    // Whether the threads that wait have cores to share: then waits do not spin, whatever the policy that was given to
    // the constructor. Callable from any thread.
    void share_core(bool share) noexcept {
        _policy.store(share ? &_policy_on_shared_core : &_policy_on_own_core, std::memory_order_relaxed);
    }
    // false: the kernel refuses membarrier, sleeps are bounded by WaitPolicy::unfenced_sleep.
    bool sleeps_are_fenced() const noexcept { return _fenced; }
    // Set when the node's shared memory has shown that a peer's kernel refuses membarrier.
    void set_sleeps_fenced(bool fenced) noexcept { _fenced = fenced; }

private:
    friend class PollerHandle;
    friend struct WaitAccess;

    struct Slot {
        std::atomic<PollFunction> poll;
        std::atomic<void*> context; // read together with poll_nothing while its next owner writes it
        std::int64_t longest_sleep_ns;
        std::uint64_t retired_in; // the epoch in which it was removed; 0: never used
        bool in_use;
    };
    static constexpr std::uint32_t block_slots = 16;
    // Slots never move, so that pollers can be added and removed while another thread walks over them.
    struct Block {
        std::atomic<std::uint32_t> used{0};
        std::atomic<Block*> next{nullptr};
        Slot slots[block_slots];
        Block() noexcept;
    };

    int poll_each() noexcept {
        // Most processes have one poller, that of their transports. A slot without one has poll_nothing.
        int events = call(_first.slots[0]);
        if (_first.used.load(std::memory_order_acquire) > 1 || _first.next.load(std::memory_order_relaxed) != nullptr)
            [[unlikely]] {
            events += poll_others();
        }
        // Behind the pollers, so that the operation that one of them completes is followed up in the same poll.
        if (!_ready.empty()) [[unlikely]] {
            events += _ready.run(threaded());
        }
        return events;
    }
    static int call(Slot& slot) noexcept {
        const PollFunction poll = slot.poll.load(std::memory_order_acquire);
        return poll(slot.context.load(std::memory_order_relaxed));
    }
    int poll_others() noexcept; // all but the first one
    static constexpr int busy = -1;
    int try_poll() noexcept; // as poll(), but `busy` when another thread polls
    int poll_exclusively() noexcept;
    Slot* find_free_slot();
    bool sleep(Doorbell& bell, std::uint32_t seq, std::chrono::nanoseconds limit) noexcept;
    void remove(Slot* slot) noexcept;
    void update_longest_sleep() noexcept;

    Block _first;
    bool _fenced = true;
    ThreadLevelUpgrade _threads;
    SingleThreadSection _polling_alone; // a poll while there is but one thread that may
    SingleThreadSection _sleeping_alone;
    SingleThreadSection _changing_alone; // with_thread_level()
    ReadyList _ready;
    std::atomic<const WaitPolicy*> _policy{&_policy_on_own_core};
    std::atomic<Doorbell*> _bell;
    std::atomic<std::int64_t> _longest_sleep_ns;
    ProgressLock _list_lock; // held for moments: never while a poller runs
    // Odd while a thread polls, where several threads may. The one that has made it odd polls, and makes it even.
    std::atomic<std::uint64_t> _epoch{2};
    std::atomic<std::uintptr_t> _polling_thread{0};
    std::atomic<std::uint32_t> _beside{0}; // threads between begin_beside() and end_beside()
    bool _is_beside = false;
    const PolledBy _polled_by;
    std::atomic<std::uint32_t> _awake_waiters{0};      // threads in a slow wait that do not sleep
    std::atomic<DescriptorSet*> _descriptors{nullptr}; // made for the first one
    std::atomic<std::uint64_t> _sleeps{0};
    std::atomic<std::uint64_t> _asleep_ns{0};
    const WaitPolicy _policy_on_own_core;
    const WaitPolicy _policy_on_shared_core;
    Doorbell _private_bell;
};

} // namespace patchbay
