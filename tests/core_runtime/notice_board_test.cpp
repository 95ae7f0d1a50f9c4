// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/notice_board.h"
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
using Answer = NoticeBoard::Answer;
using Notice = NoticeBoard::Notice;

// One process of the node, with the board open.
class Member {
public:
    Member(int fd, std::uint32_t rank, std::uint32_t size)
        : _segment(std::move(*NodeSegment::attach_fd(fd, rank, size))),
          _board(std::move(*NoticeBoard::open(*_segment))) {}
    NoticeBoard& board() { return *_board; }
    Doorbell& bell() { return _segment->own_control().bell; }

private:
    std::unique_ptr<NodeSegment> _segment;
    std::unique_ptr<NoticeBoard> _board;
};

int memfd() {
    Result<int> fd = shared_file::make_memfd("notice-board-test");
    EXPECT_TRUE(fd);
    return *fd;
}

class NoticeBoardTest : public testing::Test {
protected:
    NoticeBoardTest() {
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            members.push_back(std::make_unique<Member>(fd, rank, size));
        }
    }
    ~NoticeBoardTest() override {
        members.clear();
        close(fd);
    }
    Answer ask(int rank, std::string_view subject, std::uint32_t askers, Notice& notice) {
        return members[std::size_t(rank)]->board().ask(subject, askers, notice, &pinned);
    }

    static constexpr std::uint32_t size = 3;
    int fd = memfd();
    std::vector<std::unique_ptr<Member>> members;
    NoticeBoard::Pinned pinned; // most lately
};

TEST_F(NoticeBoardTest, WhoeverIsFirstSaysWhatHolds) {
    Notice of[] = {{1, 10}, {2, 20}, {3, 30}};
    EXPECT_EQ(ask(1, "x", 3, of[1]), Answer::pinned);
    EXPECT_EQ(ask(0, "x", 3, of[0]), Answer::found);
    EXPECT_EQ(ask(2, "x", 3, of[2]), Answer::found);
    for (const Notice& notice : of) {
        EXPECT_EQ(notice, (Notice{2, 20}));
    }
}

TEST_F(NoticeBoardTest, AfterTheLastAskerTheSubjectIsNew) {
    for (std::uint64_t round = 0; round < 3; ++round) {
        Notice first{0, round};
        Notice second{0, 99};
        EXPECT_EQ(ask(0, "x", 2, first), Answer::pinned);
        EXPECT_EQ(ask(1, "x", 2, second), Answer::found);
        EXPECT_EQ(second.word, round);
    }
}

TEST_F(NoticeBoardTest, SubjectsDifferInEveryByte) {
    const std::string_view subjects[] = {
        "", std::string_view("\0", 1), "x", std::string_view("x\0", 2), std::string_view("\0x", 2), "xx"};
    std::uint64_t number = 0;
    for (std::string_view subject : subjects) {
        Notice notice{0, number++};
        EXPECT_EQ(ask(0, subject, 2, notice), Answer::pinned);
    }
    number = 0;
    for (std::string_view subject : subjects) {
        Notice notice{0, 99};
        EXPECT_EQ(ask(1, subject, 2, notice), Answer::found);
        EXPECT_EQ(notice.word, number++);
    }
}

// More subjects than there are chains to look in, taken down in an order of their own.
TEST_F(NoticeBoardTest, ManyAtOnce) {
    const auto name = [](std::uint64_t number) {
        std::string text = std::to_string(number);
        return text + std::string(NoticeBoard::longest_subject - text.size(), 'y');
    };
    const std::uint64_t each = NoticeBoard::notices_per_rank;
    for (int round = 0; round < 20; ++round) {
        for (std::uint64_t i = 0; i < size * each; ++i) {
            Notice notice{i, i};
            EXPECT_EQ(ask(int(i / each), name(i), 2, notice), Answer::pinned);
        }
        for (std::uint64_t k = 0; k < size * each; ++k) {
            const std::uint64_t i = (k * 7 + std::uint64_t(round)) % (size * each);
            Notice notice{0, 0};
            EXPECT_EQ(ask(int((i / each + 1) % size), name(i), 2, notice), Answer::found);
            EXPECT_EQ(notice, (Notice{i, i}));
        }
    }
}

TEST_F(NoticeBoardTest, WhoHasNoRoomIsWoken) {
    Notice notice{0, 0};
    for (std::uint32_t i = 0; i < NoticeBoard::notices_per_rank; ++i) {
        EXPECT_EQ(ask(0, std::to_string(i), 2, notice), Answer::pinned);
    }
    EXPECT_EQ(ask(0, "one more", 2, notice), Answer::full);
    EXPECT_FALSE(members[0]->board().can_answer("one more"));
    const std::uint32_t seq = members[0]->bell().prepare();
    EXPECT_EQ(ask(1, "5", 2, notice), Answer::found);
    EXPECT_TRUE(members[0]->bell().sleep(seq, std::chrono::seconds(20)));
    EXPECT_TRUE(members[0]->board().can_answer("one more"));
    EXPECT_EQ(ask(0, "one more", 2, notice), Answer::pinned);
    EXPECT_EQ(ask(0, "two more", 2, notice), Answer::full);
}

// Another rank has, and says what holds.
TEST_F(NoticeBoardTest, WhoHasNoRoomNeedsNoneForWhatItFinds) {
    Notice notice{0, 0};
    for (std::uint32_t i = 0; i < NoticeBoard::notices_per_rank; ++i) {
        EXPECT_EQ(ask(0, std::to_string(i), 2, notice), Answer::pinned);
    }
    EXPECT_EQ(ask(0, "x", 2, notice), Answer::full);
    notice = {1, 2};
    EXPECT_EQ(ask(1, "x", 2, notice), Answer::pinned) << "another's notices take no room from us";
    EXPECT_TRUE(members[0]->board().can_answer("x"));
    EXPECT_FALSE(members[0]->board().can_answer("y"));
    notice = {};
    EXPECT_EQ(ask(0, "x", 2, notice), Answer::found);
    EXPECT_EQ(notice, (Notice{1, 2}));
}

// Whoever is far ahead waits: for its own notice, whatever becomes of the others, or until the slow have caught up.
TEST_F(NoticeBoardTest, WithManyUnreadItIsCrowded) {
    Notice notice{0, 0};
    NoticeBoard& board = members[0]->board();
    for (std::uint32_t i = 0; i < NoticeBoard::crowded; ++i) {
        EXPECT_EQ(ask(0, std::to_string(i), 3, notice), Answer::pinned);
        EXPECT_TRUE(board.may_go_on(pinned)) << i;
    }
    EXPECT_EQ(ask(0, "one more", 3, notice), Answer::pinned);
    const NoticeBoard::Pinned one_more = pinned;
    EXPECT_FALSE(board.may_go_on(one_more));
    EXPECT_EQ(ask(0, "yet one", 3, notice), Answer::pinned);
    EXPECT_EQ(ask(1, "one more", 3, notice), Answer::found);
    EXPECT_FALSE(board.may_go_on(one_more));
    EXPECT_EQ(ask(2, "one more", 3, notice), Answer::found);
    EXPECT_TRUE(board.may_go_on(one_more));
    EXPECT_FALSE(board.may_go_on(pinned)) << "it is still crowded";
    EXPECT_EQ(ask(0, "in the same place", 3, notice), Answer::pinned);
    EXPECT_EQ(pinned.slot, one_more.slot);
    EXPECT_TRUE(board.may_go_on(one_more));
    EXPECT_FALSE(board.may_go_on(pinned));
    for (std::uint32_t i = 0; i < 2; ++i) {
        EXPECT_EQ(ask(1, std::to_string(i), 3, notice), Answer::found);
        EXPECT_FALSE(board.may_go_on(pinned));
        EXPECT_EQ(ask(2, std::to_string(i), 3, notice), Answer::found);
    }
    EXPECT_TRUE(board.may_go_on(pinned)) << "the slow have caught up";
}

TEST_F(NoticeBoardTest, WhatWasPinnedUpOutlivesWhoeverDidIt) {
    Notice notice{1, 7};
    EXPECT_EQ(ask(0, "x", 2, notice), Answer::pinned);
    members[0] = std::make_unique<Member>(fd, 0, size); // its next life
    EXPECT_EQ(ask(0, "y", 2, notice), Answer::pinned);
    notice = {};
    EXPECT_EQ(ask(1, "x", 2, notice), Answer::found);
    EXPECT_EQ(notice, (Notice{1, 7}));
}

// All race for the same subjects: exactly one of them says what holds, and nobody sees anything else.
bool race(NoticeBoard& board, std::uint64_t self, std::uint32_t askers, std::atomic<std::uint32_t>* pinned) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
        Notice notice{i, self};
        Answer answer = Answer::full;
        NoticeBoard::Pinned ours;
        while ((answer = board.ask("subject " + std::to_string(i), askers, notice, &ours)) == Answer::full) {
            std::this_thread::yield();
        }
        if (notice.kind != i || notice.word >= askers || (answer == Answer::pinned && notice.word != self)) {
            return false;
        }
        *pinned += answer == Answer::pinned;
    }
    return true;
}

TEST(NoticeBoard, ProcessesRace) {
    constexpr std::uint32_t ranks = 4;
    const int fd = memfd();
    auto* pinned = test::shared_memory<std::atomic<std::uint32_t>>();
    EXPECT_TRUE(run_processes(ranks, 60, [&](int rank) {
        Member member(fd, std::uint32_t(rank), ranks);
        return race(member.board(), std::uint64_t(rank), ranks, pinned);
    }));
    EXPECT_EQ(*pinned, 2000u);
    close(fd);
}

TEST_F(NoticeBoardTest, ThreadsRace) {
    std::atomic<std::uint32_t> pinned{0};
    std::atomic<bool> good{true};
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) { // two of them in one process
        threads.emplace_back([&, thread] { good = race(members[thread % size]->board(), thread, 4, &pinned) && good; });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(good);
    EXPECT_EQ(pinned, 2000u);
}

// A process is killed again and again at some point of what it does there; the others are not held up by it.
TEST(NoticeBoard, SurvivesTheDeathOfWhoHoldsTheLock) {
    const int fd = memfd();
    Member survivor(fd, 0, 2);
    for (int round = 0; round < 200; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            Member victim(fd, 1, 2);
            Notice notice{0, 0};
            NoticeBoard::Pinned pinned;
            for (std::uint64_t i = 0;; ++i) { // each pinned up and taken down
                const std::string subject = std::to_string(i % 1000);
                victim.board().ask(subject, 2, notice, &pinned);
                victim.board().ask(subject, 2, notice, &pinned);
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(1500 + 37 * round % 500));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        Notice notice{0, 0};
        NoticeBoard::Pinned pinned;
        const std::string subject = "survivor " + std::to_string(round);
        ASSERT_EQ(survivor.board().ask(subject, 2, notice, &pinned), Answer::pinned) << round;
        ASSERT_EQ(survivor.board().ask(subject, 2, notice, &pinned), Answer::found) << round;
    }
    close(fd);
}

// What nobody asks for takes no memory: a board of 1,000 ranks is mapped, not filled.
TEST(NoticeBoard, TakesMemoryForThoseWhoUseIt) {
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
