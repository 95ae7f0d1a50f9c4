// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/directory.h"

#include "object/communicator.h"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using cid::Directory;
using cid::ExtendedId;

TEST(directory, find_returns_the_communicator_until_unbind) {
    Directory directory;
    Communicator one;
    Communicator other;
    EXPECT_EQ(directory.find({1, 2}), nullptr);
    EXPECT_TRUE(directory.bind({1, 2}, &one));
    EXPECT_TRUE(directory.bind({2, 1}, &other));
    EXPECT_EQ(directory.find({1, 2}), &one);
    EXPECT_EQ(directory.find({2, 1}), &other);
    EXPECT_EQ(directory.find({1, 1}), nullptr);
    directory.unbind({1, 2});
    EXPECT_EQ(directory.find({1, 2}), nullptr);
    directory.unbind({1, 2}); // has no effect
    EXPECT_EQ(directory.size(), 1u);
}

TEST(directory, bind_refuses_an_excid_that_is_bound) {
    Directory directory;
    Communicator one;
    Communicator other;
    ASSERT_TRUE(directory.bind({1, 2}, &one));
    ASSERT_TRUE(directory.bind({1, 3}, &one));
    directory.unbind({1, 3}); // leaves memory for the next bind
    EXPECT_FALSE(directory.bind({1, 2}, &other));
    EXPECT_FALSE(directory.bind({1, 2}, &other)); // again, with the memory of the first refusal
    EXPECT_EQ(directory.find({1, 2}), &one);
    EXPECT_TRUE(directory.bind({1, 3}, &other));
    EXPECT_EQ(directory.find({1, 3}), &other);
}

TEST(directory, random_use) {
    Directory directory;
    std::vector<Communicator> comms(8);
    std::unordered_map<std::uint64_t, Communicator*> expected;
    std::mt19937 random(2);
    for (int step = 0; step < 50000; ++step) {
        const std::uint64_t key = random() % 500;
        const ExtendedId id{key % 7, key};
        Communicator* comm = &comms[random() % comms.size()];
        if (random() % 2 == 0) {
            ASSERT_EQ(directory.bind(id, comm), expected.emplace(key, comm).second);
        } else {
            directory.unbind(id);
            expected.erase(key);
        }
        const std::uint64_t wanted = random() % 500;
        const auto found = expected.find(wanted);
        ASSERT_EQ(directory.find({wanted % 7, wanted}), found == expected.end() ? nullptr : found->second);
        ASSERT_EQ(directory.size(), expected.size());
    }
}

TEST(directory, threads) {
    Directory directory;
    Communicator comm;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&directory, &comm, t] {
            for (std::uint64_t n = 0; n < 2000; ++n) {
                EXPECT_TRUE(directory.bind({t, n}, &comm));
                EXPECT_EQ(directory.find({t, n}), &comm);
                directory.find({(t + 1) % 4, n});
                directory.unbind({t, n});
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(directory.size(), 0u);
}
