// SPDX-License-Identifier: BSD-3-Clause
#include "object/group.h"
#include "object/probed_handle.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

using namespace patchbay;

namespace {

constexpr ProcessId self{0, 3};

Ref<Group> group_of(std::vector<std::uint32_t> ranks) {
    std::vector<ProcessId> members;
    for (const std::uint32_t rank : ranks) {
        members.push_back({0, rank});
    }
    return Group::list(std::move(members), self);
}

std::vector<std::uint32_t> ranks_of(const Group& group) {
    std::vector<std::uint32_t> ranks;
    for (int i = 0; i < group.size(); ++i) {
        ranks.push_back(group.process(i).rank);
    }
    return ranks;
}

using Ranks = std::vector<std::uint32_t>;

} // namespace

TEST(group, a_run_has_its_members_without_a_list) {
    const auto group = Group::range({0, 10}, 5, {0, 12});
    EXPECT_EQ(group->size(), 5);
    EXPECT_EQ(group->rank(), 2);
    EXPECT_EQ(group->process(4), (ProcessId{0, 14}));
    EXPECT_EQ(group->rank_of({0, 14}), 4);
    EXPECT_EQ(group->rank_of({0, 15}), MPI_UNDEFINED);
    EXPECT_EQ(group->rank_of({0, 9}), MPI_UNDEFINED);
    EXPECT_EQ(group->rank_of({1, 12}), MPI_UNDEFINED);
}

TEST(group, a_run_is_of_one_thread) {
    const auto group = Group::list({{0, 4, 1}, {0, 5, 1}}, {0, 5, 1});
    EXPECT_EQ(group->rank(), 1);
    EXPECT_EQ(group->process(1), (ProcessId{0, 5, 1}));
    EXPECT_EQ(group->rank_of({0, 5}), MPI_UNDEFINED);
    const auto mixed = Group::list({{0, 4}, {0, 5, 1}}, {0, 4});
    EXPECT_EQ(mixed->process(1), (ProcessId{0, 5, 1}));
}

TEST(group, a_list_has_its_members) {
    const auto group = group_of({7, 3, 9, 0});
    EXPECT_EQ(group->rank(), 1);
    EXPECT_EQ(group->rank_of({0, 9}), 2);
    EXPECT_EQ(group->rank_of({0, 0}), 3);
    EXPECT_EQ(group->rank_of({0, 1}), MPI_UNDEFINED);
    EXPECT_EQ(ranks_of(*group), (Ranks{7, 3, 9, 0}));
}

TEST(group, a_process_outside_has_no_rank) {
    EXPECT_EQ(group_of({1, 2})->rank(), MPI_UNDEFINED);
}

TEST(group, compare) {
    const auto run = Group::range({0, 1}, 3, self);
    EXPECT_EQ(run->compare(*group_of({1, 2, 3})), MPI_IDENT);
    EXPECT_EQ(run->compare(*group_of({3, 2, 1})), MPI_SIMILAR);
    EXPECT_EQ(run->compare(*group_of({1, 2, 4})), MPI_UNEQUAL);
    EXPECT_EQ(run->compare(*group_of({1, 2})), MPI_UNEQUAL);
    EXPECT_EQ(run->compare(*run), MPI_IDENT);
    EXPECT_EQ(Group::empty()->compare(*group_of({})), MPI_IDENT);
}

TEST(group, an_empty_result_is_always_the_predefined_group) {
    const auto group = group_of({1, 5});
    EXPECT_EQ(to_handle(group->include({}).get()), MPI_GROUP_EMPTY);
    EXPECT_EQ(to_handle(Group::subtract(*group, *group).get()), MPI_GROUP_EMPTY);
    EXPECT_EQ(to_object<Group>(MPI_GROUP_EMPTY), Group::empty().get());
    EXPECT_EQ(to_object<Group>(MPI_GROUP_NULL), nullptr);
}

TEST(group, releasing_the_empty_group_too_often_has_no_effect) {
    for (int i = 0; i < 3; ++i) {
        Ref<Group>::adopt(to_object<Group>(MPI_GROUP_EMPTY)).reset();
    }
    EXPECT_EQ(probed_object<Group>(MPI_GROUP_EMPTY)->size(), 0);
}

TEST(group, include_orders_and_exclude_keeps_order) {
    const auto group = group_of({4, 3, 8, 1});
    EXPECT_EQ(ranks_of(*group->include(std::vector{3, 0})), (Ranks{1, 4}));
    EXPECT_EQ(ranks_of(*group->exclude(std::vector{0, 2})), (Ranks{3, 1}));
    EXPECT_EQ(group->exclude(std::vector{0, 2})->rank(), 0);
}

TEST(group, with_the_empty_group_self_is_still_found) {
    EXPECT_EQ(Group::unite(*Group::empty(), *group_of({5, 3}))->rank(), 1);
    EXPECT_EQ(Group::unite(*group_of({5, 3}), *Group::empty())->rank(), 1);
}

TEST(group, results_belong_to_the_session_of_their_operands) {
    const auto group = group_of({4, 3, 8});
    group->session = SessionId{nullptr, 7};
    EXPECT_EQ(group->include(std::vector{1})->session, group->session);
    EXPECT_EQ(Group::unite(*Group::empty(), *group)->session, group->session);
    EXPECT_EQ(Group::empty()->session, SessionId());
}

// Set operations against the definition in MPI-5.0, 7.3.2, on random groups.
TEST(group, set_operations) {
    std::mt19937 random(20260101);
    for (int round = 0; round < 300; ++round) {
        const auto pick = [&] {
            Ranks ranks(12);
            std::iota(ranks.begin(), ranks.end(), 0u);
            std::shuffle(ranks.begin(), ranks.end(), random);
            ranks.resize(random() % 13);
            return ranks;
        };
        const Ranks a = pick();
        const Ranks b = pick();
        const std::set<std::uint32_t> in_a(a.begin(), a.end());
        const std::set<std::uint32_t> in_b(b.begin(), b.end());
        Ranks unite = a;
        std::copy_if(b.begin(), b.end(), std::back_inserter(unite), [&](auto r) { return !in_a.contains(r); });
        Ranks both;
        std::copy_if(a.begin(), a.end(), std::back_inserter(both), [&](auto r) { return in_b.contains(r); });
        Ranks rest;
        std::copy_if(a.begin(), a.end(), std::back_inserter(rest), [&](auto r) { return !in_b.contains(r); });
        const auto left = group_of(a);
        const auto right = group_of(b);
        EXPECT_EQ(ranks_of(*Group::unite(*left, *right)), unite);
        EXPECT_EQ(ranks_of(*Group::intersect(*left, *right)), both);
        EXPECT_EQ(ranks_of(*Group::subtract(*left, *right)), rest);
    }
}
