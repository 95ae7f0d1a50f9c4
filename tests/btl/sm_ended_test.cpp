// SPDX-License-Identifier: BSD-3-Clause
// Processes of other jobs that have ended: what they had in the segment is used again.
#include "tests/btl/sm_node.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

namespace patchbay {
namespace {
using btl::SendCode;
using btl::sm::Settings;
using test::memfd;
using test::Way;
using test::ways;

constexpr std::uint64_t own_nonce = 100;
constexpr std::uint32_t children = 3;
constexpr std::uint32_t from_parent = 5;
constexpr std::uint32_t from_sibling = 10;
constexpr std::uint32_t from_child = 40;

// A process of any job, which counts what it receives.
struct Node {
    Node(int fd, const Settings& settings, std::uint64_t nonce, std::uint32_t rank, std::uint32_t ranks)
        : jobs(test::job_with(nonce, ranks)) {
        auto attached = NodeSegment::attach_fd(fd, {nonce, rank}, ranks, true);
        test::SmNode::require(bool(attached), "attach");
        segment = std::move(*attached);
        auto made = btl::sm::SmModule::create(*segment, jobs, settings, decisions);
        test::SmNode::require(bool(made), "create");
        sm = std::move(*made);
        sm->set_receiver(
            [](void* self, btl::Endpoint& from, const void*, std::size_t, const void*, std::size_t) noexcept {
                auto& node = *static_cast<Node*>(self);
                ++(from.process.job == own_job ? node.from_own : node.from_others);
                return true;
            },
            this);
    }
    // Sends so many packets of different sizes, and receives meanwhile.
    void send(ProcessId to, std::uint32_t packets) {
        btl::Endpoint* endpoint = sm->connect(to);
        test::SmNode::require(endpoint != nullptr, "connect");
        const std::byte header[16]{};
        for (std::uint32_t i = 0; i < packets; ++i) {
            const std::size_t size = test::size_of_packet(i, sm->limits().packet);
            while (sm->send(*endpoint, header, sizeof header, test::content(i), size) != SendCode::ok) {
                poll_or_yield();
            }
        }
    }
    void poll_or_yield() {
        if (sm->poll() == 0) {
            sched_yield(); // there are more processes than cores
        }
    }
    void poll_until_idle() {
        for (int idle = 0; idle < 3;) {
            idle = sm->poll() > 0 ? 0 : idle + 1;
        }
    }

    DecisionLog decisions;
    JobTable jobs;
    std::unique_ptr<NodeSegment> segment;
    std::unique_ptr<btl::sm::SmModule> sm;
    std::uint32_t from_own = 0;
    std::uint32_t from_others = 0;
};

// A process that runs `body`, and then ends as one that has finalized the library.
template <class Body>
pid_t start(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(60);
        body();
        _exit(0);
    }
    return child;
}

void end_of(pid_t child, int expected = 0) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), expected);
}

void be_child(int fd, const Settings& settings, std::uint64_t nonce, std::uint32_t rank) {
    Node node(fd, settings, nonce, rank, children);
    const JobNumber parents = *node.jobs.add(test::job_with(own_nonce, 1));
    for (std::uint32_t sibling = 0; sibling < children; ++sibling) {
        if (sibling != rank) {
            node.send({own_job, sibling}, from_sibling);
        }
    }
    node.send({parents, 0}, from_child);
    while (node.from_others < from_parent || node.from_own < from_sibling * (children - 1)) {
        node.poll_or_yield();
    }
}

std::uint64_t memory_of(int fd) {
    struct stat file {};
    EXPECT_EQ(fstat(fd, &file), 0);
    return std::uint64_t(file.st_blocks) * 512;
}

// Jobs come and go. Some of what the parent sends arrives when nobody looks any more.
TEST(SmEnded, SlotsAndMemoryAreUsedAgain) {
    constexpr int warm_up = 6;
    constexpr int rounds = 24;
    for (const Way& way : ways) {
        const int fd = memfd();
        {
            Node parent(fd, way.settings, own_nonce, 0, 1);
            std::uint64_t after_warm_up = 0;
            for (int round = 0; round < rounds; ++round) {
                const std::uint64_t nonce = 200 + std::uint64_t(round);
                const JobNumber job = *parent.jobs.add(test::job_with(nonce, children));
                std::vector<pid_t> processes;
                for (std::uint32_t rank = 0; rank < children; ++rank) {
                    processes.push_back(start([&] { be_child(fd, way.settings, nonce, rank); }));
                }
                for (std::uint32_t rank = 0; rank < children; ++rank) {
                    parent.send({job, rank}, from_parent + 2);
                }
                const std::uint32_t wanted = from_child * children * std::uint32_t(round + 1);
                while (parent.from_others < wanted) {
                    parent.poll_or_yield();
                }
                for (const pid_t process : processes) {
                    end_of(process);
                }
                parent.poll_until_idle();
                EXPECT_TRUE(parent.jobs.unused().empty());
                parent.jobs.drop(job);
                EXPECT_EQ(parent.jobs.unused(), std::vector{job});
                ASSERT_TRUE(parent.sm->has_ended(job)) << way.name << ", round " << round;
                parent.sm->forget(job);
                EXPECT_EQ(parent.jobs.size(), 1u) << "its number is free";
                EXPECT_EQ(parent.segment->slots(), 1 + children) << way.name << ", round " << round;
                after_warm_up = round == warm_up ? memory_of(fd) : after_warm_up;
            }
            // How much is in use at a time depends on who runs when. What each job left behind would be several times
            // that.
            EXPECT_LE(memory_of(fd), 2 * after_warm_up) << way.name;
            EXPECT_EQ(parent.sm->outbound_rings(), 0u);
        }
        close(fd);
    }
}

class Ended : public testing::Test {
protected:
    // A process of job 200 that sends to each of `parents`.
    pid_t start_child(std::vector<std::uint32_t> ranks, bool waits = false) {
        return start([=, this] {
            Node node(fd, settings, 200, 0, 1);
            const JobNumber parents = *node.jobs.add(test::job_with(own_nonce, 2));
            for (const std::uint32_t rank : ranks) {
                node.send({parents, rank}, 3);
            }
            while (waits) {
                pause();
            }
        });
    }
    void TearDown() override { close(fd); }

    const Settings settings = ways[1].settings;
    const int fd = memfd();
    Node first{fd, settings, own_nonce, 0, 2};
    Node second{fd, settings, own_nonce, 1, 2};
};

TEST_F(Ended, AProcessThatLivesOrFailedOrWhosePacketsWaitIsKept) {
    const JobNumber job = *first.jobs.add(test::job_with(200, 1));
    const pid_t alive = start_child({0}, true);
    while (first.from_others < 3) {
        first.sm->poll();
    }
    EXPECT_FALSE(first.sm->has_ended(job)) << "it lives";
    kill(alive, SIGKILL);
    end_of(alive, SIGKILL);
    first.poll_until_idle();
    EXPECT_FALSE(first.sm->has_ended(job)) << "it failed";

    const JobNumber other = *second.jobs.add(test::job_with(300, 1));
    end_of(start([this] {
        Node node(fd, settings, 300, 0, 1);
        node.send({*node.jobs.add(test::job_with(own_nonce, 2)), 1}, 3);
    }));
    EXPECT_FALSE(second.sm->has_ended(other)) << "its packets have not been looked at";
    second.poll_until_idle();
    EXPECT_EQ(second.from_others, 3u);
    EXPECT_TRUE(second.sm->has_ended(other));
}

TEST_F(Ended, ASlotWaitsForAllThatHaveContact) {
    end_of(start_child({0, 1}));
    const std::uint32_t slots = first.segment->slots();
    for (Node* node : {&first, &second}) {
        node->poll_until_idle();
        const JobNumber job = *node->jobs.find_nonce(200);
        ASSERT_TRUE(node->sm->has_ended(job));
        EXPECT_EQ(node->jobs.unused(), std::vector{job}) << "it is known by its packets only";
        node->sm->forget(job);
        const std::uint64_t next = node == &first ? 400 : 500;
        EXPECT_EQ(*first.segment->slot_of({next, 0}), node == &first ? slots : slots - 1);
    }
}

// A process that has its endpoint from an earlier library generation, or none although the other one had, too.
TEST_F(Ended, ContactsOfAnEarlierGenerationAreNoHindrance) {
    const pid_t child = start_child({0, 1});
    while (second.from_others < 3) {
        second.sm->poll();
    }
    second.sm.reset();
    second.sm = std::move(*btl::sm::SmModule::create(*second.segment, second.jobs, settings, second.decisions));
    second.sm->set_receiver(
        [](void*, btl::Endpoint&, const void*, std::size_t, const void*, std::size_t) noexcept { return true; },
        nullptr);
    end_of(child);
    const std::uint32_t slots = first.segment->slots();
    first.poll_until_idle();
    first.sm->forget(*first.jobs.find_nonce(200));
    end_of(start([this] {
        Node node(fd, settings, 300, 0, 1);
        node.send({*node.jobs.add(test::job_with(own_nonce, 2)), 1}, 1);
    }));
    second.poll_until_idle();
    second.sm->forget(*second.jobs.find_nonce(300));
    EXPECT_EQ(*first.segment->slot_of({400, 0}), slots - 1);
    EXPECT_EQ(*first.segment->slot_of({500, 0}), slots);
}

} // namespace
} // namespace patchbay
