// SPDX-License-Identifier: BSD-3-Clause
// Sleeps of a process whose work arrives in descriptors, too (Progress::watch).
#include "core/progress/waiter.h"
#include "tests/core_runtime/processes.h"
#include "tests/core_runtime/sleeping.h"

#include <array>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <thread>
#include <vector>

namespace patchbay {
namespace {
using namespace std::chrono_literals;
using test::always_sleep;
using test::cpu_seconds;
using test::run_processes;
using test::shared_memory;

int make_descriptor() {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void write_one(int fd) {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(fd, &one, sizeof one), ssize_t(sizeof one));
}

// What has arrived in a descriptor is distributed to `threads` counts in turns, by whichever thread polls.
struct Mail {
    explicit Mail(int fd) noexcept
        : fd(fd) {}
    const int fd;
    unsigned handled = 0;
    unsigned threads = 1;
    std::array<std::atomic<unsigned>, 4> done{};

    static int poll(void* context) noexcept {
        auto* self = static_cast<Mail*>(context);
        std::uint64_t arrived = 0;
        if (read(self->fd, &arrived, sizeof arrived) < 0) {
            return 0;
        }
        for (std::uint64_t i = 0; i < arrived; ++i) {
            self->done[self->handled++ % self->threads].fetch_add(1, std::memory_order_release);
        }
        return int(arrived);
    }
};

struct Rally {
    struct alignas(64) Side {
        std::atomic<unsigned> ball;
        Doorbell bell;
    };
    Side sides[2];
};

// Two processes send each other messages, by descriptors, by doorbells, or by both in turns, and sleep between any two.
TEST(Watch, LosesNoWakeUpBetweenProcesses) {
    constexpr unsigned rounds = 20'000;
    for (const unsigned by_descriptor_of_4 : {4u, 0u, 2u}) {
        auto* rally = shared_memory<Rally>();
        const int descriptors[] = {make_descriptor(), make_descriptor()};
        EXPECT_TRUE(run_processes(2, 100,
            [&](int side) {
                Progress progress(false, always_sleep());
                progress.set_doorbell(&rally->sides[side].bell);
                Mail mail(descriptors[side]);
                const PollerHandle poller = progress.add_poller(Mail::poll, &mail);
                if (!progress.watch(descriptors[side])) {
                    return false;
                }
                Rally::Side& other = rally->sides[1 - side];
                unsigned by_descriptor = 0;
                const auto send = [&](unsigned round) {
                    if (round % 4 < by_descriptor_of_4) {
                        write_one(descriptors[1 - side]);
                    } else {
                        other.ball.store(round, std::memory_order_release);
                        other.bell.notify();
                    }
                };
                for (unsigned round = 1; round <= rounds; ++round) {
                    if (side == 0) {
                        send(round);
                    }
                    by_descriptor += round % 4 < by_descriptor_of_4;
                    const bool rings = round % 4 >= by_descriptor_of_4;
                    wait_until(progress, [&] {
                        return rings ? rally->sides[side].ball.load(std::memory_order_acquire) == round
                                     : mail.done[0].load(std::memory_order_relaxed) == by_descriptor;
                    });
                    for (unsigned poll = 0; poll < round % 50; ++poll) {
                        progress.poll();
                    }
                    if (side == 1) {
                        send(round);
                    }
                }
                return progress.sleeps() > rounds / 10;
            }))
            << by_descriptor_of_4 << " of 4 messages by descriptor";
        close(descriptors[0]);
        close(descriptors[1]);
    }
}

TEST(Watch, ALongWaitCostsNoProcessorTime) {
    const int fd = make_descriptor();
    EXPECT_TRUE(run_processes(2, 60, [&](int side) {
        if (side == 1) {
            std::this_thread::sleep_for(1s);
            write_one(fd);
            return true;
        }
        Progress progress;
        Mail mail(fd);
        const PollerHandle poller = progress.add_poller(Mail::poll, &mail);
        const bool watched = bool(progress.watch(fd));
        const double before = cpu_seconds();
        wait_until(progress, [&] { return mail.done[0] == 1; });
        return watched && cpu_seconds() - before < 0.02;
    }));
    close(fd);
}

TEST(Watch, ATimeLimitAndTheEnd) {
    const int fd = make_descriptor();
    Progress progress(false, always_sleep());
    ASSERT_TRUE(progress.watch(fd));
    EXPECT_FALSE(progress.watch(-1));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(wait_for(progress, 30ms, [] { return false; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
    EXPECT_LT(progress.sleeps(), 10u);
    write_one(fd); // no poller reads it: each sleep ends at once, however long a loaded machine takes for it
    const std::uint64_t before = progress.sleeps();
    EXPECT_TRUE(wait_for(progress, 30s, [&] { return progress.sleeps() > before + 20; }));
    progress.unwatch(fd);
    const std::uint64_t after = progress.sleeps();
    EXPECT_FALSE(wait_for(progress, 30ms, [] { return false; }));
    EXPECT_LT(progress.sleeps(), after + 10);
    close(fd);
}

TEST(Watch, AnotherThreadEndsASleepByWake) {
    const int fd = make_descriptor();
    Progress progress(false, always_sleep());
    ASSERT_TRUE(progress.watch(fd));
    for (int round = 0; round < 2000; ++round) {
        std::atomic<bool> done{false};
        std::thread other([&] {
            done.store(true, std::memory_order_release);
            progress.wake();
        });
        wait_until(progress, [&] { return done.load(std::memory_order_acquire); });
        other.join();
    }
    close(fd);
}

// Threads that sleep already when the process begins to watch its first descriptor.
TEST(Watch, BeginsWhileThreadsSleep) {
    for (int round = 0; round < 200; ++round) {
        const int fd = make_descriptor();
        {
            Progress progress(true, always_sleep());
            Mail mail(fd);
            mail.threads = 2;
            const PollerHandle poller = progress.add_poller(Mail::poll, &mail);
            std::vector<std::thread> threads;
            for (std::size_t id = 0; id < 2; ++id) {
                threads.emplace_back([&, id] { wait_until(progress, [&] { return mail.done[id] == 1; }); });
            }
            if (round % 2 == 0) {
                std::this_thread::sleep_for(1ms);
            }
            EXPECT_TRUE(progress.watch(fd));
            write_one(fd);
            write_one(fd);
            for (std::thread& thread : threads) {
                thread.join();
            }
        }
        close(fd);
    }
}

// The thread that sleeps on the descriptors polls for all of them; when it leaves, another one takes its place.
TEST(Watch, ThreadsOfOneProcessLoseNoWakeUp) {
    constexpr unsigned rounds = 3000;
    for (const unsigned threads : {2u, 4u}) {
        const int fd = make_descriptor();
        EXPECT_TRUE(run_processes(2, 100, [&](int side) {
            if (side == 1) {
                for (unsigned message = 1; message <= threads * rounds; ++message) {
                    write_one(fd);
                    if (message % 3 == 0) {
                        std::this_thread::sleep_for(1us); // longer than the waiters need to fall asleep
                    }
                }
                return true;
            }
            Progress progress(true, always_sleep());
            Mail mail(fd);
            mail.threads = threads;
            const PollerHandle poller = progress.add_poller(Mail::poll, &mail);
            const bool watched = bool(progress.watch(fd));
            std::vector<std::thread> waiters;
            for (std::size_t id = 0; id < threads; ++id) {
                waiters.emplace_back([&, id] {
                    for (unsigned round = 1; round <= rounds; ++round) {
                        wait_until(progress, [&] { return mail.done[id].load(std::memory_order_acquire) >= round; });
                    }
                });
            }
            for (std::thread& waiter : waiters) {
                waiter.join();
            }
            return watched;
        }));
        close(fd);
    }
}

// A thread that is alone in the library sleeps on its descriptors when a second one comes.
TEST(Watch, AThreadComesWhileAnotherOneSleeps) {
    for (int round = 0; round < 200; ++round) {
        const int fd = make_descriptor();
        {
            Progress progress(false, always_sleep());
            ASSERT_TRUE(progress.watch(fd));
            Mail mail(fd);
            mail.threads = 2;
            const PollerHandle poller = progress.add_poller(Mail::poll, &mail);
            std::thread first([&] { wait_until(progress, [&] { return mail.done[0] == 1; }); });
            if (round % 2 == 0) {
                std::this_thread::sleep_for(1ms);
            }
            progress.enable_threads();
            write_one(fd);
            write_one(fd);
            wait_until(progress, [&] { return mail.done[1] == 1; });
            first.join();
        }
        close(fd);
    }
}

} // namespace
} // namespace patchbay
