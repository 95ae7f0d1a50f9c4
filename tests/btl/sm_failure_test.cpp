// SPDX-License-Identifier: BSD-3-Clause
// Processes of a node that fail while they send.
#include "tests/btl/sm_node.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <vector>

namespace patchbay {
namespace {
using btl::SendCode;
using btl::sm::Settings;
using test::memfd;
using test::SmNode;
using test::Way;
using test::ways;
using test::with;

// Senders are killed in the middle of sending; the packets of all others arrive, and those of the failed one up to some
// point.
TEST(SmFailures, ASenderMayDieAtAnyTime) {
    constexpr std::uint32_t rounds = 100;
    constexpr std::uint32_t ranks = rounds + 2;
    for (const Way& way : {ways[2], ways[4]}) {
        const int fd = memfd();
        const auto sender = [&](std::uint32_t rank) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            SmNode node(fd, rank, ranks, way.settings);
            for (;;) {
                static_cast<void>(node.send(0));
                static_cast<void>(node.sm->poll());
            }
        };
        SmNode receiver(fd, 0, ranks, way.settings);
        const pid_t steady = fork();
        if (steady == 0) {
            sender(1);
        }
        for (std::uint32_t round = 0; round < rounds; ++round) {
            const pid_t victim = fork();
            if (victim == 0) {
                sender(round + 2);
            }
            // Every other victim fails while it starts, or soon after; the others when their packets arrive.
            using Clock = std::chrono::steady_clock;
            const auto soon = Clock::now() + std::chrono::microseconds(1500 + 91 * round % 700);
            const auto latest = soon + std::chrono::seconds(5);
            const auto waits = [&] {
                return round % 2 == 1 && receiver.received[round + 2] == 0 && Clock::now() < latest;
            };
            while (Clock::now() < soon || waits()) {
                static_cast<void>(receiver.sm->poll());
            }
            kill(victim, SIGKILL);
            waitpid(victim, nullptr, 0);
            const std::uint32_t seen = receiver.received[1];
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (receiver.received[1] < seen + 20 && std::chrono::steady_clock::now() < deadline) {
                static_cast<void>(receiver.sm->poll());
            }
            EXPECT_GE(receiver.received[1], seen + 20) << way.name << ", round " << round;
        }
        kill(steady, SIGKILL);
        waitpid(steady, nullptr, 0);
        EXPECT_TRUE(receiver.good) << way.name;
        const auto from_victims = std::count_if(receiver.received.begin(), receiver.received.end(),
            [](const auto& sender) { return sender.first != 1 && sender.second > 0; });
        EXPECT_GE(from_victims, rounds / 2 - 5) << "the victims sent nothing";
        close(fd);
    }
}

// What a process sends before it is stopped, and the packet in whose sending it is ended.
struct Failure {
    const char* name;
    Settings settings;
    int sent_before;
    std::size_t payload;
    bool reserved = false; // room for the packet is reserved before
};

// A process that can be ended after any instruction of one send to process 0.
class Stepped {
public:
    Stepped(int fd, std::uint32_t rank, const Failure& failure)
        : _child(fork()) {
        if (_child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            send_between_stops(fd, rank, failure);
            _exit(0);
        }
        SmNode::require(waitpid(_child, &_status, 0) == _child && WIFSTOPPED(_status), "the child does not stop");
    }
    ~Stepped() {
        kill(_child, SIGKILL);
        waitpid(_child, nullptr, 0);
    }
    Stepped(const Stepped&) = delete;
    Stepped& operator=(const Stepped&) = delete;

    // Executes so many instructions; fewer, if the send is over. Returns how many.
    std::uint64_t run(std::uint64_t instructions) {
        for (std::uint64_t done = 0; done < instructions; ++done) {
            SmNode::require(ptrace(PTRACE_SINGLESTEP, _child, nullptr, nullptr) == 0, "PTRACE_SINGLESTEP");
            waitpid(_child, &_status, 0);
            SmNode::require(WIFSTOPPED(_status), "the child ended");
            if (WSTOPSIG(_status) == SIGSTOP) {
                return done;
            }
        }
        return instructions;
    }
    static constexpr std::uint32_t ranks = 1000;

private:
    static void send_between_stops(int fd, std::uint32_t rank, const Failure& failure) {
        SmNode node(fd, rank, ranks, failure.settings);
        node.fixed_size = failure.payload;
        for (int packet = 0; packet < failure.sent_before; ++packet) {
            SmNode::require(node.send(0) == SendCode::ok, "send before the failure");
        }
        btl::Endpoint* to = node.sm->connect({0, 0});
        SmNode::require(to != nullptr, "connect");
        const test::Number number{rank, std::uint32_t(failure.sent_before), 0};
        const std::byte* content = test::content(number.number);
        const std::vector<std::byte> payload(content, content + failure.payload);
        if (failure.reserved) {
            const auto room = node.sm->reserve(*to, sizeof number, failure.payload);
            SmNode::require(room.code == SendCode::ok, "reserve");
            std::copy(payload.begin(), payload.end(), room.room.begin());
        }
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        const SendCode code = failure.reserved
            ? node.sm->commit(*to, &number, sizeof number, failure.payload)
            : node.sm->send(*to, &number, sizeof number, payload.data(), failure.payload);
        SmNode::require(code == SendCode::ok, "send");
        raise(SIGSTOP);
    }

    const pid_t _child;
    int _status = 0;
};

// A process is killed after each instruction of a send in turn, or, if it has many, after every few of them. The others
// go on: what they send to the same receiver arrives, and they allocate and free memory of the heap.
// Both processes are on one core: each instruction takes a change from one to the other and back.
class SmFailure : public testing::TestWithParam<Failure> {
protected:
    void SetUp() override {
        ASSERT_EQ(sched_getaffinity(0, sizeof _before, &_before), 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(std::size_t(sched_getcpu()), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    }
    void TearDown() override { sched_setaffinity(0, sizeof _before, &_before); }

private:
    cpu_set_t _before;
};

TEST_P(SmFailure, ASenderMayDieAfterEachInstructionOfASend) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr std::uint64_t most_failures = 8; // among many more instructions
    constexpr std::uint64_t each_up_to = 8;
#else
    constexpr std::uint64_t most_failures = 150;
    constexpr std::uint64_t each_up_to = 600; // instructions
#endif
    constexpr std::uint32_t failures_per_node =
        25; // a receiver has 32 rings, and a failed sender does not return its own
    const Failure& failure = GetParam();
    std::uint64_t stride = 0; // of the instructions; 0: not known yet
    std::uint32_t arrived = 0;
    std::uint32_t failures = 0;
    std::uint64_t instructions = 0;
    for (bool whole_send = false; !whole_send;) {
        const int fd = memfd();
        SmNode receiver(fd, 0, Stepped::ranks, failure.settings);
        SmNode steady(fd, 1, Stepped::ranks, failure.settings);
        receiver.fixed_size = steady.fixed_size = failure.payload;
        const auto check_steady = [&] {
            const std::uint32_t before = receiver.received[1];
            for (int polls = 0; polls < 100 && steady.send(0) != SendCode::ok; ++polls) {
                static_cast<void>(steady.sm->poll());
            }
            for (int polls = 0; polls < 100 && receiver.received[1] == before; ++polls) {
                static_cast<void>(receiver.sm->poll());
            }
            EXPECT_EQ(receiver.received[1], before + 1) << instructions;
            auto block = receiver.segment->heap().alloc(700, 0);
            EXPECT_TRUE(block) << block.error().text;
            receiver.segment->heap().free(block->address);
        };
        check_steady(); // and the symbols of shared libraries have been looked up
        if (stride == 0) {
            const std::uint64_t all = Stepped(fd, 2, failure).run(1'000'000);
            stride = all <= each_up_to ? 1 : all / most_failures + 1;
        }
        for (std::uint32_t victim = 3; victim < 3 + failures_per_node && !whole_send; ++victim) {
            whole_send = Stepped(fd, victim, failure).run(instructions) < instructions;
            check_steady();
            const std::uint32_t got = receiver.received[victim] - unsigned(failure.sent_before);
            ASSERT_LE(got, 1u) << instructions;
            arrived += got;
            ASSERT_TRUE(receiver.good);
            ASSERT_FALSE(HasFailure());
            instructions += stride;
            ++failures;
        }
        close(fd);
    }
    EXPECT_GT(arrived, 0u) << "the last one has sent its packet";
    EXPECT_LT(arrived, failures);
    std::printf("%u failures within %llu instructions; %u had sent the packet\n", failures,
        (unsigned long long)instructions, arrived);
}

INSTANTIATE_TEST_SUITE_P(Failures, SmFailure,
    testing::Values(Failure{"first_in_queue", with(0, 16, 384 << 10), 0, 40},
        Failure{"in_queue", with(0, 16, 384 << 10), 1, 40}, Failure{"block_in_queue", with(0, 16, 384 << 10), 1, 300},
        Failure{"reserved_in_queue", with(0, 16, 384 << 10), 1, 300, true},
        Failure{"opens_a_ring", with(1, 2, 384 << 10), 1, 40}, Failure{"in_ring", with(1, 1, 384 << 10), 1, 8},
        Failure{"reserved_in_ring", with(1, 1, 384 << 10), 1, 300, true}),
    [](const auto& given) { return std::string(given.param.name); });

} // namespace
} // namespace patchbay
