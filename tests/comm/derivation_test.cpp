// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/derivation.h"
#include "object/communicator.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <utility>
#include <vector>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using cid::Derivation;
using cid::ExtendedId;

namespace {

constexpr int failure = 39;

std::uint64_t field(const ExtendedId& id, int number) {
    return id.fields >> 8 * number & 0xff;
}

// The next child; when a block is used up, it gets the next PGCID.
Derivation::Child next(Derivation& parent, std::uint64_t& pgcids) {
    const Derivation::ChildNumber child_number = parent.take();
    if (child_number.renews) {
        EXPECT_FALSE(parent.ready(child_number));
        parent.renew(child_number, ++pgcids, 0);
    }
    EXPECT_TRUE(parent.ready(child_number));
    int code = 0;
    const auto child = parent.resolve(child_number, &code);
    EXPECT_TRUE(child && code == 0);
    return child.value_or(Derivation::Child{});
}

} // namespace

TEST(derivation, two_hundred_and_fifty_five_children_then_a_new_pgcid) {
    std::uint64_t pgcids = 100;
    Derivation parent({7, 0}, 7);
    for (std::uint64_t n = 1; n <= 255; ++n) {
        const auto child = next(parent, pgcids);
        EXPECT_EQ(child.id.pgcid, 7u);
        EXPECT_EQ(child.id.fields, n << 56);
        EXPECT_EQ(child.active, 6);
    }
    EXPECT_EQ(pgcids, 100u);
    for (std::uint64_t block = 101; block < 104; ++block) {
        for (std::uint64_t n = 1; n <= 255; ++n) {
            const auto child = next(parent, pgcids);
            EXPECT_EQ(child.id, (ExtendedId{block, n << 56}));
            EXPECT_EQ(child.active, 6);
        }
        EXPECT_EQ(pgcids, block);
    }
}

TEST(derivation, the_world_leaves_the_last_value_to_self) {
    std::uint64_t pgcids = 100;
    Derivation world({0, 0}, 7, 254);
    Derivation self({0, 255ull << 56}, 6);
    std::set<std::uint64_t> names{255ull << 56};
    for (int n = 0; n < 254; ++n) {
        const auto child = next(world, pgcids);
        EXPECT_EQ(child.id.pgcid, 0u);
        EXPECT_TRUE(names.insert(child.id.fields).second);
        EXPECT_TRUE(names.insert(next(self, pgcids).id.fields).second);
    }
    EXPECT_EQ(pgcids, 100u);
    EXPECT_EQ(next(world, pgcids).id.pgcid, 101u);
}

TEST(derivation, each_generation_counts_in_the_field_below) {
    std::uint64_t pgcids = 100;
    Derivation::Child now{{7, 0}, 7};
    for (int generation = 1; generation <= 7; ++generation) {
        Derivation parent(now.id, now.active);
        next(parent, pgcids);
        now = next(parent, pgcids); // the second child
        EXPECT_EQ(now.id.pgcid, 7u);
        EXPECT_EQ(now.active, 7 - generation);
        for (int number = 0; number < 8; ++number) {
            EXPECT_EQ(field(now.id, number), number >= 8 - generation ? 2u : 0u);
        }
    }
    // No field is left: the first child needs a new PGCID, and its number is in the highest field.
    Derivation last(now.id, now.active);
    const auto child = next(last, pgcids);
    EXPECT_EQ(child.id, (ExtendedId{101, 1ull << 56}));
    EXPECT_EQ(child.active, 6);
}

TEST(derivation, child_numbers_wait_for_their_block_and_resolve_in_any_order) {
    Derivation parent({7, 0}, 7);
    std::vector<Derivation::ChildNumber> child_numbers;
    for (int n = 0; n < 255 + 2 * 255 + 10; ++n) {
        child_numbers.push_back(parent.take());
        EXPECT_EQ(child_numbers.back().renews, n == 255 || n == 510 || n == 765);
        EXPECT_EQ(parent.ready(child_numbers.back()), n < 255);
    }
    parent.renew(child_numbers[510], 12, 0); // the later block gets its PGCID first
    EXPECT_FALSE(parent.ready(child_numbers[255]));
    EXPECT_TRUE(parent.ready(child_numbers[700]));
    parent.renew(child_numbers[255], 11, 0);
    parent.renew(child_numbers[765], 13, 0);
    std::mt19937 random(3);
    std::ranges::shuffle(child_numbers, random);
    std::set<std::pair<std::uint64_t, std::uint64_t>> ids;
    for (const auto& child_number : child_numbers) {
        int code = 0;
        const auto child = parent.resolve(child_number, &code);
        ASSERT_TRUE(child);
        EXPECT_EQ(child->id.pgcid, child_number.block == 0 ? 7 : 10 + child_number.block);
        EXPECT_TRUE(ids.emplace(child->id.pgcid, child->id.fields).second);
    }
}

// Non-member participation uses up a child number, so that all members of the parent have the same next child number.
TEST(derivation, skipped_child_numbers_use_up_excids) {
    std::uint64_t pgcids = 100;
    Derivation one({7, 0}, 7);
    Derivation other({7, 0}, 7);
    std::mt19937 random(5);
    for (int n = 0; n < 2000; ++n) {
        const auto mine = one.take();
        const auto theirs = other.take();
        EXPECT_EQ(mine.block, theirs.block);
        EXPECT_EQ(mine.value, theirs.value);
        EXPECT_EQ(mine.renews, theirs.renews);
        if (mine.renews) {
            one.renew(mine, ++pgcids, 0);
            other.renew(theirs, pgcids, 0);
        }
        int code = 0;
        if (random() % 2 == 0) {
            one.skip(mine);
            EXPECT_TRUE(other.resolve(theirs, &code));
        } else {
            EXPECT_EQ(one.resolve(mine, &code)->id, other.resolve(theirs, &code)->id);
        }
    }
}

TEST(derivation, a_child_number_may_be_skipped_before_its_block_has_a_pgcid) {
    Derivation parent({7, 1}, 0); // no field is left for children
    const auto renewing = parent.take();
    const auto skipped = parent.take();
    const auto waiting = parent.take();
    parent.skip(skipped);
    EXPECT_FALSE(parent.ready(waiting));
    parent.renew(renewing, 8, 0);
    parent.skip(renewing);
    int code = 0;
    EXPECT_EQ(parent.resolve(waiting, &code)->id, (ExtendedId{8, 3ull << 56}));
}

TEST(derivation, a_renewal_that_fails_fails_its_block_and_not_the_next) {
    Derivation parent({7, 1}, 0);
    std::vector<Derivation::ChildNumber> child_numbers;
    for (int n = 0; n < 256; ++n) {
        child_numbers.push_back(parent.take());
    }
    parent.renew(child_numbers[0], 0, failure);
    for (int n = 0; n < 255; ++n) {
        int code = 0;
        EXPECT_TRUE(parent.ready(child_numbers[std::size_t(n)]));
        EXPECT_FALSE(parent.resolve(child_numbers[std::size_t(n)], &code));
        EXPECT_EQ(code, failure);
    }
    parent.renew(child_numbers[255], 8, 0);
    int code = 0;
    EXPECT_TRUE(parent.resolve(child_numbers[255], &code));
    EXPECT_EQ(code, 0);
}

TEST(derivation, excids_are_unique_in_a_random_tree) {
    std::mt19937 random(11);
    std::uint64_t pgcids = 1;
    std::deque<Derivation> tree;
    tree.emplace_back(ExtendedId{1, 0}, 7);
    std::set<std::pair<std::uint64_t, std::uint64_t>> ids{{1, 0}};
    for (int n = 0; n < 50000; ++n) {
        // Few parents with many children, and long chains of descendants.
        const std::size_t at = random() % 3 == 0 ? tree.size() - 1 : random() % std::min<std::size_t>(tree.size(), 40);
        const auto child = next(tree[at], pgcids);
        EXPECT_TRUE(ids.emplace(child.id.pgcid, child.id.fields).second) << child.id.text();
        tree.emplace_back(child.id, child.active);
    }
}

TEST(extended_id, text) {
    EXPECT_EQ((ExtendedId{0x3f, 1ull << 56}).text(), "3f.0100000000000000");
}
