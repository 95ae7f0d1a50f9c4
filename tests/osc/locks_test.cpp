// SPDX-License-Identifier: BSD-3-Clause
// The locks of osc/sm between processes that sleep while they wait: mutual exclusion, fairness, readers that hold the
// lock together, and no wake-up that is lost.
#include "components/common/process_end.h"
#include "components/osc/sm/control.h"
#include "components/osc/sm/waits.h"
#include "tests/core_runtime/processes.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace patchbay::osc::sm {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t most = 16;

struct Shared {
    RwLock lock;
    ElementLock elements;
    std::atomic<std::uint32_t> waiters[most];
    std::atomic<std::uint32_t> wants[most];
    Doorbell bells[most];
    // Changed with the lock held, by plain loads and stores.
    alignas(64) std::uint64_t counter;
    std::uint64_t mirror;
    alignas(64) std::atomic<std::uint32_t> readers;
    std::atomic<std::uint32_t> most_readers;
    std::atomic<std::uint32_t> ready;
    std::atomic<std::uint32_t> phase;
    std::atomic<std::uint32_t> entries[most];
    std::atomic<bool> broken;
};

// Nothing but a doorbell ends a wait: a wake-up that is lost is a hang, which ends the test.
WaitPolicy always_sleep() {
    WaitPolicy policy;
    policy.spin = 0ns;
    policy.yield = 0ns;
    policy.first_polls = 1;
    policy.longest_sleep = 24h;
    return policy;
}

// As in a job with more processes than cores.
WaitPolicy shares_cores() {
    WaitPolicy policy = always_sleep();
    policy.yield = 20us;
    return policy;
}

class Member {
    TicketQueue queue() {
        const Waits waits(_progress);
        return {
            _shared.waiters, _size, _rank, waits.shares_cores() ? on_shared_cores : on_own_cores, waits.first_looks()};
    }
    // Without the look after failed processes, which would end a sleep as well.
    auto wait() {
        return [this](const auto& done) {
            wait_until(_progress, done);
            return 0;
        };
    }
    auto ring() {
        return [this](std::uint32_t rank) { _shared.bells[rank].notify(); };
    }

public:
    Member(Shared& shared, std::uint32_t rank, std::uint32_t size, const WaitPolicy& policy)
        : _shared(shared),
          _rank(rank),
          _size(size),
          _progress(false, policy) {
        EXPECT_TRUE(register_all_cores_barrier());
        _progress.set_doorbell(&shared.bells[rank]);
    }
    ~Member() { _progress.set_doorbell(nullptr); }

    std::uint32_t rank() const { return _rank; }
    Shared& shared() const { return _shared; }
    Progress& progress() { return _progress; }

    void lock_shared() { EXPECT_EQ(_shared.lock.lock_shared(queue(), wait(), _turn, ring()), 0); }
    void unlock_shared() { _shared.lock.unlock_shared(queue(), ring()); }
    void lock() { EXPECT_EQ(_shared.lock.lock_exclusive(queue(), wait(), _turn), 0); }
    void unlock() { _shared.lock.unlock_exclusive(queue(), _turn, ring()); }
    void lock_elements() { EXPECT_EQ(_shared.elements.lock(_rank, _shared.wants, wait()), 0); }
    void unlock_elements() { _shared.elements.unlock(_rank, _shared.wants, _size, ring()); }

    // Waits until all members have come here.
    void meet(std::uint32_t phase) {
        if (_shared.ready.fetch_add(1) + 1 == phase * _size) {
            _shared.phase.store(phase);
        }
        while (_shared.phase.load() < phase) {
            usleep(200);
        }
    }

private:
    Shared& _shared;
    const std::uint32_t _rank;
    const std::uint32_t _size;
    Turn _turn;
    Progress _progress;
};

template <class Body>
Shared& run(std::uint32_t processes, const WaitPolicy& policy, const Body& body) {
    auto* shared = test::shared_memory<Shared>();
    EXPECT_TRUE(test::run_processes(int(processes), 60, [&](int rank) {
        Member member(*shared, std::uint32_t(rank), processes, policy);
        body(member);
        return !::testing::Test::HasFailure();
    }));
    EXPECT_FALSE(shared->broken.load());
    return *shared;
}

// The time in which others ask for the lock; `round` decides whether they come to sleep.
void hold(unsigned round) {
    if (round % 64 == 0) {
        usleep(300);
    } else if (round % 8 == 0) {
        sched_yield();
    }
}

void add_one(Shared& shared, unsigned round) {
    const std::uint64_t before = shared.counter;
    hold(round);
    shared.counter = before + 1;
    if (shared.mirror != before) {
        shared.broken.store(true);
    }
    shared.mirror = before + 1;
}

void exclude(std::uint32_t processes, unsigned rounds, const WaitPolicy& policy) {
    Shared& shared = run(processes, policy, [&](Member& member) {
        for (unsigned i = 0; i < rounds; ++i) {
            if ((i + member.rank()) % 3 != 0) {
                member.lock();
                add_one(member.shared(), i);
                member.unlock();
                continue;
            }
            member.lock_shared();
            const std::uint64_t before = member.shared().counter;
            hold(i);
            if (member.shared().counter != before || member.shared().mirror != before) {
                member.shared().broken.store(true);
            }
            member.unlock_shared();
        }
    });
    std::uint64_t expected = 0;
    for (std::uint32_t rank = 0; rank < processes; ++rank) {
        for (unsigned i = 0; i < rounds; ++i) {
            expected += (i + rank) % 3 != 0 ? 1 : 0;
        }
    }
    EXPECT_EQ(shared.counter, expected);
}

TEST(RwLock, ExcludesTwoThatSleep) {
    exclude(2, 3000, always_sleep());
}
TEST(RwLock, ExcludesManyThatSleep) {
    exclude(16, 200, always_sleep());
}
TEST(RwLock, ExcludesManyThatYield) {
    exclude(16, 300, shares_cores());
}
TEST(RwLock, ExcludesThatSpin) {
    exclude(2, 20000, WaitPolicy{});
}

// All readers are inside at the same time, though a writer holds the lock when they come.
TEST(RwLock, ReadersHoldItTogether) {
    constexpr std::uint32_t processes = 8;
    Shared& shared = run(processes, always_sleep(), [](Member& member) {
        Shared& s = member.shared();
        if (member.rank() == 0) {
            member.lock();
            s.phase.store(1);
            while (s.lock.tickets() != processes) {
                usleep(100);
            }
            usleep(20'000); // until all sleep
            member.unlock();
            return;
        }
        while (s.phase.load() == 0) {
            usleep(100);
        }
        member.lock_shared();
        s.readers.fetch_add(1);
        for (int i = 0; i < 20'000 && s.readers.load() < processes - 1; ++i) {
            usleep(500);
        }
        s.most_readers.store(s.readers.load());
        member.unlock_shared();
    });
    EXPECT_EQ(shared.most_readers.load(), processes - 1);
}

// First come, first served: all want the lock all the time, so that they take turns. When the first one has had all its
// turns, each other one has had half as many at least; the rest is for times in which a process does not run.
TEST(RwLock, NoProcessStarves) {
    constexpr std::uint32_t processes = 16;
    constexpr std::uint32_t turns = 60;
    run(processes, shares_cores(), [](Member& member) {
        Shared& s = member.shared();
        member.meet(1);
        for (std::uint32_t turn = 1; turn <= turns; ++turn) {
            member.lock();
            usleep(200);
            s.entries[member.rank()].store(turn);
            member.unlock();
        }
        std::uint32_t first = 0;
        if (s.readers.compare_exchange_strong(first, 1)) {
            for (const std::atomic<std::uint32_t>& entries : s.entries) {
                EXPECT_GE(entries.load(), turns / 2);
            }
        }
    });
}

// How the members of LateWriter wait: until it is done, or not at all.
constexpr auto spin = [](const auto& done) {
    while (!done()) {
        std::this_thread::yield();
    }
    return 0;
};
constexpr auto never = [](const auto&) { return 1; };
constexpr auto no_ring = [](std::uint32_t) {};

// Two members as threads of this process, which may have the lock back three times.
struct LateWriter : testing::Test {
    RwLock lock{};
    std::atomic<std::uint32_t> waiters[2]{};
    Turn turns[2];
    static constexpr InARow three_times{3, on_shared_cores.longest};
    const TicketQueue first{waiters, 2, 0, three_times};
    const TicketQueue second{waiters, 2, 1, three_times};

    // The first member leaves late, while the second waits and does not run. The second enters before the first does so
    // again, by `enter`.
    template <class Enter, class Leave>
    void expect_behind_the_second(const Enter& enter, const Leave& leave) {
        std::atomic<int> order{0};
        ASSERT_EQ(lock.lock_exclusive(first, never, turns[0]), 0);
        std::thread other([&] {
            const auto wait = [&](const auto& done) {
                spin([&] { return lock.tickets() == 3; });
                return spin(done);
            };
            EXPECT_EQ(lock.lock_exclusive(second, wait, turns[1]), 0);
            EXPECT_EQ(order++, 0);
            lock.unlock_exclusive(second, turns[1], no_ring);
        });
        spin([&] { return lock.tickets() == 2 && waiters[1].load() == 2; });
        lock.unlock_exclusive(first, turns[0], no_ring);
        EXPECT_TRUE(lock.is_left_late());
        EXPECT_EQ(enter(), 0);
        EXPECT_EQ(order++, 1);
        EXPECT_FALSE(lock.is_left_late());
        leave();
        other.join();
    }
};

// A writer takes the lock back so often while another one waits and does not run, and then has to wait for that one.
TEST_F(LateWriter, GoesToTheNextAfterSoManyTimes) {
    std::atomic<bool> second_runs{false};
    std::atomic<bool> second_has_it{false};
    std::atomic<int> rung{0};
    const auto ring = [&](std::uint32_t rank) { rung += rank == 1 ? 1 : 0; };
    ASSERT_EQ(lock.lock_exclusive(first, never, turns[first.rank]), 0);
    std::thread other([&] {
        const auto wait = [&](const auto& done) {
            spin([&] { return second_runs.load(); });
            return spin(done);
        };
        EXPECT_EQ(lock.lock_exclusive(second, wait, turns[second.rank]), 0);
        second_has_it = true;
    });
    spin([&] { return lock.tickets() == 2 && waiters[1].load() == 2; });
    int in_a_row = 0;
    while (lock.unlock_exclusive(first, turns[first.rank], ring), rung == in_a_row + 1 && lock.is_left_late()) {
        ASSERT_EQ(lock.lock_exclusive(first, never, turns[first.rank]), 0);
        ASSERT_LE(++in_a_row, 3);
    }
    EXPECT_GE(in_a_row, 1); // all three, but where this thread was interrupted for as long as a row may take
    second_runs = true;
    spin([&] { return second_has_it.load(); });
    EXPECT_EQ(lock.tickets(), 2U);
    // No process waits: the lock is free when it is left.
    lock.unlock_exclusive(second, turns[second.rank], ring);
    other.join();
    EXPECT_EQ(lock.lock_exclusive(first, never, turns[first.rank]), 0);
    lock.unlock_exclusive(first, turns[first.rank], ring);
    EXPECT_EQ(lock.lock_shared(second, never, turns[1], ring), 0);
    lock.unlock_shared(second, ring);
}

// One that has left late, and asks for the lock as a reader, is behind the one that waits.
TEST_F(LateWriter, ThatReadsIsBehindTheNext) {
    expect_behind_the_second(
        [&] { return lock.lock_shared(first, spin, turns[0], no_ring); }, [&] { lock.unlock_shared(first, no_ring); });
}

// Where processes have their own cores, it takes the lock back until the next one has waited so long that it names
// itself.
TEST_F(LateWriter, GoesToTheNextThatHasNamedItself) {
    const TicketQueue on_own{waiters, 2, 0, on_own_cores};
    ASSERT_EQ(lock.lock_exclusive(on_own, never, turns[0]), 0);
    std::thread other([&] { EXPECT_EQ(lock.lock_exclusive(second, spin, turns[1]), 0); });
    spin([&] { return waiters[1].load() == 2; });
    waiters[1].store(0); // as before it names itself; it looks on
    lock.unlock_exclusive(on_own, turns[0], no_ring);
    other.join();
    EXPECT_TRUE(turns[0].left_late);
    lock.unlock_exclusive(second, turns[1], no_ring);
    EXPECT_EQ(lock.lock_exclusive(on_own, never, turns[0]), 0);
    EXPECT_EQ(turns[0].ticket, 2U);

    std::thread named([&] { EXPECT_EQ(lock.lock_exclusive(second, spin, turns[1]), 0); });
    spin([&] { return waiters[1].load() == 2; });
    lock.unlock_exclusive(on_own, turns[0], no_ring);
    EXPECT_FALSE(turns[0].left_late);
    EXPECT_FALSE(lock.is_left_late());
    named.join();
    lock.unlock_exclusive(second, turns[1], no_ring);
}

// One that waits and may look first does not name itself, and so is not rung.
TEST_F(LateWriter, IsSeenByLooks) {
    constexpr std::uint32_t many = 2'000'000'000;
    const TicketQueue looking{waiters, 2, 1, three_times, many};
    const auto ring = [](std::uint32_t) { ADD_FAILURE() << "it is rung"; };
    ASSERT_EQ(lock.lock_exclusive(first, never, turns[first.rank]), 0);
    std::thread other([&] {
        EXPECT_EQ(lock.lock_exclusive(looking, never, turns[looking.rank]),
            0); // after the other one has left, or in its place
        lock.unlock_exclusive(looking, turns[looking.rank], ring);
    });
    spin([&] { return lock.tickets() == 2; });
    lock.unlock_exclusive(first, turns[first.rank], ring);
    other.join();
    EXPECT_EQ(waiters[1].load(), 0U);
    EXPECT_FALSE(lock.is_left_late());
}

// What a member has done with the lock held happened before the next one has it, also where that one need not wait:
// nothing but the lock orders the two threads, and the thread sanitizer looks at `value`.
template <class First, class Second>
void expect_ordered(const First& first, const Second& second) {
    std::atomic<bool> first_left{false};
    int value = 0;
    std::thread other([&] {
        first([&] { value = 1; });
        first_left.store(true, std::memory_order_relaxed);
    });
    while (!first_left.load(std::memory_order_relaxed)) {
        sched_yield();
    }
    second([&] {
        EXPECT_EQ(value, 1);
        value = 2;
    });
    other.join();
}

TEST_F(LateWriter, OrdersThoseThatNeedNotWait) {
    const auto writes = [this](const TicketQueue& queue) {
        return [this, &queue](const auto& body) {
            EXPECT_EQ(lock.lock_exclusive(queue, never, turns[queue.rank]), 0);
            body();
            lock.unlock_exclusive(queue, turns[queue.rank], no_ring);
        };
    };
    const auto reads = [this](const TicketQueue& queue) {
        return [this, &queue](const auto& body) {
            EXPECT_EQ(lock.lock_shared(queue, never, turns[queue.rank], no_ring), 0);
            body();
            lock.unlock_shared(queue, no_ring);
        };
    };
    expect_ordered(writes(first), writes(second));
    expect_ordered(writes(first), reads(second));
    expect_ordered(reads(first), writes(second));
}

// Writers come between readers that always hold the lock.
TEST(RwLock, ReadersDoNotStarveAWriter) {
    constexpr std::uint32_t processes = 8;
    Shared& shared = run(processes, shares_cores(), [](Member& member) {
        Shared& s = member.shared();
        member.meet(1);
        if (member.rank() == 0) {
            for (int i = 0; i < 50; ++i) {
                member.lock();
                ++s.counter;
                member.unlock();
            }
            s.phase.store(2);
            return;
        }
        while (s.phase.load() < 2) {
            member.lock_shared();
            hold(member.rank() * 8);
            member.unlock_shared();
        }
    });
    EXPECT_EQ(shared.counter, 50U);
}

void exclude_elements(std::uint32_t processes, unsigned rounds, const WaitPolicy& policy) {
    Shared& shared = run(processes, policy, [&](Member& member) {
        for (unsigned i = 0; i < rounds; ++i) {
            member.lock_elements();
            add_one(member.shared(), i);
            member.unlock_elements();
        }
    });
    EXPECT_EQ(shared.counter, std::uint64_t(processes) * rounds);
}

TEST(ElementLock, ExcludesTwoThatSleep) {
    exclude_elements(2, 3000, always_sleep());
}
TEST(ElementLock, ExcludesManyThatSleep) {
    exclude_elements(16, 300, always_sleep());
}
TEST(ElementLock, ExcludesManyThatYield) {
    exclude_elements(16, 500, shares_cores());
}
TEST(ElementLock, ExcludesThreadsOfOneProcess) {
    Shared& shared = *test::shared_memory<Shared>();
    Member member(shared, 3, most, always_sleep());
    member.progress().enable_threads();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (unsigned i = 0; i < 1000; ++i) {
                member.lock_elements();
                add_one(shared, i);
                member.unlock_elements();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(shared.counter, 4000U);
    EXPECT_FALSE(shared.broken.load());
}

// A wait ends when the process that it waits for has failed.
TEST(Waits, EndWithTheProcess) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    ASSERT_TRUE(can_see_process(child));
    EXPECT_FALSE(process_has_ended(child));
    Progress progress(false, always_sleep());
    const Waits waits(progress);
    std::thread killer([&] {
        usleep(300'000);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    });
    EXPECT_EQ(waits.until([] { return false; }, [&] { return process_has_ended(child); }), MPI_ERR_PROC_ABORTED);
    killer.join();
    EXPECT_EQ(waits.until([] { return true; }, [] { return true; }), MPI_SUCCESS);
}

} // namespace
} // namespace patchbay::osc::sm
