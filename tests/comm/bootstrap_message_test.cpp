// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap/message.h"

#include "mpi/communicators/process_words.h"
#include "mpi/instance/process_state.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace patchbay;

namespace {

constexpr std::uint64_t words[] = {1, ~std::uint64_t(0), 42};

std::vector<std::byte> message_with(const OperationKey& key) {
    BootstrapHeader head{};
    head.sender = 3;
    head.round = 2;
    head.kind = BootstrapHeader::Kind::result;
    return BootstrapHeader::write(key, head, words);
}

// Jobs 0 to 64.
const JobTable& jobs() {
    static JobTable table({"job 0", 1, UINT32_MAX, {}});
    while (table.size() < 65) {
        // The nonces of the other jobs take as many bytes as any.
        (void)table.add({"job " + std::to_string(table.size()), ~std::uint64_t(table.size()), UINT32_MAX, {}});
    }
    return table;
}

std::string members_of(const Group& group) {
    return patchbay::members_of(group, jobs());
}

Ref<Group> group_of(std::vector<std::uint32_t> ranks) {
    std::vector<ProcessId> members;
    for (const std::uint32_t rank : ranks) {
        members.push_back({0, rank});
    }
    return Group::list(std::move(members), {0, ranks.front()});
}

// All sequences of different ranks below `ranks`, of at most `length` of them.
void for_all_groups(std::uint32_t ranks, std::size_t length, std::vector<std::uint32_t>& members,
    const std::function<void(const std::vector<std::uint32_t>&)>& act) {
    if (!members.empty()) {
        act(members);
    }
    for (std::uint32_t rank = 0; members.size() < length && rank < ranks; ++rank) {
        if (std::ranges::find(members, rank) == members.end()) {
            members.push_back(rank);
            for_all_groups(ranks, length, members, act);
            members.pop_back();
        }
    }
}

} // namespace

TEST(bootstrap_message, reading_gives_what_was_written) {
    const OperationKey key{"a tag", members_of(*group_of({4, 1, 9})), 7};
    const auto message = message_with(key);
    BootstrapMessage view;
    ASSERT_TRUE(BootstrapMessage::read(message, &view));
    EXPECT_TRUE(view.has_key(key));
    EXPECT_EQ(view.string_tag, key.string_tag);
    EXPECT_EQ(view.members, key.members);
    EXPECT_EQ(view.head.sender, 3);
    EXPECT_EQ(view.head.round, 2u);
    EXPECT_EQ(view.head.kind, BootstrapHeader::Kind::result);
    ASSERT_EQ(view.head.words, 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(view.word(i), words[i]);
    }
}

TEST(bootstrap_message, every_part_of_the_operation_key_is_compared) {
    const OperationKey key{"a tag", "members", 7};
    const auto message = message_with(key);
    BootstrapMessage view;
    ASSERT_TRUE(BootstrapMessage::read(message, &view));
    EXPECT_FALSE(view.has_key({"b tag", "members", 7})); // another tag of the same length
    EXPECT_FALSE(view.has_key({"a ta", "members", 7}));
    EXPECT_FALSE(view.has_key({"a tagm", "embers", 7})); // the same bytes, divided differently
    EXPECT_FALSE(view.has_key({"", "members", 7}));
    EXPECT_FALSE(view.has_key({"a tag", "memberz", 7})); // other members of the same length
    EXPECT_FALSE(view.has_key({"a tag", "members", 8})); // another sequence number
    EXPECT_TRUE(view.has_key(key));
}

// An earlier bootstrap message held a 64-bit digest of the group; these two groups have the same digest.
TEST(bootstrap_message, groups_with_an_equal_digest_differ) {
    const auto one = group_of({98153, 20338, 72993, 1000, 5, 6, 7});
    const auto other = group_of({91111, 69940, 126327, 381222, 5, 6, 7});
    const OperationKey key_of_one{"a tag", members_of(*one), 0};
    const OperationKey key_of_other{"a tag", members_of(*other), 0};
    const auto message = message_with(key_of_one);
    BootstrapMessage view;
    ASSERT_TRUE(BootstrapMessage::read(message, &view));
    EXPECT_TRUE(view.has_key(key_of_one));
    EXPECT_FALSE(view.has_key(key_of_other));
    EXPECT_NE(key_of_one.unique_name(), key_of_other.unique_name());
    // A process that is a member of both groups counts their calls separately.
    ProcessState process_state;
    EXPECT_EQ(process_state.next_sequence("a tag", key_of_one.members), 0u);
    EXPECT_EQ(process_state.next_sequence("a tag", key_of_other.members), 0u);
}

TEST(operation_key, unique_names_of_different_keys_differ) {
    using namespace std::string_literals;
    std::set<std::string> texts;
    for (const std::string& text :
        {"a"s, "b"s, "a#1"s, "a#1#2"s, ""s, "a\0k"s, "ak"s, "k#a"s, "\0k"s, "#k"s, "#a\0k"s}) {
        for (const std::string& members : {"\1"s, "\2"s, "\1\0"s}) {
            for (const std::uint32_t sequence : {0u, 1u, 2u, 12u}) {
                const std::string unique = OperationKey{text, members, sequence}.unique_name();
                EXPECT_TRUE(texts.insert(unique).second) << unique;
                EXPECT_EQ(unique.find('\0'), std::string::npos);
            }
        }
    }
}

TEST(bootstrap_message, a_malformed_message_is_refused) {
    const auto message = message_with({"a tag", "members", 7});
    BootstrapMessage view;
    for (std::size_t size = 0; size < message.size(); ++size) {
        EXPECT_FALSE(BootstrapMessage::read(std::span(message).first(size), &view)) << size;
    }
    auto longer = message;
    longer.push_back(std::byte(0));
    EXPECT_FALSE(BootstrapMessage::read(longer, &view));
    auto malformed = message;
    const std::uint16_t many = 0xffff;
    std::memcpy(malformed.data() + offsetof(BootstrapHeader, words), &many, sizeof many);
    EXPECT_FALSE(BootstrapMessage::read(malformed, &view));
    malformed = message;
    std::memcpy(malformed.data() + offsetof(BootstrapHeader, members), &many, sizeof many);
    EXPECT_FALSE(BootstrapMessage::read(malformed, &view));
    EXPECT_TRUE(BootstrapMessage::read(message, &view));
}

TEST(group_id, does_not_depend_on_the_representation_of_the_group) {
    EXPECT_EQ(members_of(*group_of({0, 1, 2})), members_of(*Group::range({0, 0}, 3, {0, 1})));
}

TEST(group_id, differs_between_different_groups) {
    std::set<std::string> seen;
    std::vector<std::uint32_t> members;
    std::size_t count = 0;
    for_all_groups(7, 7, members, [&](const std::vector<std::uint32_t>& ranks) {
        ++count;
        EXPECT_TRUE(seen.insert(members_of(*group_of(ranks))).second);
    });
    EXPECT_EQ(count, 13699u); // 7 + 7 * 6 + ... + 7!
    // Groups of other jobs, distant ranks, and groups that an ambiguous encoding would confuse with one of the above.
    for (const std::vector<ProcessId>& ids :
        std::vector<std::vector<ProcessId>>{{{1, 0}}, {{0, 0}, {1, 1}}, {{1, 0}, {0, 1}}, {{1, 0}, {1, 1}}, {{0, 128}},
            {{0, 127}, {0, 128}}, {{0, 0}, {0, UINT32_MAX}}, {{0, UINT32_MAX}, {0, 0}}, {{0, 1}, {0, 0x80000001}},
            {{2, 0}}, {{0, 0, 1}}, {{1, 0, 1}}, {{0, 0}, {0, 1, 1}}, {{0, 0}, {0, 0, 1}}}) {
        EXPECT_TRUE(seen.insert(members_of(*Group::list(ids, ids.front()))).second);
    }
}

TEST(group_id, is_short_for_regular_ranks_and_bounded_otherwise) {
    EXPECT_LE(members_of(*Group::range({0, 0}, 1000000, {0, 0})).size(), 8u);
    std::vector<std::uint32_t> downwards;
    for (std::uint32_t rank = 300; rank > 0; rank -= 3) {
        downwards.push_back(rank);
    }
    EXPECT_LE(members_of(*group_of(downwards)).size(), 8u);
    std::vector<ProcessId> far;
    for (std::uint32_t i = 0; i < 64; ++i) {
        far.push_back({JobNumber(1 + i), UINT32_MAX - i * i * i, UINT16_MAX});
    }
    EXPECT_LE(members_of(*Group::list(far, far.front())).size(), longest_members(far.size()));
    std::vector<ProcessId> alternating; // runs of two members, because a longer run needs a distance beyond 32 bits
    for (std::uint32_t i = 0; i < 32; ++i) {
        alternating.push_back({JobNumber(1 + i), UINT32_MAX, UINT16_MAX});
        alternating.push_back({JobNumber(1 + i), 0, UINT16_MAX});
    }
    EXPECT_LE(members_of(*Group::list(alternating, alternating.front())).size(), longest_members(alternating.size()));
}

TEST(group_id, is_the_same_in_processes_that_have_other_numbers_for_the_jobs) {
    JobTable one({"one", 1001, 4, {}});
    JobTable two({"two", 1002, 4, {}});
    const JobNumber two_in_one = *one.add({"two", 1002, 4, {}});
    (void)two.add({"three", 1003, 4, {}});
    const JobNumber one_in_two = *two.add({"one", 1001, 4, {}});
    ASSERT_NE(two_in_one, one_in_two);
    const ProcessId seen_by_one[] = {{own_job, 1}, {two_in_one, 0}, {two_in_one, 1}, {own_job, 0}};
    const ProcessId seen_by_two[] = {{one_in_two, 1}, {own_job, 0}, {own_job, 1}, {one_in_two, 0}};
    const Ref<Group> group_of_one = Group::list({std::begin(seen_by_one), std::end(seen_by_one)}, seen_by_one[0]);
    const Ref<Group> group_of_two = Group::list({std::begin(seen_by_two), std::end(seen_by_two)}, seen_by_two[1]);
    EXPECT_EQ(patchbay::members_of(*group_of_one, one), patchbay::members_of(*group_of_two, two));
}

TEST(process_words, a_group_arrives_as_what_it_is_in_the_other_process) {
    JobTable one({"one", 1001, 4, {}});
    JobTable two({"two", 1002, 4, {}});
    const JobNumber two_in_one = *one.add({"two", 1002, 4, {}});
    const JobNumber one_in_two = *two.add({"one", 1001, 4, {}});
    Words words{7};
    append_group(words, *Group::list({{own_job, 3}, {two_in_one, 1}, {own_job, 0, 2}}, {own_job, 3}), one);
    int code = MPI_ERR_OTHER;
    std::shared_ptr<const patchbay::JobReferences> jobs;
    std::string asked;
    const patchbay::AddJob add = [&](std::string_view nspace) -> patchbay::Result<JobNumber> {
        asked = nspace;
        const auto known = two.add_reference(nspace);
        return known ? patchbay::Result<JobNumber>(*known) : patchbay::Error{patchbay::Errc::not_found, "none"};
    };
    const Ref<Group> group = read_group(std::span(words).subspan(1), {own_job, 1}, two, add, &jobs, &code);
    ASSERT_EQ(code, MPI_SUCCESS);
    ASSERT_EQ(group->size(), 3);
    EXPECT_EQ(group->process(0), (ProcessId{one_in_two, 3}));
    EXPECT_EQ(group->process(1), (ProcessId{own_job, 1}));
    EXPECT_EQ(group->process(2), (ProcessId{one_in_two, 0, 2}));
    EXPECT_EQ(group->rank(), 1);

    EXPECT_EQ(asked, "one"); // and the own job is known

    two.drop(one_in_two); // the references of the group are left
    EXPECT_EQ(two.size(), 2u);
    jobs.reset();
    EXPECT_EQ(two.size(), 1u);
    EXPECT_FALSE(read_group(std::span(words).subspan(1), {own_job, 1}, two, add, &jobs, &code));
    EXPECT_EQ(code, MPI_ERR_GROUP);
    Words none;
    append_group(none, *Group::empty(), one);
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(read_group(none, {own_job, 1}, two, add, &jobs, &code)->size(), 0);
    EXPECT_FALSE(jobs);
    EXPECT_EQ(code, MPI_SUCCESS);
}

TEST(process_state, sequence_numbers_are_counted_by_tag_and_group) {
    ProcessState process_state;
    EXPECT_EQ(process_state.next_sequence("a", "1"), 0u);
    EXPECT_EQ(process_state.next_sequence("a", "1"), 1u);
    EXPECT_EQ(process_state.next_sequence("b", "1"), 0u);
    EXPECT_EQ(process_state.next_sequence("a", "2"), 0u);
    EXPECT_EQ(process_state.next_sequence("a", "1"), 2u);
    EXPECT_NE(process_state.next_number(), process_state.next_number());
}

// A library generation without a bootstrap exchange must keep the messages that an earlier generation has kept.
TEST(process_state, bootstrap_messages_are_kept_until_they_are_taken) {
    ProcessState process_state;
    process_state.keep_bootstrap_messages({{std::byte(1)}});
    process_state.keep_bootstrap_messages({});
    process_state.keep_bootstrap_messages({{std::byte(2)}, {std::byte(3)}});
    const auto messages = process_state.take_bootstrap_messages();
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(messages[0], std::vector{std::byte(1)});
    EXPECT_EQ(messages[2], std::vector{std::byte(3)});
    EXPECT_TRUE(process_state.take_bootstrap_messages().empty());
}
