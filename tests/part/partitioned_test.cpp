// SPDX-License-Identifier: BSD-3-Clause
#include "core/core.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_tags.h"

#include <gtest/gtest.h>
#include <vector>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::pml {

namespace {

// Whatever the plan: each partition is in one message, and the messages are numbers of elements.
void expect_valid(int partitions, std::int64_t bytes, std::int64_t element, std::int64_t least) {
    SCOPED_TRACE(testing::Message() << partitions << " x " << bytes << ", element " << element << ", least " << least);
    const PartitionedPlan plan = PartitionedPlan::make(partitions, bytes, element, least);
    ASSERT_GE(plan.messages, 1);
    int next = 0;
    for (int i = 0; i < plan.messages; ++i) {
        ASSERT_EQ(plan.first_of(i), next);
        const int size = plan.size_of(i, partitions);
        ASSERT_GE(size, partitions == 0 ? 0 : 1);
        for (int k = next; k < next + size; ++k) {
            ASSERT_EQ(plan.message_of(k), i);
        }
        next += size;
        if (element != 0) {
            ASSERT_EQ(size * bytes % element, 0);
        }
        if (plan.messages > 1) {
            ASSERT_GE(size * bytes, least);
        }
    }
    ASSERT_EQ(next, partitions);
}

} // namespace

TEST(Partitioned, PlanCoversAllPartitions) {
    for (const int partitions : {0, 1, 2, 3, 7, 63, 64, 65, 1000}) {
        for (const std::int64_t bytes : {0, 1, 4, 12, 64, 1000, 16384}) {
            for (const std::int64_t least : {0, 1, 63, 64, 65, 4096, 1 << 17, 1 << 30}) {
                for (const std::int64_t element : {1, 3, 4, 7, 8, 24, 1 << 20}) {
                    if (partitions * bytes % element == 0) {
                        expect_valid(partitions, bytes, element, least);
                    }
                }
            }
        }
    }
    expect_valid(5, 0, 0, 100); // a type without data
}

TEST(Partitioned, PlanHasTheSmallestMessages) {
    EXPECT_EQ(PartitionedPlan::make(64, 16384, 1, 1 << 17).messages, 8);
    EXPECT_EQ(PartitionedPlan::make(64, 64, 1, 0).messages, 64);
    EXPECT_EQ(PartitionedPlan::make(64, 64, 64, 0).messages, 64);
    EXPECT_EQ(PartitionedPlan::make(64, 64, 128, 0).messages, 32);
    EXPECT_EQ(PartitionedPlan::make(64, 64, 4096, 0).messages, 1);
    EXPECT_EQ(PartitionedPlan::make(64, 64, 1, 65).messages, 32);
}

TEST(Partitioned, TagsAreTakenOnce) {
    Core core;
    PartitionedEngine engine(core);
    std::vector<int> first;
    std::vector<bool> taken(1000);
    const auto take = [&](int count) {
        const int begin = engine.take_tags(count);
        ASSERT_NE(begin, PartitionedEngine::no_tags);
        for (int i = begin; i < begin + count; ++i) {
            ASSERT_FALSE(taken.at(std::size_t(i)));
            taken[std::size_t(i)] = true;
        }
        first.push_back(begin);
    };
    for (int count = 1; count < 20; ++count) {
        take(count);
    }
    EXPECT_EQ(engine.take_tags(partitioned_tags), PartitionedEngine::no_tags);
    // What was given back is taken again when the tags have gone round.
    const int rest = engine.take_tags(partitioned_tags - 190);
    ASSERT_EQ(rest, 190);
    EXPECT_EQ(engine.take_tags(1), PartitionedEngine::no_tags);
    engine.give_back_tags(first[9]); // ten
    EXPECT_EQ(engine.take_tags(11), PartitionedEngine::no_tags);
    EXPECT_EQ(engine.take_tags(10), first[9]);
    engine.give_back_tags(first[0]);
    engine.give_back_tags(rest);
    EXPECT_EQ(engine.take_tags(1000), 190);
    EXPECT_EQ(engine.take_tags(1), 1190);
}

TEST(Partitioned, TagsAreOutsideAllOthers) {
    EXPECT_LT(partitioned_setup_tag(0), partitioned_setup_tag(highest_tag) + highest_tag + 1);
    EXPECT_LT(partitioned_tag(0), partitioned_setup_tag(highest_tag));
    EXPECT_LT(partitioned_tag(partitioned_tags - 1), partitioned_tag(0));
}

} // namespace patchbay::pml
