// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/mask/mask.h"
#include "object/communicator.h"

#include "tests/comm/simulated_job.h"

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using namespace patchbay::test;

namespace {

constexpr std::uint32_t segment = 4096;

struct MaskJob : test::Job {
    explicit MaskJob(std::size_t processes)
        : test::Job(processes,
              [this](std::size_t process, cid::Counters& counters, const cid::NewCommunicator& what,
                  std::optional<std::uint64_t> number) {
                  auto made = std::make_unique<cid::MaskAllocation>(
                      tables[process], ownership[process], counters, what, number);
                  EXPECT_EQ(made->start(), MPI_SUCCESS);
                  return made;
              }),
          ownership(processes) {}
    std::vector<cid::MaskOwnership> ownership;
};

void fill(cid::IndexTable& table, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t index = from; index < to; ++index) {
        table.reserve(index);
    }
}

} // namespace

TEST(mask, one_round_whatever_the_holes) {
    MaskJob job(3);
    for (std::uint32_t index = 3; index < 3000; ++index) {
        job.tables[index % 3].reserve(index); // each index is free in two of three processes
    }
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), 3000);
    EXPECT_EQ(parts[0][0]->rounds(), 1u);
    EXPECT_EQ(job.tables[2].reserve_lowest(0), 3u); // an index that was offered and not chosen is free again
}

TEST(mask, a_process_alone) {
    MaskJob job(1);
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), cid::IndexTable::predefined);
}

TEST(mask, segments_beyond_the_first) {
    MaskJob job(2);
    fill(job.tables[0], 3, segment);
    fill(job.tables[1], segment, 3 * segment + 7);
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), 3 * segment + 7);
    EXPECT_EQ(parts[0][0]->rounds(), 4u);
}

TEST(mask, the_last_index_of_all) {
    MaskJob job(2);
    fill(job.tables[1], 3, cid::IndexTable::capacity - 1);
    auto parts = job.begin(1);
    run_round_robin(parts[0]);
    EXPECT_EQ(common_index(parts[0]), cid::IndexTable::capacity - 1);
}

TEST(mask, no_index_left_is_an_error_everywhere) {
    MaskJob job(2);
    for (std::uint32_t index = 3; index < cid::IndexTable::capacity; ++index) {
        job.tables[index % 2].reserve(index);
    }
    const std::uint32_t live = job.tables[0].live();
    testing::internal::CaptureStderr();
    for (int attempt = 0; attempt < 2; ++attempt) {
        auto parts = job.begin(1);
        run_round_robin(parts[0]);
        EXPECT_EQ(parts[0][0]->code, MPI_ERR_NO_SPACE);
        EXPECT_EQ(parts[0][1]->code, MPI_ERR_NO_SPACE);
        for (std::size_t process = 0; process < 2; ++process) {
            const std::string& cause = parts[0][process]->cause;
            EXPECT_NE(cause.find(none_common("cid/mask", job.tables[process].live())), std::string::npos) << cause;
        }
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); // the error handler decides what is printed
    EXPECT_EQ(job.tables[0].live(), live);
    EXPECT_EQ(job.tables[0].reserve_lowest(0), 3u); // process 0 has the even indices in use
}

// The same where A has the first segment, and B comes back to that because no index is free in the others.
TEST(mask, the_first_segment_is_not_waited_for) {
    MaskJob job(2);
    for (cid::IndexTable& table : job.tables) {
        fill(table, segment, cid::IndexTable::capacity);
    }
    auto a = job.prepare();
    auto b = job.prepare();
    job.begin(a, 0, 1);
    for (const std::size_t process : {0u, 1u}) {
        job.begin(b, process, 5);
    }
    for (int steps = 0; steps < 1'000'000 && !all_finished(b); ++steps) {
        a[0]->step();
        for (const std::size_t process : {0u, 1u}) {
            b[process]->step();
        }
    }
    ASSERT_TRUE(all_finished(b));
    EXPECT_EQ(b[0]->code, MPI_ERR_NO_SPACE);
    EXPECT_EQ(b[1]->code, MPI_ERR_NO_SPACE);
    job.begin(a, 1, 1);
    run_round_robin(a);
    EXPECT_EQ(common_index(a), cid::IndexTable::predefined);
}

// Process 0 has begun A, and process 1 begins A only after B: the mask ownership of A must not block B.
TEST(mask, an_allocation_with_missing_members_blocks_no_other) {
    for (const std::uint64_t number_of_a : {1u, 9u}) {
        MaskJob job(2);
        auto a = job.prepare();
        auto b = job.prepare();
        auto c = job.prepare();
        job.begin(a, 0, number_of_a);
        for (std::size_t process : {0u, 1u}) {
            job.begin(b, process, 5);
            job.begin(c, process, 6);
        }
        for (int steps = 0; steps < 1000 && !(all_finished(b) && all_finished(c)); ++steps) {
            a[0]->step();
            for (std::size_t process : {0u, 1u}) {
                b[process]->step();
                c[process]->step();
            }
        }
        ASSERT_TRUE(all_finished(b) && all_finished(c)) << "number " << number_of_a;
        job.begin(a, 1, number_of_a);
        run_round_robin(a);
        EXPECT_NE(common_index(a), common_index(b));
        EXPECT_NE(common_index(a), common_index(c));
        EXPECT_NE(common_index(b), common_index(c));
    }
}

TEST(mask, many_at_once_in_any_order) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        constexpr std::size_t processes = 4;
        constexpr std::size_t count = 8;
        MaskJob job(processes);
        for (cid::IndexTable& table : job.tables) {
            for (std::uint32_t index = 3; index < 10; ++index) {
                if (random() % 3 == 0) {
                    table.reserve(index);
                }
            }
        }
        // The constructors begin in a different order in each process.
        std::vector<test::Job::Parts> parts;
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t c = 0; c < count; ++c) {
            parts.push_back(job.prepare());
            for (std::size_t process = 0; process < processes; ++process) {
                order.emplace_back(c, process);
            }
        }
        std::ranges::shuffle(order, random);
        for (const auto& [c, process] : order) {
            job.begin(parts[c], process, 100 - c);
        }
        EXPECT_TRUE(run_at_random(parts, random, 500000)) << "seed " << seed;
        EXPECT_EQ(distinct_indices(parts).size(), count) << "seed " << seed;
    }
}

// Allocations wait for each other: the number of reductions grows with their number, not with its
// square.
TEST(mask, hundreds_at_once) {
    constexpr std::size_t count = 500;
    MaskJob job(2);
    std::vector<test::Job::Parts> parts = job.begin(count);
    std::size_t left = count;
    for (int steps = 0; left > 0 && steps < 10000; ++steps) {
        left = 0;
        for (test::Job::Parts& one : parts) {
            one[0]->step();
            one[1]->step();
            left += all_finished(one) ? 0 : 1;
        }
    }
    ASSERT_EQ(left, 0u);
    EXPECT_EQ(distinct_indices(parts).size(), count);
    std::uint64_t rounds = 0;
    for (const test::Job::Parts& one : parts) {
        rounds += one[0]->rounds();
    }
    EXPECT_LE(rounds, 3 * count);
}

// Communicators of some of the processes each, constructed in a different order in each process: what waits in one
// process is held up by another communicator than in the next one.
TEST(mask, different_members_in_any_order) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        constexpr std::size_t processes = 5;
        constexpr std::size_t count = 12;
        MaskJob job(processes);
        struct Member {
            std::size_t process;
            std::unique_ptr<test::Part> part;
        };
        std::vector<std::vector<Member>> comms;
        std::vector<std::unique_ptr<Exchange>> exchanges;
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t c = 0; c < count; ++c) {
            std::vector<std::size_t> members;
            while (members.size() < 2) {
                members.clear();
                for (std::size_t process = 0; process < processes; ++process) {
                    if (random() % 2 == 0) {
                        members.push_back(process);
                    }
                }
            }
            exchanges.push_back(std::make_unique<Exchange>(members.size()));
            comms.emplace_back();
            for (const std::size_t process : members) {
                order.emplace_back(c, comms.back().size());
                comms.back().push_back({process, std::make_unique<Part>(*exchanges.back())});
            }
        }
        std::ranges::shuffle(order, random);
        std::vector<Part*> all;
        const auto step = [&all, &random] { all[random() % all.size()]->step(); };
        for (const auto& [c, member] : order) {
            Part& part = *comms[c][member].part;
            const cid::NewCommunicator what{part.comm, nullptr, part.reduction, nullptr, {}};
            const auto number = member == 0 ? std::optional<std::uint64_t>((c * 7 + seed) % 100) : std::nullopt;
            part.allocation = job.begin_part(comms[c][member].process, part.counters, what, number);
            all.push_back(&part);
            for (unsigned steps = random() % 10; steps > 0; --steps) {
                step();
            }
        }
        const auto is_finished = [](const Part* part) { return part->finished; };
        for (int steps = 0; steps < 500000 && !std::ranges::all_of(all, is_finished); ++steps) {
            step();
        }
        ASSERT_TRUE(std::ranges::all_of(all, is_finished)) << "seed " << seed;
        std::vector<std::set<std::uint16_t>> used(processes);
        for (const std::vector<Member>& comm : comms) {
            for (const Member& member : comm) {
                EXPECT_EQ(member.part->comm.index, comm.front().part->comm.index) << "seed " << seed;
                EXPECT_TRUE(used[member.process].insert(member.part->comm.index).second) << "seed " << seed;
            }
        }
    }
}

TEST(mask, many_at_once_in_real_threads) {
    constexpr std::size_t count = 4;
    MaskJob job(2);
    for (int round = 0; round < 50; ++round) {
        auto parts = job.begin(count);
        run_in_threads(parts);
        const std::set<std::uint16_t> indices = distinct_indices(parts);
        EXPECT_EQ(indices.size(), count);
        for (const std::uint16_t index : indices) {
            for (cid::IndexTable& table : job.tables) {
                table.release(index);
            }
        }
    }
}

TEST(mask, refusals_reach_all_members) {
    check_refusals<MaskJob>();
}
