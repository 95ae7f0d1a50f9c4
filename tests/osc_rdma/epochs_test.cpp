// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/barrier.h"
#include "components/osc/rdma/exposure.h"
#include "object/communicator.h"
#include "tests/osc_rdma/shared_words.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

// No communicator exists here; the library that is linked refers to it.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::osc::rdma {
namespace {
using patchbay::test::run_processes;
using patchbay::test::shared_memory;
using test::Access;
using test::Node;
using test::SharedBlocks;

struct Shared {
    SharedBlocks blocks;
    std::atomic<std::uint32_t> rounds[test::most_members]{}; // that a member has begun
    std::atomic<std::uint32_t> values[test::most_members][test::most_members]{};
};

void meet(int members, std::uint32_t rounds, Access access) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(members, 60, [&](int rank) {
        Node node(shared->blocks, rank, members, access);
        Barrier barrier(node.words, node.layout.arrived, node.progress, node.failures);
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            shared->rounds[rank] = round;
            if (barrier.wait() != MPI_SUCCESS) {
                return false;
            }
            for (int member = 0; member < members; ++member) {
                const std::uint32_t there = shared->rounds[member];
                if (there != round && there != round + 1) {
                    return false;
                }
            }
        }
        return true;
    })) << members;
    munmap(shared, sizeof(Shared));
}

TEST(Barrier, NobodyLeavesBeforeAllHaveCome) {
    for (const int members : {1, 2, 3, 8, 13}) {
        meet(members, 500, Access::mapped);
        meet(members, 100, Access::far);
    }
}

TEST(Barrier, MemberFails) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(4, 60, [&](int rank) {
        if (rank == 3) {
            return true;
        }
        Node node(shared->blocks, rank, 4, Access::mapped);
        std::thread failure([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            node.failures.note(3);
            node.progress.wake();
        });
        Barrier barrier(node.words, node.layout.arrived, node.progress, node.failures);
        const int code = barrier.wait();
        failure.join();
        return code == MPI_ERR_PROC_ABORTED;
    }));
    munmap(shared, sizeof(Shared));
}

Exposure exposure(Node& node) {
    return {node.words, node.layout.posted, node.layout.completed, node.progress, node.failures};
}

// In each round a member is target for some members and origin for others, by groups that overlap and change. What an
// origin has written before complete() is there after wait(), and nothing before post().
void expose(int members, std::uint32_t rounds, Access access) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(members, 60, [&](int rank) {
        Node node(shared->blocks, rank, members, access);
        Exposure epochs = exposure(node);
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            std::vector<int> origins;
            std::vector<int> targets;
            for (int other = 0; other < members; ++other) {
                const auto accesses = [&](int from, int to) {
                    return from != to && (std::uint32_t(from) * 5 + std::uint32_t(to) * 3 + round) % 4 < 2;
                };
                if (accesses(other, rank)) {
                    origins.push_back(other);
                }
                if (accesses(rank, other)) {
                    targets.push_back(other);
                }
            }
            for (const int origin : origins) {
                shared->values[rank][origin] = 0;
            }
            int code = epochs.post(origins, true);
            code = code == MPI_SUCCESS ? epochs.start(targets, true) : code;
            for (const int target : targets) {
                if (shared->values[target][rank].exchange(round) != 0) {
                    return false;
                }
            }
            code = code == MPI_SUCCESS ? epochs.complete(targets) : code;
            bool done = round % 2 == 0;
            if (done) {
                code = code == MPI_SUCCESS ? epochs.wait(origins) : code;
            }
            while (!done && code == MPI_SUCCESS) {
                code = epochs.test(origins, &done);
                sched_yield();
            }
            for (const int origin : origins) {
                if (shared->values[rank][origin] != round) {
                    return false;
                }
            }
            if (code != MPI_SUCCESS) {
                return false;
            }
        }
        return true;
    })) << members;
    munmap(shared, sizeof(Shared));
}

TEST(Exposure, GroupsThatOverlap) {
    for (const int members : {2, 5, 12}) {
        expose(members, 300, Access::mapped);
        expose(members, 50, Access::far);
    }
}

// With MPI_MODE_NOCHECK on both sides, between epochs without it.
TEST(Exposure, WithoutTelling) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(2, 60, [&](int rank) {
        Node node(shared->blocks, rank, 2, Access::mapped);
        Exposure epochs = exposure(node);
        const std::vector<int> other{1 - rank};
        for (int round = 0; round < 100; ++round) {
            const bool tells = round % 3 != 0;
            if (rank == 0) {
                if (epochs.post(other, tells) != MPI_SUCCESS || epochs.wait(other) != MPI_SUCCESS) {
                    return false;
                }
            } else if (epochs.start(other, tells) != MPI_SUCCESS || epochs.complete(other) != MPI_SUCCESS) {
                return false;
            }
        }
        return true;
    }));
    munmap(shared, sizeof(Shared));
}

TEST(Exposure, PeerFails) {
    auto* const shared = shared_memory<Shared>();
    EXPECT_TRUE(run_processes(3, 60, [&](int rank) {
        if (rank == 2) {
            return true;
        }
        Node node(shared->blocks, rank, 3, Access::mapped);
        Exposure epochs = exposure(node);
        const std::vector<int> failing{2};
        std::thread failure([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            node.failures.note(2);
            node.progress.wake();
        });
        int code = MPI_SUCCESS;
        if (rank == 0) {
            code = epochs.start(failing, true);
        } else {
            code = epochs.post(failing, true) == MPI_SUCCESS ? epochs.wait(failing) : MPI_SUCCESS;
        }
        failure.join();
        bool done = false;
        return code == MPI_ERR_PROC_ABORTED && (rank == 0 || epochs.test(failing, &done) == MPI_ERR_PROC_ABORTED);
    }));
    munmap(shared, sizeof(Shared));
}

} // namespace
} // namespace patchbay::osc::rdma
