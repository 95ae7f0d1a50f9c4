// SPDX-License-Identifier: BSD-3-Clause
#include "object/info.h"
#include "object/probed_handle.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace patchbay;

TEST(info, pairs_stay_in_order_of_setting) {
    Info info;
    info.set("b", "1");
    info.set("a", "2");
    info.set("b", "3"); // keeps its place
    EXPECT_EQ(info.size(), 2);
    EXPECT_EQ(info.nth_key(0), "b");
    EXPECT_EQ(info.nth_key(1), "a");
    EXPECT_EQ(info.nth_key(2), std::nullopt);
    EXPECT_EQ(info.nth_key(-1), std::nullopt);
    EXPECT_EQ(info.get("b"), "3");
    EXPECT_EQ(info.get("c"), std::nullopt);
}

TEST(info, erase_closes_the_gap) {
    Info info;
    info.set("a", "1");
    info.set("b", "2");
    EXPECT_TRUE(info.erase("a"));
    EXPECT_FALSE(info.erase("a"));
    EXPECT_EQ(info.nth_key(0), "b");
}

TEST(info, a_duplicate_is_independent) {
    Info info;
    info.set("a", "1");
    const auto copy = info.duplicate();
    info.set("a", "2");
    EXPECT_EQ(copy->get("a"), "1");
    copy->set("b", "");
    EXPECT_EQ(info.size(), 1);
}

TEST(info, handles) {
    auto info = Ref<Info>::adopt(new Info);
    EXPECT_EQ(to_object<Info>(to_handle(info.get())), info.get());
    EXPECT_EQ(to_object<Info>(MPI_INFO_NULL), nullptr);
    ASSERT_NE(probed_object<Info>(MPI_INFO_ENV), nullptr);
    EXPECT_EQ(to_handle(to_object<Info>(MPI_INFO_ENV)), MPI_INFO_ENV);
    EXPECT_EQ(probed_object<Info>(reinterpret_cast<MPI_Info>(MPI_GROUP_EMPTY)), nullptr);
}

TEST(info, several_threads) {
    Info info;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&info, t] {
            const std::string key = "key" + std::to_string(t);
            for (int i = 0; i < 2000; ++i) {
                info.set(key, std::to_string(i));
                EXPECT_EQ(info.get(key), std::to_string(i));
                if (i % 10 == 9) {
                    EXPECT_TRUE(info.erase(key));
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(info.size(), 0);
}
