// SPDX-License-Identifier: BSD-3-Clause
// The messages between head and agent, and the connection that carries them.
#include "launch/link.h"
#include "launch/messages.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace patchbay;
using namespace patchbay::launch;

namespace {

StartJob start_job() {
    StartJob start;
    start.job = 7;
    start.layout.nspace = "patchbay-x";
    start.layout.nonce = ~std::uint64_t(5);
    start.layout.hostname = "host";
    start.layout.apps = {{0, 2, "a b", "/"}, {2, 1, "c", ""}};
    start.layout.psets = {{"set", {0, 2}, false}};
    start.layout.ranks = 3;
    start.layout.slots = 4;
    start.layout.first_node_rank = 9;
    start.layout.parent = ParentProcess{"patchbay-y", 1};
    start.programs = {{"/bin/a", {"a", "b"}, "", {"X=1", "Y="}}, {"/bin/c", {"c"}, "/tmp", {}}};
    start.bind_to = BindTo::core;
    start.map_by = MapBy::numa;
    return start;
}

} // namespace

TEST(messages, arrive_as_they_were) {
    const StartJob sent = start_job();
    const auto got = decode_to_agent(encode(ToAgent(sent)));
    ASSERT_TRUE(bool(got));
    const auto& start = std::get<StartJob>(got.value());
    EXPECT_EQ(start.job, sent.job);
    EXPECT_EQ(start.layout.nspace, sent.layout.nspace);
    EXPECT_EQ(start.layout.nonce, sent.layout.nonce);
    EXPECT_EQ(start.layout.apps[1].first_rank, 2);
    EXPECT_EQ(start.layout.apps[0].command, "a b");
    EXPECT_EQ(start.layout.psets[0].ranks, sent.layout.psets[0].ranks);
    EXPECT_FALSE(start.layout.psets[0].is_listed);
    EXPECT_EQ(start.layout.ranks, 3);
    EXPECT_EQ(start.layout.slots, 4);
    EXPECT_EQ(start.layout.first_node_rank, 9);
    EXPECT_EQ(start.layout.parent->rank, 1u);
    EXPECT_EQ(start.programs[0].environment, sent.programs[0].environment);
    EXPECT_EQ(start.programs[1].working_directory, "/tmp");
    EXPECT_EQ(start.bind_to, BindTo::core);
    EXPECT_EQ(start.map_by, MapBy::numa);

    SpawnRequest request{3, {2, 5}, {}, "key"};
    request.apps.push_back({{"x"}, 4, "w", "p", {{"N", "V"}}, {"set", "x://other"}});
    request.apps.push_back({{"y"}, std::nullopt, "", "", {}, {}});
    const auto spawn = decode_to_head(encode(ToHead(request)));
    ASSERT_TRUE(bool(spawn));
    const auto& asked = std::get<SpawnRequest>(spawn.value());
    EXPECT_EQ(asked.parent, (ProcessId{2, 5}));
    EXPECT_EQ(asked.key, "key");
    EXPECT_EQ(asked.apps[0].ranks, 4);
    EXPECT_EQ(asked.apps[0].environment[0].second, "V");
    EXPECT_EQ(asked.apps[0].psets, (std::vector<std::string>{"set", "x://other"}));
    EXPECT_EQ(asked.apps[1].ranks, std::nullopt);
}

TEST(messages, what_is_no_message_is_refused) {
    const std::string bytes = encode(ToAgent(start_job()));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(bool(decode_to_agent(std::string_view(bytes).substr(0, size)))) << size;
    }
    EXPECT_FALSE(bool(decode_to_agent(bytes + "x")));
    EXPECT_FALSE(bool(decode_to_agent("\xff")));
    EXPECT_TRUE(bool(decode_to_agent(encode(ToAgent(KillAll{})))));
    // A length that no memory has.
    std::string huge = encode(ToHead(AgentReady{"error", "host", 1}));
    huge.replace(1, 8, 8, '\xff');
    EXPECT_FALSE(bool(decode_to_head(huge)));
}

TEST(link, carries_messages_of_all_sizes_in_both_directions) {
    EventLoop loop;
    auto [one, other] = Link::make_pair();
    ASSERT_TRUE(bool(one));
    constexpr std::size_t sizes[] = {0, 1, 3'000'000, 5, 70'000, 4};
    std::vector<std::string> at_one;
    std::vector<std::string> at_other;
    bool closed = false;
    const auto stop_when_all_are_there = [&] {
        if (at_one.size() == std::size(sizes) && at_other.size() == std::size(sizes)) {
            loop.stop();
        }
    };
    std::optional<Link> first(
        std::in_place, loop, std::move(one),
        [&](std::string_view message) {
            at_one.emplace_back(message);
            stop_when_all_are_there();
        },
        [] {});
    Link second(
        loop, std::move(other),
        [&](std::string_view message) {
            at_other.emplace_back(message);
            second.send(message); // back again, from within the callback
            stop_when_all_are_there();
        },
        [&] {
            closed = true;
            loop.stop();
        });
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        first->send(std::string(sizes[i], char('a' + i)));
    }
    loop.run();
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        EXPECT_EQ(at_other[i], std::string(sizes[i], char('a' + i))) << i;
        EXPECT_EQ(at_one[i], at_other[i]) << i;
    }
    first.reset();
    loop.run();
    EXPECT_TRUE(closed);
    second.send("nobody is there");
}

TEST(link, closes_at_what_is_no_message) {
    EventLoop loop;
    auto [one, other] = Link::make_pair();
    const int raw = one.get();
    bool closed = false;
    Link link(
        loop, std::move(other), [](std::string_view) { ADD_FAILURE(); },
        [&] {
            closed = true;
            loop.stop();
        });
    ASSERT_EQ(::send(raw, "\xff\xff\xff\xff____", 8, 0), 8);
    loop.run();
    EXPECT_TRUE(closed);
}
