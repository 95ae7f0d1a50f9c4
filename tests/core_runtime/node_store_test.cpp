// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_store.h"
#include "core/memory/shared_file.h"
#include "tests/core_runtime/processes.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace patchbay {
namespace {
using test::run_processes;
using Outcome = NodeStore::Outcome;
using Entry = NodeStore::Entry;

// One process of the node, which has opened the store.
class Member {
public:
    Member(int fd, std::uint32_t rank, std::uint32_t size)
        : _segment(std::move(*NodeSegment::attach_fd(fd, {0, rank}, size))),
          _store(std::move(*NodeStore::open(*_segment))) {}
    NodeStore& store() { return *_store; }
    Doorbell& bell() { return _segment->own_control().bell; }

private:
    std::unique_ptr<NodeSegment> _segment;
    std::unique_ptr<NodeStore> _store;
};

int memfd() {
    Result<int> fd = shared_file::make_memfd("entry-store-test");
    EXPECT_TRUE(fd);
    return *fd;
}

class NodeStoreTest : public testing::Test {
protected:
    NodeStoreTest() {
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            members.push_back(std::make_unique<Member>(fd, rank, size));
        }
    }
    ~NodeStoreTest() override {
        members.clear();
        close(fd);
    }
    Outcome get_or_put(int rank, std::string_view key, std::uint32_t readers, Entry& entry) {
        return members[std::size_t(rank)]->store().get_or_put(key, readers, entry, &inserted);
    }

    static constexpr std::uint32_t size = 3;
    int fd = memfd();
    std::vector<std::unique_ptr<Member>> members;
    NodeStore::EntryRef inserted; // the entry of the last get_or_put()
};

TEST_F(NodeStoreTest, TheFirstRankInserts) {
    Entry of[] = {{1, 10}, {2, 20}, {3, 30}};
    EXPECT_EQ(get_or_put(1, "x", 3, of[1]), Outcome::inserted);
    EXPECT_EQ(get_or_put(0, "x", 3, of[0]), Outcome::found);
    EXPECT_EQ(get_or_put(2, "x", 3, of[2]), Outcome::found);
    for (const Entry& entry : of) {
        EXPECT_EQ(entry, (Entry{2, 20}));
    }
}

TEST_F(NodeStoreTest, AfterTheLastReaderTheKeyIsFree) {
    for (std::uint64_t round = 0; round < 3; ++round) {
        Entry first{0, round};
        Entry second{0, 99};
        EXPECT_EQ(get_or_put(0, "x", 2, first), Outcome::inserted);
        EXPECT_EQ(get_or_put(1, "x", 2, second), Outcome::found);
        EXPECT_EQ(second.word, round);
    }
}

TEST_F(NodeStoreTest, KeysDifferInEveryByte) {
    const std::string_view keys[] = {
        "", std::string_view("\0", 1), "x", std::string_view("x\0", 2), std::string_view("\0x", 2), "xx"};
    std::uint64_t number = 0;
    for (std::string_view key : keys) {
        Entry entry{0, number++};
        EXPECT_EQ(get_or_put(0, key, 2, entry), Outcome::inserted);
    }
    number = 0;
    for (std::string_view key : keys) {
        Entry entry{0, 99};
        EXPECT_EQ(get_or_put(1, key, 2, entry), Outcome::found);
        EXPECT_EQ(entry.word, number++);
    }
}

// More keys than the hash table has chains; the last readers come in another order.
TEST_F(NodeStoreTest, ManyAtOnce) {
    const auto name = [](std::uint64_t number) {
        std::string text = std::to_string(number);
        return text + std::string(NodeStore::longest_key - text.size(), 'y');
    };
    const std::uint64_t each = NodeStore::entries_per_rank;
    for (int round = 0; round < 20; ++round) {
        for (std::uint64_t i = 0; i < size * each; ++i) {
            Entry entry{i, i};
            EXPECT_EQ(get_or_put(int(i / each), name(i), 2, entry), Outcome::inserted);
        }
        for (std::uint64_t k = 0; k < size * each; ++k) {
            const std::uint64_t i = (k * 7 + std::uint64_t(round)) % (size * each);
            Entry entry{0, 0};
            EXPECT_EQ(get_or_put(int((i / each + 1) % size), name(i), 2, entry), Outcome::found);
            EXPECT_EQ(entry, (Entry{i, i}));
        }
    }
}

TEST_F(NodeStoreTest, AFullRankIsWoken) {
    Entry entry{0, 0};
    for (std::uint32_t i = 0; i < NodeStore::entries_per_rank; ++i) {
        EXPECT_EQ(get_or_put(0, std::to_string(i), 2, entry), Outcome::inserted);
    }
    EXPECT_EQ(get_or_put(0, "one more", 2, entry), Outcome::full);
    EXPECT_FALSE(members[0]->store().has_room("one more"));
    const std::uint32_t seq = members[0]->bell().prepare();
    EXPECT_EQ(get_or_put(1, "5", 2, entry), Outcome::found);
    EXPECT_TRUE(members[0]->bell().sleep(seq, std::chrono::seconds(20)));
    EXPECT_TRUE(members[0]->store().has_room("one more"));
    EXPECT_EQ(get_or_put(0, "one more", 2, entry), Outcome::inserted);
    EXPECT_EQ(get_or_put(0, "two more", 2, entry), Outcome::full);
}

// Another rank, which is not full, inserts the entry.
TEST_F(NodeStoreTest, AFullRankFindsEntries) {
    Entry entry{0, 0};
    for (std::uint32_t i = 0; i < NodeStore::entries_per_rank; ++i) {
        EXPECT_EQ(get_or_put(0, std::to_string(i), 2, entry), Outcome::inserted);
    }
    EXPECT_EQ(get_or_put(0, "x", 2, entry), Outcome::full);
    entry = {1, 2};
    EXPECT_EQ(get_or_put(1, "x", 2, entry), Outcome::inserted) << "entries of another rank do not count";
    EXPECT_TRUE(members[0]->store().has_room("x"));
    EXPECT_FALSE(members[0]->store().has_room("y"));
    entry = {};
    EXPECT_EQ(get_or_put(0, "x", 2, entry), Outcome::found);
    EXPECT_EQ(entry, (Entry{1, 2}));
}

// A rank over the high-water mark waits until all have read its own entry, or until the rank is below the mark.
TEST_F(NodeStoreTest, ManyUnreadEntriesReachTheHighWaterMark) {
    Entry entry{0, 0};
    NodeStore& store = members[0]->store();
    for (std::uint32_t i = 0; i < NodeStore::high_water_mark; ++i) {
        EXPECT_EQ(get_or_put(0, std::to_string(i), 3, entry), Outcome::inserted);
        EXPECT_TRUE(store.below_high_water_mark(inserted)) << i;
    }
    EXPECT_EQ(get_or_put(0, "one more", 3, entry), Outcome::inserted);
    const NodeStore::EntryRef one_more = inserted;
    EXPECT_FALSE(store.below_high_water_mark(one_more));
    EXPECT_EQ(get_or_put(0, "yet one", 3, entry), Outcome::inserted);
    EXPECT_EQ(get_or_put(1, "one more", 3, entry), Outcome::found);
    EXPECT_FALSE(store.below_high_water_mark(one_more));
    EXPECT_EQ(get_or_put(2, "one more", 3, entry), Outcome::found);
    EXPECT_TRUE(store.below_high_water_mark(one_more));
    EXPECT_FALSE(store.below_high_water_mark(inserted)) << "the rank is still over the mark";
    EXPECT_EQ(get_or_put(0, "in the same place", 3, entry), Outcome::inserted);
    EXPECT_EQ(inserted.slot, one_more.slot);
    EXPECT_TRUE(store.below_high_water_mark(one_more));
    EXPECT_FALSE(store.below_high_water_mark(inserted));
    for (std::uint32_t i = 0; i < 2; ++i) {
        EXPECT_EQ(get_or_put(1, std::to_string(i), 3, entry), Outcome::found);
        EXPECT_FALSE(store.below_high_water_mark(inserted));
        EXPECT_EQ(get_or_put(2, std::to_string(i), 3, entry), Outcome::found);
    }
    EXPECT_TRUE(store.below_high_water_mark(inserted)) << "the other ranks have caught up";
}

TEST_F(NodeStoreTest, AnEntryRemainsWhenItsRankAttachesAgain) {
    Entry entry{1, 7};
    EXPECT_EQ(get_or_put(0, "x", 2, entry), Outcome::inserted);
    members[0] = std::make_unique<Member>(fd, 0, size); // its next library generation
    EXPECT_EQ(get_or_put(0, "y", 2, entry), Outcome::inserted);
    entry = {};
    EXPECT_EQ(get_or_put(1, "x", 2, entry), Outcome::found);
    EXPECT_EQ(entry, (Entry{1, 7}));
}

// Processes that come later than others have opened the store.
TEST_F(NodeStoreTest, TheStoreGrowsWithTheJob) {
    for (std::uint32_t rank = size; rank < 70; ++rank) {
        members.push_back(std::make_unique<Member>(fd, rank, size));
        Entry entry{1, rank};
        const std::string key = "from " + std::to_string(rank);
        EXPECT_EQ(get_or_put(int(rank), key, 2, entry), Outcome::inserted);
        entry = {};
        EXPECT_TRUE(members[rank % size]->store().has_room(key));
        EXPECT_EQ(get_or_put(int(rank % size), key, 2, entry), Outcome::found);
        EXPECT_EQ(entry, (Entry{1, rank}));
    }
}

// All members race for the same keys: exactly one inserts each entry, and all others find that entry.
bool race(NodeStore& store, std::uint64_t self, std::uint32_t readers, std::atomic<std::uint32_t>* inserted) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
        Entry entry{i, self};
        Outcome outcome = Outcome::full;
        NodeStore::EntryRef ours;
        while ((outcome = store.get_or_put("key " + std::to_string(i), readers, entry, &ours)) == Outcome::full) {
            std::this_thread::yield();
        }
        if (entry.kind != i || entry.word >= readers || (outcome == Outcome::inserted && entry.word != self)) {
            return false;
        }
        *inserted += outcome == Outcome::inserted;
    }
    return true;
}

TEST(NodeStore, ProcessesRace) {
    constexpr std::uint32_t ranks = 4;
    const int fd = memfd();
    auto* inserted = test::shared_memory<std::atomic<std::uint32_t>>();
    EXPECT_TRUE(run_processes(ranks, 60, [&](int rank) {
        Member member(fd, std::uint32_t(rank), ranks);
        return race(member.store(), std::uint64_t(rank), ranks, inserted);
    }));
    EXPECT_EQ(*inserted, 2000u);
    close(fd);
}

TEST_F(NodeStoreTest, ThreadsRace) {
    std::atomic<std::uint32_t> inserted{0};
    std::atomic<bool> good{true};
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) { // two threads share a process
        threads.emplace_back(
            [&, thread] { good = race(members[thread % size]->store(), thread, 4, &inserted) && good; });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(good);
    EXPECT_EQ(inserted, 2000u);
}

// A process is killed at a random point of get_or_put(), again and again; the other processes do not hang.
TEST(NodeStore, SurvivesTheDeathOfTheLockHolder) {
    const int fd = memfd();
    Member survivor(fd, 0, 2);
    for (int round = 0; round < 200; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            Member victim(fd, 1, 2);
            Entry entry{0, 0};
            NodeStore::EntryRef inserted;
            for (std::uint64_t i = 0;; ++i) { // inserts each entry and reads it for the last time
                const std::string key = std::to_string(i % 1000);
                victim.store().get_or_put(key, 2, entry, &inserted);
                victim.store().get_or_put(key, 2, entry, &inserted);
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(1500 + 37 * round % 500));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        Entry entry{0, 0};
        NodeStore::EntryRef inserted;
        const std::string key = "survivor " + std::to_string(round);
        ASSERT_EQ(survivor.store().get_or_put(key, 2, entry, &inserted), Outcome::inserted) << round;
        ASSERT_EQ(survivor.store().get_or_put(key, 2, entry, &inserted), Outcome::found) << round;
    }
    close(fd);
}

// The parts of the store that no rank uses take no memory: a store of 1,000 ranks is mapped, not filled.
TEST(NodeStore, TakesMemoryForTheRanksThatUseIt) {
    const int fd = memfd();
    Member first(fd, 0, 1000);
    struct stat before {};
    struct stat after {};
    fstat(fd, &before);
    Member last(fd, 999, 1000);
    fstat(fd, &after);
    EXPECT_LE((after.st_blocks - before.st_blocks) * 512, 4 * 4096);
    EXPECT_GT(after.st_blocks, before.st_blocks);
    close(fd);
}

} // namespace
} // namespace patchbay
