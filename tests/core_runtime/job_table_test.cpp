// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/job_table.h"

#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

using namespace patchbay;

namespace {

Job job_of(std::uint64_t number, std::uint32_t size = 4) {
    return {"space." + std::to_string(number), 1000 + number, size, {0, 1}};
}

} // namespace

TEST(process_id, its_word_has_all_of_it_and_the_same_order) {
    const std::vector<ProcessId> ascending = {{0, 0}, {0, 1}, {0, UINT32_MAX}, {0, 0, 1}, {0, 7, 1}, {0, 0, UINT16_MAX},
        {1, 0}, {UINT16_MAX, 0}, {UINT16_MAX, UINT32_MAX, UINT16_MAX}};
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        EXPECT_EQ(ProcessId::of_word(ascending[i].word()), ascending[i]);
        if (i > 0) {
            EXPECT_LT(ascending[i - 1], ascending[i]);
            EXPECT_LT(ascending[i - 1].word(), ascending[i].word());
        }
    }
}

TEST(job_table, the_own_job_is_number_0_and_stays) {
    JobTable jobs(job_of(1));
    EXPECT_EQ(jobs.find("space.1"), own_job);
    jobs.drop(own_job);
    ASSERT_NE(jobs.job(own_job), nullptr);
    EXPECT_EQ(jobs.job(own_job)->size, 4u);
    EXPECT_EQ(jobs.nonce_of(own_job), 1001u);
}

TEST(job_table, a_job_leaves_with_its_last_reference) {
    JobTable jobs(job_of(1));
    const JobNumber number = *jobs.add(job_of(2));
    EXPECT_NE(number, own_job);
    EXPECT_EQ(*jobs.add(job_of(2)), number);
    EXPECT_EQ(jobs.add_reference("space.2"), number);
    EXPECT_EQ(jobs.add_reference("space.3"), std::nullopt);
    jobs.drop(number);
    jobs.drop(number);
    EXPECT_EQ(jobs.find("space.2"), number);
    const std::shared_ptr<const Job> held = jobs.job(number);
    jobs.drop(number);
    EXPECT_EQ(jobs.find("space.2"), std::nullopt);
    EXPECT_EQ(jobs.job(number), nullptr);
    EXPECT_EQ(jobs.nonce_of(number), 0u);
    EXPECT_EQ(held->nspace, "space.2"); // as long as it is used
    jobs.drop(number);
    EXPECT_EQ(jobs.size(), 1u);
}

TEST(job_table, names_and_ids_of_processes) {
    JobTable jobs(job_of(1));
    const JobNumber other = *jobs.add(job_of(2, 3));
    EXPECT_EQ(jobs.id_of({"space.2", 2}), (ProcessId{other, 2}));
    EXPECT_EQ(jobs.id_of({"space.2", 3}), std::nullopt);
    EXPECT_EQ(jobs.id_of({"space.3", 0}), std::nullopt);
    EXPECT_EQ(jobs.id_of({"", 0}), std::nullopt);
    EXPECT_EQ(jobs.name_of({own_job, 3}), (ProcessName{"space.1", 3}));
    EXPECT_EQ(jobs.name_of({own_job, 4}), std::nullopt);
    EXPECT_EQ(jobs.name_of({JobNumber(other + 1), 0}), std::nullopt);
}

TEST(job_table, two_processes_agree_on_the_order_of_jobs) {
    JobTable one(job_of(1));
    JobTable two(job_of(2));
    const JobNumber two_in_one = *one.add(job_of(2));
    const JobNumber one_in_two = *two.add(job_of(1));
    EXPECT_TRUE(one.precedes({own_job, 3}, {two_in_one, 0}));
    EXPECT_TRUE(two.precedes({one_in_two, 3}, {own_job, 0}));
    EXPECT_FALSE(two.precedes({own_job, 0}, {one_in_two, 3}));
    EXPECT_TRUE(one.precedes({own_job, 0}, {own_job, 1}));
    EXPECT_FALSE(one.precedes({own_job, 1}, {own_job, 1}));
}

TEST(job_table, a_nonce_belongs_to_one_job) {
    JobTable jobs(job_of(1));
    EXPECT_EQ(jobs.add({"another", 1001, 1, {}}).error().code, Errc::invalid);
    EXPECT_EQ(jobs.find_nonce(1001), own_job);
    EXPECT_EQ(jobs.find_nonce(1002), std::nullopt);
    JobTable without({"own", 0, 1, {}});
    EXPECT_NE(without.nonce_of(own_job), 0u); // which says that no job has the number
}

TEST(job_table, a_job_is_known_by_its_nonce_before_it_is_added) {
    JobTable jobs(job_of(1));
    const JobNumber number = *jobs.hold(1002);
    EXPECT_EQ(*jobs.hold(1002), number);
    EXPECT_EQ(*jobs.hold(1001), own_job);
    EXPECT_EQ(jobs.unused(), std::vector{number});
    EXPECT_EQ(jobs.nonce_of(number), 1002u);
    EXPECT_EQ(jobs.find("space.2"), std::nullopt);
    EXPECT_EQ(jobs.find(""), std::nullopt);
    EXPECT_EQ(jobs.id_of({"", 0}), std::nullopt);
    EXPECT_EQ(jobs.name_of({number, 0}), std::nullopt);
    EXPECT_EQ(*jobs.add(job_of(2)), number);
    EXPECT_EQ(jobs.name_of({number, 3}), (ProcessName{"space.2", 3}));
    EXPECT_EQ(jobs.add({"another", 1002, 1, {}}).error().code, Errc::invalid);
    EXPECT_TRUE(jobs.unused().empty()) << "add() says that it is in use";
    jobs.end_hold(number);
    jobs.end_hold(own_job);
    jobs.drop(number);
    EXPECT_EQ(jobs.find("space.2"), number);
    EXPECT_EQ(jobs.unused(), std::vector{number});
    jobs.end_hold(number);
    EXPECT_EQ(jobs.size(), 1u);
}

TEST(job_table, a_hold_keeps_the_number_only) {
    JobTable jobs(job_of(1));
    const JobNumber number = *jobs.add(job_of(2));
    EXPECT_EQ(*jobs.hold(1002), number);
    jobs.end_hold(number);
    EXPECT_TRUE(jobs.unused().empty());
    EXPECT_EQ(jobs.find("space.2"), number) << "its reference";
    jobs.drop(number);
    EXPECT_EQ(jobs.size(), 1u);
}

TEST(job_table, a_number_is_used_again_last_of_all) {
    JobTable jobs(job_of(1));
    const JobNumber kept = *jobs.add(job_of(2));
    std::set<JobNumber> seen;
    for (std::uint64_t i = 0; i < 65534; ++i) {
        const JobNumber number = *jobs.add(job_of(3 + i));
        EXPECT_TRUE(seen.insert(number).second) << i;
        jobs.drop(number);
    }
    EXPECT_FALSE(seen.contains(kept));
    EXPECT_FALSE(seen.contains(own_job));
    EXPECT_TRUE(seen.contains(*jobs.add(job_of(3))));
}

TEST(job_table, jobs_come_and_go_in_several_threads) {
    JobTable jobs(job_of(0));
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 1; thread <= 4; ++thread) {
        threads.emplace_back([&jobs, thread] {
            for (int round = 0; round < 500; ++round) {
                const JobNumber shared = *jobs.add(job_of(1));
                const JobNumber alone = *jobs.add(job_of(1 + thread));
                EXPECT_EQ(jobs.find_nonce(1001 + thread), alone);
                EXPECT_EQ(jobs.job(shared)->nspace, "space.1");
                jobs.drop(alone);
                jobs.drop(shared);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(jobs.size(), 1u);
}
