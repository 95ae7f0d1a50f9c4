// SPDX-License-Identifier: BSD-3-Clause
#include "object/attribute.h"

#include <atomic>
#include <gtest/gtest.h>
#include <malloc.h>
#include <thread>
#include <vector>

using namespace patchbay;

namespace {

constexpr auto owner = AttributeOwner::communicator;
const MPI_Comm handle = MPI_COMM_SELF;

struct Calls {
    std::vector<std::intptr_t> deleted;
    int copies = 0;
    int refuse = MPI_SUCCESS; // what the callbacks return
};

int delete_fn(MPI_Comm, int, void* value, void* extra) {
    auto& calls = *static_cast<Calls*>(extra);
    if (calls.refuse == MPI_SUCCESS) {
        calls.deleted.push_back(reinterpret_cast<std::intptr_t>(value));
    }
    return calls.refuse;
}

int copy_fn(MPI_Comm, int, void* extra, void* value, void* result, int* flag) {
    auto& calls = *static_cast<Calls*>(extra);
    ++calls.copies;
    *static_cast<void**>(result) = static_cast<char*>(value) + 1;
    *flag = 1;
    return calls.refuse;
}

void* value_of(std::intptr_t value) {
    return reinterpret_cast<void*>(value);
}

std::intptr_t get(const AttributeMap& map, int key) {
    void* value = nullptr;
    return map.get(key, &value) ? reinterpret_cast<std::intptr_t>(value) : -1;
}

class Attributes : public testing::Test {
protected:
    int make_key() {
        int key = MPI_KEYVAL_INVALID;
        EXPECT_EQ(
            keyval_create(owner, reinterpret_cast<void*>(&copy_fn), reinterpret_cast<void*>(&delete_fn), &calls, &key),
            MPI_SUCCESS);
        return key;
    }
    int make_key(std::uintptr_t copy, std::uintptr_t del) {
        int key = MPI_KEYVAL_INVALID;
        keyval_create(owner, reinterpret_cast<void*>(copy), reinterpret_cast<void*>(del), nullptr, &key);
        return key;
    }
    Calls calls;
    AttributeMap map;
};

} // namespace

TEST_F(Attributes, keys_are_no_predefined_constants) {
    EXPECT_GT(make_key(), 4095);
    EXPECT_NE(make_key(), make_key());
}

TEST_F(Attributes, set_get_delete) {
    const int key = make_key();
    EXPECT_EQ(get(map, key), -1);
    EXPECT_EQ(map.set(owner, handle, key, value_of(5)), MPI_SUCCESS);
    EXPECT_EQ(get(map, key), 5);
    EXPECT_EQ(map.erase(owner, handle, key), MPI_SUCCESS);
    EXPECT_EQ(get(map, key), -1);
    EXPECT_EQ(map.erase(owner, handle, key), MPI_SUCCESS); // nothing to delete
    EXPECT_EQ(calls.deleted, (std::vector<std::intptr_t>{5}));
}

TEST_F(Attributes, setting_again_deletes_the_old_value) {
    const int key = make_key();
    map.set(owner, handle, key, value_of(1));
    map.set(owner, handle, key, value_of(2));
    EXPECT_EQ(calls.deleted, (std::vector<std::intptr_t>{1}));
    EXPECT_EQ(get(map, key), 2);
}

TEST_F(Attributes, a_key_of_another_kind_of_object_is_refused) {
    int key = MPI_KEYVAL_INVALID;
    keyval_create(AttributeOwner::datatype, nullptr, nullptr, nullptr, &key);
    EXPECT_EQ(map.set(owner, handle, key, nullptr), MPI_ERR_KEYVAL);
    EXPECT_EQ(map.erase(owner, handle, key), MPI_ERR_KEYVAL);
    EXPECT_EQ(keyval_free(owner, &key), MPI_ERR_KEYVAL);
    EXPECT_EQ(keyval_free(AttributeOwner::datatype, &key), MPI_SUCCESS);
    EXPECT_EQ(key, MPI_KEYVAL_INVALID);
}

TEST_F(Attributes, a_freed_key_remains_valid_where_it_is_used) {
    int key = make_key();
    const int saved = key;
    map.set(owner, handle, key, value_of(7));
    EXPECT_EQ(keyval_free(owner, &key), MPI_SUCCESS);
    EXPECT_TRUE(keyval_is_valid(owner, saved));
    AttributeMap copy;
    EXPECT_EQ(map.copy_to(copy, owner, handle, handle), MPI_SUCCESS);
    EXPECT_EQ(get(copy, saved), 8); // 7, and one that copy_fn adds
    EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
    EXPECT_EQ(copy.erase_all(owner, handle), MPI_SUCCESS);
    EXPECT_EQ(calls.deleted, (std::vector<std::intptr_t>{7, 8}));
    EXPECT_FALSE(keyval_is_valid(owner, saved)); // its last attribute is deleted
    EXPECT_EQ(map.set(owner, handle, saved, value_of(9)), MPI_ERR_KEYVAL);
}

TEST_F(Attributes, a_freed_key_leaves_nothing_behind) {
    const auto use_one = [this] {
        int key = make_key();
        map.set(owner, handle, key, value_of(1));
        EXPECT_EQ(keyval_free(owner, &key), MPI_SUCCESS);
        EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
        calls.deleted.clear();
    };
    use_one();
    const std::size_t before = mallinfo2().uordblks; // 0 where a sanitizer has the memory
    for (int i = 0; i < 1000; ++i) {
        use_one();
    }
    EXPECT_LE(mallinfo2().uordblks, before + 1000);
}

TEST_F(Attributes, predefined_callbacks_are_numbers) {
    const int null_key = make_key(0, 0);
    const int dup_key = make_key(1, 0);
    map.set(owner, handle, null_key, value_of(1));
    map.set(owner, handle, dup_key, value_of(2));
    AttributeMap copy;
    EXPECT_EQ(map.copy_to(copy, owner, handle, handle), MPI_SUCCESS);
    EXPECT_EQ(get(copy, null_key), -1);
    EXPECT_EQ(get(copy, dup_key), 2);
    EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
    EXPECT_TRUE(map.empty());
}

TEST_F(Attributes, all_are_deleted_newest_first) {
    for (std::intptr_t i = 1; i <= 3; ++i) {
        map.set(owner, handle, make_key(), value_of(i));
    }
    EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
    EXPECT_EQ(calls.deleted, (std::vector<std::intptr_t>{3, 2, 1}));
}

// In the reverse order that they were set (MPI-5.0, 11.2.4).
TEST_F(Attributes, one_that_is_set_again_is_the_newest) {
    const int first = make_key();
    map.set(owner, handle, first, value_of(1));
    map.set(owner, handle, make_key(), value_of(2));
    map.set(owner, handle, make_key(), value_of(3));
    map.set(owner, handle, first, value_of(4));
    EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
    EXPECT_EQ(calls.deleted, (std::vector<std::intptr_t>{1, 4, 3, 2}));
}

TEST_F(Attributes, a_refusing_delete_callback_keeps_the_value) {
    const int key = make_key();
    map.set(owner, handle, key, value_of(1));
    calls.refuse = MPI_ERR_OTHER;
    EXPECT_EQ(map.erase(owner, handle, key), MPI_ERR_OTHER);
    EXPECT_EQ(map.set(owner, handle, key, value_of(2)), MPI_ERR_OTHER);
    EXPECT_EQ(map.erase_all(owner, handle), MPI_ERR_OTHER);
    EXPECT_EQ(get(map, key), 1);
    calls.refuse = MPI_SUCCESS;
    EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
}

TEST_F(Attributes, a_failing_copy_takes_back_what_was_copied) {
    map.set(owner, handle, make_key(1, 0), value_of(1));
    map.set(owner, handle, make_key(), value_of(2));
    calls.refuse = MPI_ERR_OTHER;
    AttributeMap copy;
    EXPECT_EQ(map.copy_to(copy, owner, handle, handle), MPI_ERR_OTHER);
    EXPECT_TRUE(copy.empty());
}

TEST_F(Attributes, several_threads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this] {
            for (int i = 0; i < 1000; ++i) {
                int key = MPI_KEYVAL_INVALID;
                keyval_create(owner, value_of(1), nullptr, nullptr, &key);
                EXPECT_EQ(map.set(owner, handle, key, value_of(i)), MPI_SUCCESS);
                EXPECT_EQ(get(map, key), i);
                EXPECT_EQ(map.erase(owner, handle, key), MPI_SUCCESS);
                EXPECT_EQ(keyval_free(owner, &key), MPI_SUCCESS);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(map.empty());
}

namespace {

// How often the deletion callback has been called for each value, in a test of several threads.
struct Deletions {
    std::vector<std::atomic<int>> of_value = std::vector<std::atomic<int>>(40001);
    std::atomic<int> copies_of_deleted = 0;
};

int count_deletion(MPI_Comm, int, void* value, void* extra) {
    ++static_cast<Deletions*>(extra)->of_value[reinterpret_cast<std::uintptr_t>(value)];
    return MPI_SUCCESS;
}

int look_at_value(MPI_Comm, int, void* extra, void* value, void*, int* flag) {
    auto& deletions = *static_cast<Deletions*>(extra);
    std::this_thread::yield();
    deletions.copies_of_deleted += deletions.of_value[reinterpret_cast<std::uintptr_t>(value)];
    *flag = 0;
    return MPI_SUCCESS;
}

} // namespace

// Each value is deleted once, and none is copied that has been deleted, whatever threads do to one attribute.
TEST_F(Attributes, several_threads_with_one_key) {
    Deletions deletions;
    int key = MPI_KEYVAL_INVALID;
    keyval_create(
        owner, reinterpret_cast<void*>(&look_at_value), reinterpret_cast<void*>(&count_deletion), &deletions, &key);
    constexpr int rounds = 20000;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < rounds; ++i) {
                EXPECT_EQ(map.set(owner, handle, key, value_of(1 + t * rounds + i)), MPI_SUCCESS);
                if (i % 3 == 0) {
                    EXPECT_EQ(map.erase(owner, handle, key), MPI_SUCCESS);
                }
                if (i % 7 == 0) {
                    AttributeMap copy;
                    EXPECT_EQ(map.copy_to(copy, owner, handle, handle), MPI_SUCCESS);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(map.erase_all(owner, handle), MPI_SUCCESS);
    int others = 0;
    for (int value = 1; value <= 2 * rounds; ++value) {
        others += deletions.of_value[std::size_t(value)] != 1;
    }
    EXPECT_EQ(others, 0);
    EXPECT_EQ(deletions.copies_of_deleted, 0);
    keyval_free(owner, &key);
}

// A callback may use the attribute for which it is called.
TEST_F(Attributes, a_callback_may_look_at_its_attribute) {
    static AttributeMap* own;
    static int own_key;
    own = &map;
    const auto look = [](MPI_Comm, int, void* value, void*) -> int {
        EXPECT_EQ(get(*own, own_key), reinterpret_cast<std::intptr_t>(value));
        return MPI_SUCCESS;
    };
    own_key = make_key(0, reinterpret_cast<std::uintptr_t>(+look));
    map.set(owner, handle, own_key, value_of(1));
    map.set(owner, handle, own_key, value_of(2));
    EXPECT_EQ(map.erase(owner, handle, own_key), MPI_SUCCESS);
    EXPECT_TRUE(map.empty());
}
