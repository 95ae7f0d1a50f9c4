// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/fair_lock.h"
#include "object/communicator.h"
#include "tests/osc_rdma/shared_words.h"

#include <gtest/gtest.h>
#include <thread>

// No communicator exists here; the library that is linked refers to it.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::osc::rdma {
namespace {
using patchbay::test::run_processes;
using patchbay::test::shared_memory;
using test::Access;
using test::Node;
using test::SharedBlocks;

constexpr std::uint32_t broken = 1000000;

struct Shared {
    SharedBlocks blocks;
    std::atomic<std::uint32_t> writers{0};
    std::atomic<std::uint32_t> readers{0};
    std::atomic<std::uint32_t> most_readers{0};
    std::atomic<std::uint32_t> step{0};
    std::uint64_t count = 0; // changed by writers without an atomic
    std::atomic<std::uint32_t> order[test::most_members]{};
    std::atomic<std::uint32_t> come{0};
};

FairLock window_lock(Node& node) {
    return {node.words, node.layout.window_lock, node.progress, node.failures};
}

void read_or_write(Shared& shared, bool exclusive) {
    if (exclusive) {
        if (shared.writers.fetch_add(1) != 0 || shared.readers.load() != 0) {
            shared.step = broken;
        }
        shared.count = shared.count + 1;
        if (shared.count % 7 == 0) {
            sched_yield();
        }
        shared.writers.fetch_sub(1);
        return;
    }
    const std::uint32_t together = shared.readers.fetch_add(1) + 1;
    if (shared.writers.load() != 0) {
        shared.step = broken;
    }
    if (together > shared.most_readers.load()) {
        shared.most_readers = together;
    }
    if (together % 2 == 1) {
        sched_yield();
    }
    shared.readers.fetch_sub(1);
}

// `exclusive_of`: one of so many uses is exclusive.
void use_by(int members, int rounds, unsigned exclusive_of, Access access) {
    auto* const shared = shared_memory<Shared>();
    const bool good = run_processes(members, 60, [&](int rank) {
        Node node(shared->blocks, rank, members, access);
        FairLock lock = window_lock(node);
        std::uint32_t state = std::uint32_t(rank) * 2654435761u + 1;
        for (int i = 0; i < rounds; ++i) {
            state = state * 1664525 + 1013904223;
            const bool exclusive = (state >> 16) % exclusive_of == 0;
            if (exclusive) {
                shared->come.fetch_add(1);
            }
            if (lock.acquire(0, exclusive) != MPI_SUCCESS) {
                return false;
            }
            read_or_write(*shared, exclusive);
            if (lock.release(0, exclusive) != MPI_SUCCESS) {
                return false;
            }
        }
        return true;
    });
    EXPECT_TRUE(good);
    EXPECT_LT(shared->step.load(), broken) << "two processes had the lock that exclude each other";
    EXPECT_EQ(shared->count, shared->come.load());
    munmap(shared, sizeof(Shared));
}

TEST(FairLock, WritersExcludeEachOther) {
    use_by(2, 5000, 1, Access::mapped);
    use_by(8, 1000, 1, Access::mapped);
}

TEST(FairLock, ReadersAndWriters) {
    use_by(2, 5000, 2, Access::mapped);
    use_by(8, 1000, 2, Access::mapped);
    use_by(16, 500, 5, Access::mapped);
}

TEST(FairLock, ByOperations) {
    use_by(4, 1000, 2, Access::far);
    use_by(16, 200, 3, Access::far);
}

// One member, as a poller does, takes the lock only where it is free, beside others that wait for it.
TEST(FairLock, IsTriedByOneMember) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(4, 60, [&](int rank) {
        Node node(shared->blocks, rank, 4, Access::mapped);
        FairLock lock = window_lock(node);
        for (int uses = 0; uses < 2000;) {
            if (rank != 0 ? lock.acquire(0, true) != MPI_SUCCESS : !lock.try_acquire(0)) {
                if (rank != 0) {
                    return false;
                }
                sched_yield();
                continue;
            }
            if (shared->writers.fetch_add(1) != 0) {
                shared->step = broken;
            }
            ++shared->count;
            shared->writers.fetch_sub(1);
            ++uses;
            if (lock.release(0, true) != MPI_SUCCESS) {
                return false;
            }
        }
        return true;
    }));
    EXPECT_NE(shared->step.load(), broken);
    EXPECT_EQ(shared->count, 4u * 2000u);
    Node node(shared->blocks, 0, 4, Access::mapped);
    FairLock lock = window_lock(node);
    EXPECT_EQ(lock.acquire(0, true), MPI_SUCCESS);
    EXPECT_FALSE(lock.try_acquire(0));
    EXPECT_EQ(lock.release(0, true), MPI_SUCCESS);
    EXPECT_EQ(lock.acquire(0, false), MPI_SUCCESS);
    EXPECT_FALSE(lock.try_acquire(0));
    EXPECT_EQ(lock.release(0, false), MPI_SUCCESS);
    EXPECT_TRUE(lock.try_acquire(0));
    EXPECT_EQ(lock.release(0, true), MPI_SUCCESS);
}

bool reached(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
    for (int i = 0; i < 20000 && word.load() < value; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return word.load() >= value;
}

std::uint64_t tickets(Shared& shared, const Node& node) {
    return shared.blocks.members[0].words[node.layout.window_lock.tickets].load();
}

// A process takes a ticket when the one before it has taken its own: all are served in this order, and readers that
// follow each other have the lock together.
TEST(FairLock, ServesInTheOrderOfTickets) {
    auto* const shared = shared_memory<Shared>();
    constexpr int members = 7;
    const bool exclusive[members] = {true, false, false, false, true, false, true};
    EXPECT_TRUE(run_processes(members, 60, [&](int rank) {
        Node node(shared->blocks, rank, members, Access::mapped);
        FairLock lock = window_lock(node);
        while (tickets(*shared, node) != std::uint64_t(rank)) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        if (lock.acquire(0, exclusive[rank]) != MPI_SUCCESS) {
            return false;
        }
        shared->order[rank] = shared->come.fetch_add(1) + 1;
        bool fine = true;
        if (rank == 0) {
            while (tickets(*shared, node) != members) { // all others wait
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
        } else if (rank <= 3) {
            shared->readers.fetch_add(1);
            fine = reached(shared->readers, 3); // the three of them
        }
        return fine && lock.release(0, exclusive[rank]) == MPI_SUCCESS;
    }));
    EXPECT_EQ(shared->order[0].load(), 1u);
    for (int rank : {1, 2, 3}) {
        EXPECT_GE(shared->order[rank].load(), 2u);
        EXPECT_LE(shared->order[rank].load(), 4u);
    }
    EXPECT_EQ(shared->order[4].load(), 5u);
    EXPECT_EQ(shared->order[5].load(), 6u);
    EXPECT_EQ(shared->order[6].load(), 7u);
    munmap(shared, sizeof(Shared));
}

// One process holds the lock, or waits for it, and is gone: those that wait learn of it and return.
void one_fails(bool holder, bool exclusive) {
    auto* const shared = shared_memory<Shared>();
    constexpr int members = 4;
    const std::uint32_t before = holder ? 1 : 2; // tickets that are taken when the process has failed
    EXPECT_TRUE(run_processes(members, 60, [&](int rank) {
        Node node(shared->blocks, rank, members, Access::mapped);
        FairLock lock = window_lock(node);
        if (rank == 0 && !holder) { // holds it, and never releases it
            const bool got = lock.acquire(0, true) == MPI_SUCCESS;
            return got && reached(shared->step, 1) && reached(shared->come, 2);
        }
        if (rank == 1) {
            while (tickets(*shared, node) != before - 1) {
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
            if (holder) {
                return lock.acquire(0, exclusive) == MPI_SUCCESS && (shared->step = 1) == 1;
            }
            std::thread([&] { // waits for ever
                (void)lock.acquire(0, exclusive);
            })
                .detach();
            const bool waits = [&] {
                while (tickets(*shared, node) != before) {
                    std::this_thread::sleep_for(std::chrono::microseconds(100));
                }
                return true;
            }();
            shared->step = 1;
            _exit(waits ? 0 : 1);
        }
        if (rank == 0) {
            return true;
        }
        if (!reached(shared->step, 1)) {
            return false;
        }
        std::thread failure([&] {
            while (tickets(*shared, node) < before + 2) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the others sleep
            node.failures.note(1);
            node.progress.wake();
        });
        const int code = lock.acquire(0, true);
        failure.join();
        shared->come.fetch_add(1);
        return code == MPI_ERR_PROC_ABORTED;
    }));
    munmap(shared, sizeof(Shared));
}

TEST(FairLock, HolderFails) {
    one_fails(true, true);
    one_fails(true, false);
}

TEST(FairLock, WaiterFails) {
    one_fails(false, true);
    one_fails(false, false);
}

// A member that fails without the lock disturbs nobody.
TEST(FairLock, AnotherMemberFails) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(3, 60, [&](int rank) {
        Node node(shared->blocks, rank, 3, Access::mapped);
        FairLock lock = window_lock(node);
        if (rank == 2) {
            return true;
        }
        node.failures.note(2);
        for (int i = 0; i < 1000; ++i) {
            if (lock.acquire(0, i % 2 == 0) != MPI_SUCCESS || lock.release(0, i % 2 == 0) != MPI_SUCCESS) {
                return false;
            }
        }
        return lock.acquire(2, true) == MPI_ERR_PROC_ABORTED;
    }));
    munmap(shared, sizeof(Shared));
}

} // namespace
} // namespace patchbay::osc::rdma
