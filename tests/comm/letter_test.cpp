// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/letter.h"

#include "mpi/instance/keepsakes.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace patchbay;

namespace {

constexpr std::uint64_t words[] = {1, ~std::uint64_t(0), 42};

std::vector<std::byte> letter_about(const Topic& topic, int size) {
    LetterHead head{};
    head.sender = 3;
    head.size = size;
    head.round = 2;
    head.kind = LetterHead::Kind::result;
    return LetterHead::write(topic, head, words);
}

Ref<Group> group_of(std::vector<std::uint32_t> ranks) {
    std::vector<ProcessId> members;
    for (const std::uint32_t rank : ranks) {
        members.push_back({0, rank});
    }
    return Group::list(std::move(members), {0, ranks.front()});
}

} // namespace

TEST(letter, comes_out_as_it_went_in) {
    const Topic topic{"a tag", 0x1234567890abcdef, 7};
    const auto letter = letter_about(topic, 5);
    LetterView view;
    ASSERT_TRUE(LetterView::read(letter, &view));
    EXPECT_TRUE(view.is_about(topic, 5));
    EXPECT_EQ(view.head.sender, 3);
    EXPECT_EQ(view.head.round, 2u);
    EXPECT_EQ(view.head.kind, LetterHead::Kind::result);
    ASSERT_EQ(view.head.words, 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(view.word(i), words[i]);
    }
}

TEST(letter, topics_are_told_apart_by_each_of_their_parts) {
    const Topic topic{"a tag", 99, 7};
    const auto letter = letter_about(topic, 5);
    LetterView view;
    ASSERT_TRUE(LetterView::read(letter, &view));
    EXPECT_FALSE(view.is_about({"b tag", 99, 7}, 5)); // equal digests
    EXPECT_FALSE(view.is_about({"a ta", 99, 7}, 5));
    EXPECT_FALSE(view.is_about({"", 99, 7}, 5));
    EXPECT_FALSE(view.is_about({"a tag", 98, 7}, 5)); // equal texts
    EXPECT_FALSE(view.is_about({"a tag", 99, 8}, 5)); // the same once more
    EXPECT_FALSE(view.is_about(topic, 4));            // another size
    EXPECT_TRUE(view.is_about(topic, 5));
}

TEST(letter, unique_texts_of_different_topics_differ) {
    std::set<std::string> texts;
    for (const char* text : {"a", "b", "a#1", "a#1#2", ""}) {
        for (const std::uint64_t digest : {1u, 2u, 12u}) {
            for (const std::uint32_t use : {0u, 1u, 2u, 12u}) {
                EXPECT_TRUE(texts.insert(Topic{text, digest, use}.unique_text()).second);
            }
        }
    }
}

TEST(letter, malformed_ones_are_refused) {
    const auto letter = letter_about({"a tag", 99, 7}, 5);
    LetterView view;
    for (std::size_t size = 0; size < letter.size(); ++size) {
        EXPECT_FALSE(LetterView::read(std::span(letter).first(size), &view)) << size;
    }
    auto longer = letter;
    longer.push_back(std::byte(0));
    EXPECT_FALSE(LetterView::read(longer, &view));
    auto liar = letter;
    const std::uint16_t many = 0xffff;
    std::memcpy(liar.data() + offsetof(LetterHead, words), &many, sizeof many);
    EXPECT_FALSE(LetterView::read(liar, &view));
    EXPECT_TRUE(LetterView::read(letter, &view));
}

TEST(letter, a_digest_depends_on_members_and_order) {
    const std::uint64_t digest = digest_of(*group_of({0, 1, 2}));
    EXPECT_EQ(digest, digest_of(*Group::range({0, 0}, 3, {0, 1}))); // however it is represented
    EXPECT_NE(digest, digest_of(*group_of({0, 2, 1})));
    EXPECT_NE(digest, digest_of(*group_of({0, 1})));
    EXPECT_NE(digest, digest_of(*group_of({0, 1, 3})));
}

TEST(keepsakes, uses_are_counted_by_text_and_members) {
    Keepsakes keepsakes;
    EXPECT_EQ(keepsakes.next_use("a", 1), 0u);
    EXPECT_EQ(keepsakes.next_use("a", 1), 1u);
    EXPECT_EQ(keepsakes.next_use("b", 1), 0u);
    EXPECT_EQ(keepsakes.next_use("a", 2), 0u);
    EXPECT_EQ(keepsakes.next_use("a", 1), 2u);
    EXPECT_NE(keepsakes.next_number(), keepsakes.next_number());
}

// A life in which nobody meets must not lose what an earlier one has left.
TEST(keepsakes, letters_wait_until_somebody_collects_them) {
    Keepsakes keepsakes;
    keepsakes.leave({{std::byte(1)}});
    keepsakes.leave({});
    keepsakes.leave({{std::byte(2)}, {std::byte(3)}});
    const auto letters = keepsakes.collect();
    ASSERT_EQ(letters.size(), 3u);
    EXPECT_EQ(letters[0], std::vector{std::byte(1)});
    EXPECT_EQ(letters[2], std::vector{std::byte(3)});
    EXPECT_TRUE(keepsakes.collect().empty());
}
