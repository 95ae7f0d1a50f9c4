// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/waiter.h"
#include "tests/core_runtime/processes.h"
#include "tests/core_runtime/sleeping.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sched.h>
#include <string_view>
#include <thread>

namespace patchbay {
namespace {
using namespace std::chrono_literals;
using test::always_sleep;
using test::cpu_seconds;
using test::run_processes;
using test::shared_memory;

void pin_to(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores); // a machine with one core runs the test on that one
}

// Whether `./dev test --full` runs this test.
bool wants_full_set() {
    const char* set = std::getenv("PATCHBAY_TEST_SET");
    return set != nullptr && std::string_view(set) == "full";
}

struct Rally {
    struct alignas(64) Side {
        std::atomic<unsigned> ball;
        Doorbell bell;
    };
    Side sides[2];
};

// Two processes send each other `rounds` messages and sleep between any two.
bool play(Rally& rally, int side, unsigned rounds, const WaitPolicy& policy, unsigned idle_polls) {
    Progress progress(false, policy);
    progress.set_doorbell(&rally.sides[side].bell);
    Rally::Side& own = rally.sides[side];
    Rally::Side& other = rally.sides[1 - side];
    for (unsigned round = 1; round <= rounds; ++round) {
        if (side == 0) {
            other.ball.store(round, std::memory_order_release);
            other.bell.notify();
        }
        wait_until(progress, [&] { return own.ball.load(std::memory_order_acquire) == round; });
        // The delay changes from round to round, so that sends happen at every moment of the other's transition to
        // sleep.
        for (unsigned poll = 0; poll < round % (idle_polls + 1); ++poll) {
            progress.poll();
        }
        if (side == 1) {
            other.ball.store(round, std::memory_order_release);
            other.bell.notify();
        }
    }
    return true;
}

TEST(Wait, LosesNoWakeUpBetweenProcessesOnTwoCores) {
    constexpr unsigned idle_polls = 300;
    // A round costs two wake-ups across cores, 0.2 ms in a virtual machine. Fifty sweeps over all delays by default.
    const unsigned rounds = wants_full_set() ? 100'000 : 50 * (idle_polls + 1);
    auto* rally = shared_memory<Rally>();
    EXPECT_TRUE(run_processes(2, 120, [&](int side) {
        pin_to(side);
        return play(*rally, side, rounds, always_sleep(), idle_polls);
    }));
}

TEST(Wait, LosesNoWakeUpBetweenProcessesOnOneCore) {
    auto* rally = shared_memory<Rally>();
    EXPECT_TRUE(run_processes(2, 120, [&](int side) {
        pin_to(0);
        return play(*rally, side, 300'000, always_sleep(), 50);
    }));
}

TEST(Wait, WorksWithoutMembarrier) {
    auto* rally = shared_memory<Rally>();
    EXPECT_TRUE(run_processes(2, 60, [&](int side) {
        Progress progress(false, always_sleep());
        progress.set_sleeps_fenced(false);
        progress.set_doorbell(&rally->sides[side].bell);
        for (unsigned round = 1; round <= 200; ++round) {
            rally->sides[1 - side].ball.store(round, std::memory_order_release); // never rings: only the bound helps
            wait_until(progress, [&] { return rally->sides[side].ball.load(std::memory_order_acquire) >= round; });
        }
        return true;
    }));
}

struct Crowd {
    std::atomic<unsigned> turn;
    Doorbell bells[16];
};

TEST(Wait, SixteenRanksPassTheTurnWithEveryPolicy) {
    WaitPolicy policies[] = {WaitPolicy{}, WaitPolicy::make(200us, 100us, true, true),
        WaitPolicy::make(0us, 0us, false, true), always_sleep()};
    for (const WaitPolicy& policy : policies) {
        auto* crowd = shared_memory<Crowd>();
        EXPECT_TRUE(run_processes(16, 60, [&](int rank) {
            Progress progress(false, policy);
            progress.set_doorbell(&crowd->bells[rank]);
            for (unsigned round = 0; round < 20; ++round) {
                unsigned mine = round * 16 + unsigned(rank);
                wait_until(progress, [&] { return crowd->turn.load(std::memory_order_acquire) == mine; });
                crowd->turn.store(mine + 1, std::memory_order_release);
                crowd->bells[(rank + 1) % 16].notify();
            }
            return true;
        }));
    }
}

TEST(Wait, ALongWaitCostsNoProcessorTime) {
    auto* rally = shared_memory<Rally>();
    EXPECT_TRUE(run_processes(2, 60, [&](int side) {
        if (side == 1) {
            std::this_thread::sleep_for(2s);
            rally->sides[0].ball.store(1, std::memory_order_release);
            rally->sides[0].bell.notify();
            return true;
        }
        Progress progress;
        progress.set_doorbell(&rally->sides[0].bell);
        double before = cpu_seconds();
        wait_until(progress, [&] { return rally->sides[0].ball.load(std::memory_order_acquire) == 1; });
        return cpu_seconds() - before < 0.02 * 2;
    }));
}

TEST(Wait, EndsAtItsTimeLimit) {
    Progress progress;
    auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(wait_for(progress, 30ms, [] { return false; }));
    auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, 30ms);
    EXPECT_LT(took, 5s);
    EXPECT_TRUE(wait_for(progress, 0ns, [] { return true; }));
}

TEST(Wait, SleepsNoLongerThanAPollerAllows) {
    Progress progress(false, always_sleep());
    int calls = 0;
    PollerHandle poller = progress.add_poller(
        [](void* context) noexcept {
            ++*static_cast<int*>(context);
            return 0;
        },
        &calls, 1ms);
    wait_until(progress, [&] { return calls >= 20; }); // no process rings; a sleep of 24 h would hang
    EXPECT_GE(calls, 20);
}

TEST(Wait, AnotherThreadEndsASleepByWake) {
    Progress progress(false, always_sleep());
    for (int round = 0; round < 2000; ++round) {
        std::atomic<bool> done{false};
        std::thread other([&] {
            done.store(true, std::memory_order_release);
            progress.wake();
        });
        wait_until(progress, [&] { return done.load(std::memory_order_acquire); });
        other.join();
    }
}

// Threads of one process wait for messages that one shared poller distributes; the thread that polls completes those of
// the others.
struct Mail {
    std::atomic<unsigned>* arrived; // by a peer
    unsigned handled = 0;           // by the poller
    std::atomic<unsigned> done[4];
};

int deliver(void* context) noexcept {
    auto* mail = static_cast<Mail*>(context);
    int events = 0;
    while (mail->handled != mail->arrived->load(std::memory_order_acquire)) {
        mail->done[mail->handled++ % 4].fetch_add(1, std::memory_order_release);
        ++events;
    }
    return events;
}

void threads_wait(
    std::atomic<unsigned>& arrived, Doorbell& bell, unsigned rounds, const WaitPolicy& policy, bool tester) {
    Progress progress(true, policy);
    progress.set_doorbell(&bell);
    Mail mail{};
    mail.arrived = &arrived;
    PollerHandle poller = progress.add_poller(deliver, &mail);
    std::atomic<bool> stop{false};
    // A thread that polls in passing, as MPI_Test does, must not swallow the others' work.
    std::thread passer_by([&] {
        while (tester && !stop) {
            progress.poll();
            std::this_thread::sleep_for(20us);
        }
    });
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (unsigned round = 1; round <= rounds; ++round) {
                wait_until(progress, [&] { return mail.done[id].load(std::memory_order_acquire) >= round; });
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    stop = true;
    passer_by.join();
}

TEST(Wait, ThreadsOfOneProcessLoseNoWakeUp) {
    WaitPolicy policies[] = {always_sleep(), WaitPolicy::make(200us, 100us, true, true), WaitPolicy{}};
    for (const WaitPolicy& policy : policies) {
        for (bool tester : {false, true}) {
            auto* rally = shared_memory<Rally>();
            constexpr unsigned rounds = 5000;
            EXPECT_TRUE(run_processes(2, 120, [&](int side) {
                Rally::Side& mailbox = rally->sides[0];
                if (side == 0) {
                    threads_wait(mailbox.ball, mailbox.bell, rounds, policy, tester);
                    return true;
                }
                for (unsigned message = 1; message <= 4 * rounds; ++message) {
                    mailbox.ball.store(message, std::memory_order_release);
                    mailbox.bell.notify();
                    if (message % 3 == 0) {
                        std::this_thread::sleep_for(1us); // longer than the waiters need to fall asleep
                    }
                }
                return true;
            }));
        }
    }
}

// The awake thread is past the poller that has the sleeper's work, and leaves.
struct HandOver {
    Mail mail{};
    std::atomic<unsigned> arrived{0};
    std::atomic<bool> blocking{false};
    bool over = false;
    Doorbell bell;
};

TEST(Wait, AThreadThatLeavesHandsThePollingOver) {
    EXPECT_TRUE(run_processes(1, 30, [](int) {
        Progress progress(true, always_sleep());
        HandOver hand_over;
        hand_over.mail.arrived = &hand_over.arrived;
        progress.set_doorbell(&hand_over.bell);
        PollerHandle first = progress.add_poller(deliver, &hand_over.mail);
        PollerHandle second = progress.add_poller(
            [](void* context) noexcept {
                auto* self = static_cast<HandOver*>(context);
                if (!self->over) {
                    self->arrived.store(1, std::memory_order_release); // the sleeper's flag is still down: no ring
                    self->blocking = true;
                    while (!self->bell.flag_is_up()) {
                        std::this_thread::yield();
                    }
                    std::this_thread::sleep_for(20ms);
                    self->over = true;
                }
                return 0;
            },
            &hand_over);
        std::thread leaver([&] { wait_for(progress, 1h, [&] { return hand_over.over; }); });
        while (!hand_over.blocking) {
            std::this_thread::yield();
        }
        wait_until(progress, [&] { return hand_over.mail.done[0].load(std::memory_order_acquire) == 1; });
        leaver.join();
        return true;
    }));
}

} // namespace
} // namespace patchbay
