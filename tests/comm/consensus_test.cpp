// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/consensus/consensus.h"
#include "object/communicator.h"

#include "tests/comm/simulated_job.h"

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using namespace patchbay::test;

namespace {

struct ConsensusJob : test::Job {
    explicit ConsensusJob(std::size_t processes)
        : test::Job(processes,
              [this](std::size_t process, cid::Counters& counters, const cid::NewCommunicator& what,
                  std::optional<std::uint64_t> number) {
                  return std::make_unique<cid::ConsensusAllocation>(
                      tables[process], counters, what, number.value_or(0));
              }) {}
};

} // namespace

TEST(consensus, equal_tables_agree_in_one_round) {
    ConsensusJob job(5);
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), cid::IndexTable::predefined);
    EXPECT_EQ(parts[0][0]->rounds(), 1u);
}

TEST(consensus, the_lowest_index_that_is_free_everywhere) {
    ConsensusJob job(3);
    job.tables[0].reserve(3);
    job.tables[1].reserve(3);
    job.tables[1].reserve(4);
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), 5);
    EXPECT_EQ(parts[0][0]->rounds(), 2u);
    EXPECT_EQ(job.tables[2].reserve_lowest(0), 3u); // an index that was proposed and not chosen is free again
}

TEST(consensus, an_index_that_is_free_in_one_process_only_is_skipped) {
    ConsensusJob job(2);
    for (const std::uint32_t taken : {3u, 5u}) {
        job.tables[0].reserve(taken);
    }
    for (const std::uint32_t taken : {4u, 6u}) {
        job.tables[1].reserve(taken);
    }
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_GE(common_index(parts[0]), 7);
}

// The last one, and skipped after the failures below it.
TEST(consensus, the_only_index_that_is_free_everywhere) {
    for (std::uint32_t last = 30; last < 60; ++last) {
        ConsensusJob job(2);
        for (std::uint32_t index = 3; index < last; ++index) {
            job.tables[index % 2].reserve(index);
        }
        for (cid::IndexTable& table : job.tables) {
            table.set_limit(last);
        }
        auto parts = job.begin(1);
        run_round_robin(parts[0]);
        EXPECT_EQ(common_index(parts[0]), last);
    }
}

TEST(consensus, no_index_left_is_an_error_everywhere) {
    ConsensusJob job(2);
    job.tables[1].set_limit(4);
    job.tables[1].reserve(3);
    job.tables[1].reserve(4);
    testing::internal::CaptureStderr();
    for (int attempt = 0; attempt < 2; ++attempt) {
        auto parts = job.begin(1);
        run_round_robin(parts[0]);
        EXPECT_EQ(parts[0][0]->code, MPI_ERR_NO_SPACE);
        EXPECT_EQ(parts[0][1]->code, MPI_ERR_NO_SPACE);
        // An index that a process has reserved for this communicator is in use.
        EXPECT_NE(parts[0][0]->cause.find(none_common("cid/consensus", 4)), std::string::npos) << parts[0][0]->cause;
        EXPECT_NE(parts[0][1]->cause.find(none_common("cid/consensus", 5)), std::string::npos) << parts[0][1]->cause;
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); // the error handler decides what is printed
    EXPECT_EQ(job.tables[0].live(), cid::IndexTable::predefined);
}

// CID allocations have successive numbers. If two of them skipped the same indices, at a distance of any number of
// failures, their proposals would collide for ever.
TEST(consensus, allocations_skip_different_indices) {
    constexpr std::uint32_t count = 4000;
    for (const std::uint32_t later : {0u, 1u, 2u, 100u}) {
        for (const std::uint64_t distance : {1u, 2u, 256u}) {
            std::uint32_t equal = 0;
            for (std::uint32_t failures = 9; failures < 9 + count; ++failures) {
                equal += cid::ConsensusAllocation::skipped_after(failures, 1000 + distance) ==
                    cid::ConsensusAllocation::skipped_after(failures + later, 1000);
            }
            EXPECT_LT(equal, count / 64) << distance << ", "
                                         << later; // 256 values are possible: 16 equal ones are expected
        }
    }
}

// Several threads of each process make communicators at once and propose the same indices, in any order.
TEST(consensus, many_at_once_in_any_order) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        constexpr std::size_t processes = 4;
        constexpr std::size_t count = 8;
        ConsensusJob job(processes);
        for (cid::IndexTable& table : job.tables) {
            for (std::uint32_t index = 2; index < 10; ++index) {
                if (random() % 3 == 0) {
                    table.reserve(index);
                }
            }
        }
        auto parts = job.begin(count);
        EXPECT_TRUE(run_at_random(parts, random, 200000)) << "seed " << seed;
        EXPECT_EQ(distinct_indices(parts).size(), count) << "seed " << seed;
        for (const auto& one : parts) {
            EXPECT_LT(one[0]->rounds(), 60u) << "seed " << seed;
        }
    }
}

TEST(consensus, many_at_once_in_real_threads) {
    constexpr std::size_t processes = 2;
    constexpr std::size_t count = 4;
    ConsensusJob job(processes);
    for (int round = 0; round < 50; ++round) {
        auto parts = job.begin(count);
        run_in_threads(parts);
        const std::set<std::uint16_t> indices = distinct_indices(parts);
        for (const std::uint16_t index : indices) {
            for (cid::IndexTable& table : job.tables) {
                table.release(index);
            }
        }
    }
}

TEST(consensus, refusals_reach_all_members) {
    check_refusals<ConsensusJob>();
}
