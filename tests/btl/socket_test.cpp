// SPDX-License-Identifier: BSD-3-Clause
#include "tests/btl/few_descriptors.h"
#include "tests/btl/socket_node.h"

#include "core/progress/waiter.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <sys/resource.h>
#include <thread>

namespace patchbay {
namespace {
using namespace std::chrono_literals;
using btl::SendCode;
using btl::socket::Settings;
using test::AddressBook;
using test::always_sleep;
using test::SocketNode;
using Nodes = test::SocketNodes;

Settings with(std::size_t packet, std::size_t buffer) {
    Settings settings;
    settings.packet_size = packet;
    settings.buffer = buffer;
    settings.eager_limit = std::min(settings.eager_limit, packet);
    return settings;
}

int open_descriptors() {
    DIR* folder = opendir("/proc/self/fd");
    int entries = 0;
    while (readdir(folder) != nullptr) {
        ++entries;
    }
    closedir(folder);
    return entries;
}

struct Way {
    const char* name;
    Settings settings;
    bool sleeps;
};
const Way ways[] = {
    {"default", {}, false},
    {"small", with(1024, 4096), false},
    {"large", with(65536, 1 << 20), false},
    {"sleeping", {}, true},
};

class Exchange : public testing::TestWithParam<std::tuple<int, Way>> {};

// Every process sends numbered packets to all others. The first ones are sent before the receiver has an address, and
// both processes of a pair connect at the same time.
TEST_P(Exchange, PacketsOfAPairArriveOnceAndInOrder) {
    const int ranks = std::get<0>(GetParam());
    const Way& way = std::get<1>(GetParam());
    const std::uint32_t each = std::uint32_t(ranks <= 4 ? 1500 : 3000 / ranks);
    auto* book = test::shared_memory<AddressBook>();
    auto* ended = test::shared_memory<std::atomic<int>>();
    EXPECT_TRUE(test::run_processes(ranks, 100, [&](int rank) {
        SocketNode node(*book, std::uint32_t(rank), std::uint32_t(ranks), way.settings, 1,
            way.sleeps ? always_sleep() : WaitPolicy());
        return node.exchange(std::uint32_t(ranks), each, *ended, [&](bool only_receives) {
            if (way.sleeps && only_receives) {
                const std::uint64_t before = node.total;
                wait_until(node.progress, [&] { return node.total != before; });
            } else {
                std::this_thread::yield();
            }
        });
    }));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Exchange, testing::Combine(testing::Values(1, 2, 4, 16), testing::ValuesIn(ways)), [](const auto& given) {
        return std::string(std::get<1>(given.param).name) + "_" + std::to_string(std::get<0>(given.param));
    });

TEST_F(Nodes, NothingIsOpenUntilItIsNeeded) {
    const int before = open_descriptors();
    make(2);
    EXPECT_EQ(node(0).socket->poll(), 0);
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(node(0).socket->limits().unsolicited) << "then a pml need not poll it either";
    EXPECT_FALSE(book->entries[0].is_there);
    EXPECT_TRUE(node(0).socket->open());
    EXPECT_TRUE(book->entries[0].is_there);
    const int opened = open_descriptors();
    EXPECT_GT(opened, before);
    EXPECT_TRUE(node(0).socket->open());
    EXPECT_EQ(open_descriptors(), opened);
}

TEST_F(Nodes, ReachesTheProcessesOfThisHost) {
    make(2);
    EXPECT_FALSE(node(0).socket->reaches({own_job, 0}));
    EXPECT_TRUE(node(0).socket->reaches({own_job, 1}));
    EXPECT_FALSE(node(0).socket->reaches({own_job, 2}));
    EXPECT_FALSE(node(0).socket->reaches({7, 0}));
    // A job of another mpirun shares no memory with this one.
    const Result<JobNumber> foreign = node(0).jobs.add({"foreign", 5, 3, {}, true});
    ASSERT_TRUE(foreign);
    EXPECT_TRUE(node(0).socket->reaches({foreign.value(), 2}));
    EXPECT_FALSE(node(0).socket->reaches({foreign.value(), 3}));
    const Result<JobNumber> remote = node(0).jobs.add({"remote", 6, 3, {1}, false});
    ASSERT_TRUE(remote);
    EXPECT_TRUE(node(0).socket->reaches({remote.value(), 1}));
    EXPECT_FALSE(node(0).socket->reaches({remote.value(), 2}));
}

// The process queues what it has to send until the address of the receiver is there.
TEST_F(Nodes, SendsAreRefusedUntilTheReceiverHasPublished) {
    make(2);
    EXPECT_EQ(node(0).send(1), SendCode::full);
    poll_all();
    EXPECT_EQ(node(0).send(1), SendCode::full);
    EXPECT_EQ(node(0).socket->reserve(*node(0).endpoints[1], 16, 100).code, SendCode::full);
    ASSERT_TRUE(node(1).socket->open());
    poll_all();
    EXPECT_EQ(node(0).send(1), SendCode::ok);
    poll_all();
    EXPECT_EQ(node(1).received[0], 1u);
    // The first message has brought the address of its sender.
    book->entries[0].is_there = false;
    EXPECT_EQ(node(1).send(0), SendCode::ok);
    poll_all();
    EXPECT_EQ(node(0).received[1], 1u);
    EXPECT_TRUE(all_good());
}

TEST_F(Nodes, AFullReceiverRefusesAndItsSenderIsWoken) {
    make(3);
    ASSERT_TRUE(node(1).socket->open());
    ASSERT_TRUE(node(2).socket->open());
    int sent = 0;
    while (node(0).send(1) == SendCode::ok) {
        ++sent;
        ASSERT_LT(sent, 100'000);
    }
    EXPECT_GT(sent, 10);
    EXPECT_EQ(node(0).send(1), SendCode::full);
    EXPECT_EQ(node(0).socket->reserve(*node(0).endpoints[1], 16, 8).code, SendCode::full);
    EXPECT_EQ(node(0).send(2), SendCode::ok) << "another receiver has room";
    EXPECT_FALSE(wait_for(node(0).progress, 50ms, [&] { return node(0).send(1) == SendCode::ok; }));
    std::thread receiver([&] {
        std::this_thread::sleep_for(100ms);
        while (node(1).received[0] < std::uint32_t(sent)) {
            node(1).socket->poll();
        }
    });
    EXPECT_TRUE(wait_for(node(0).progress, 20s, [&] { return node(0).send(1) == SendCode::ok; }));
    receiver.join();
    poll_all();
    EXPECT_EQ(node(1).received[0], node(0).sent[1]);
    EXPECT_TRUE(all_good());
}

// A reservation that is committed after the buffer has become full has not been sent, and can be made again.
TEST_F(Nodes, ACommitMayFindTheBufferFull) {
    make(2);
    ASSERT_TRUE(node(1).socket->open());
    node(1).fixed_size = 20'000;
    node(0).fixed_size = 20'000;
    ASSERT_EQ(node(0).send(1), SendCode::ok);
    btl::Endpoint& to = *node(0).endpoints[1];
    const auto room = node(0).socket->reserve(to, sizeof(test::Number), 20'000);
    ASSERT_EQ(room.code, SendCode::ok);
    // Another way to fill the buffer between the two calls than the one that the rules of the interface leave.
    std::uint32_t last = node(0).sent[1];
    for (;;) {
        const test::Number number{0, last, 0};
        std::memcpy(room.room.data(), test::content(last), 20'000);
        const SendCode code = node(0).socket->commit(to, &number, sizeof number, 20'000);
        if (code != SendCode::ok) {
            EXPECT_EQ(code, SendCode::full);
            break;
        }
        ASSERT_LT(++last, 1000u);
    }
    poll_all();
    EXPECT_EQ(node(1).received[0], last);
    node(0).sent[1] = last;
    EXPECT_EQ(node(0).send(1), SendCode::ok);
    poll_all();
    EXPECT_EQ(node(1).received[0], last + 1);
    EXPECT_TRUE(all_good());
}

TEST_F(Nodes, ReservationsForSeveralReceiversAtATime) {
    make(4);
    btl::Module::Reservation room[4];
    for (std::uint32_t peer = 1; peer < 4; ++peer) {
        ASSERT_TRUE(node(peer).socket->open());
        node(peer).fixed_size = 20'000;
        btl::Endpoint* to = node(0).socket->connect({0, peer});
        ASSERT_NE(to, nullptr);
        room[peer] = node(0).socket->reserve(*to, sizeof(test::Number), 20'000);
        ASSERT_EQ(room[peer].code, SendCode::ok);
    }
    for (std::uint32_t peer = 1; peer < 4; ++peer) {
        std::memcpy(room[peer].room.data(), test::content(0), 20'000 - peer);
    }
    for (std::uint32_t peer = 1; peer < 4; ++peer) {
        const test::Number number{0, 0, 0};
        ASSERT_EQ(node(0).socket->commit(*node(0).socket->connect({0, peer}), &number, sizeof number, 20'000 - peer),
            SendCode::ok);
    }
    poll_all();
    EXPECT_TRUE(all_good());
    for (std::uint32_t peer = 1; peer < 4; ++peer) {
        EXPECT_EQ(node(peer).received[0], 1u);
    }
}

// A process without memory for the packets of one sender takes those of the others; what it has not taken it gets
// later, in order.
TEST_F(Nodes, PacketsThatAreNotTakenAreDeliveredAgain) {
    make(4);
    ASSERT_TRUE(node(3).socket->open());
    bool lacks = true;
    int refused = 0;
    node(3).lacks_memory = [&](std::uint32_t from) {
        refused += lacks && from == 1;
        return lacks && from == 1;
    };
    for (int round = 0; round < 200; ++round) {
        lacks = round % 10 != 9;
        for (std::uint32_t from = 0; from < 3; ++from) {
            static_cast<void>(node(from).send(3));
        }
        const std::uint32_t before = node(3).received[1];
        EXPECT_GT(node(3).socket->poll(), 0) << "a process that has not taken a packet must not sleep";
        for (int polls = 0; polls < 20; ++polls) {
            node(3).socket->poll();
        }
        EXPECT_EQ(lacks, node(3).received[1] == before);
        for (std::uint32_t from : {0u, 2u}) {
            EXPECT_EQ(node(3).received[from], node(from).sent[3]) << "held up by another sender";
        }
        node(1).socket->poll();
    }
    lacks = false;
    poll_all();
    EXPECT_GT(refused, 100);
    EXPECT_EQ(node(3).received[1], node(1).sent[3]);
    EXPECT_EQ(node(3).socket->poll(), 0);
    EXPECT_TRUE(all_good());
}

TEST_F(Nodes, PacketsThatAreNotTakenStayInOrder) {
    for (const Way& way : ways) {
        nodes.clear();
        book = test::shared_memory<AddressBook>();
        make(5, way.settings);
        std::mt19937 random{7};
        for (auto& each : nodes) {
            ASSERT_TRUE(each->socket->open());
            each->lacks_memory = [&](std::uint32_t) { return random() % 4 == 0; };
        }
        for (int step = 0; step < 5000; ++step) {
            SocketNode& one = node(random() % 5);
            const std::uint32_t peer = (one.rank + 1 + random() % 4) % 5;
            for (unsigned burst = random() % 8 == 0 ? 30 : 1; burst > 0; --burst) {
                ASSERT_NE(one.send(peer), SendCode::failed);
            }
            node(random() % 5).socket->poll();
        }
        for (auto& each : nodes) {
            each->lacks_memory = {};
        }
        poll_all();
        EXPECT_TRUE(all_good()) << way.name;
        for (auto& one : nodes) {
            for (std::uint32_t peer = 0; peer < 5; ++peer) {
                EXPECT_TRUE(peer == one->rank || node(peer).received[one->rank] == one->sent[peer]) << way.name;
            }
        }
    }
}

// A process finalizes the library and initializes it again while packets are under way; its peers do not notice.
TEST_F(Nodes, AnotherGenerationGoesOnWhereTheLastOneEnded) {
    make(4);
    for (auto& each : nodes) {
        ASSERT_TRUE(each->socket->open());
    }
    bool lacks = false;
    node(3).lacks_memory = [&](std::uint32_t from) { return lacks && from == 1; };
    for (int round = 0; round < 60; ++round) {
        lacks = round % 2 == 0; // a packet that was read and not taken goes to the next generation, too
        for (std::uint32_t from = 0; from < 3; ++from) {
            for (int i = 0; i < 5; ++i) {
                static_cast<void>(node(from).send((from + 1) % 4));
                static_cast<void>(node(from).send(3));
            }
        }
        SocketNode& old = node(std::size_t(round) % 4);
        old.socket->poll();
        const int before = open_descriptors();
        old.restart();
        EXPECT_EQ(open_descriptors(), before);
        EXPECT_TRUE(old.socket->limits().unsolicited) << "peers may have sent already";
    }
    lacks = false;
    poll_all();
    EXPECT_TRUE(all_good());
    for (std::uint32_t from = 0; from < 3; ++from) {
        EXPECT_EQ(node(3).received[from], node(from).sent[3]);
    }
}

// The first packet of a process whose job this process does not know yet brings the job's nonce.
TEST_F(Nodes, AProcessOfAnotherJobIsKnownByItsNonce) {
    SocketNode here(*book, 0, 1, {}, 1);
    SocketNode there(*book, 1, 2, {}, 2); // rank 1 of its job, because the test's address book has no jobs
    ASSERT_TRUE(there.socket->open());
    const Result<JobNumber> number = here.jobs.add(test::job_with(2, 2));
    ASSERT_TRUE(number);
    ASSERT_TRUE(here.socket->reaches({number.value(), 1}));
    btl::Endpoint* to = here.socket->connect({number.value(), 1});
    ASSERT_NE(to, nullptr);
    const test::Number first{0, 0, 0};
    ASSERT_EQ(here.socket->send(*to, &first, sizeof first, nullptr, 0), SendCode::ok);
    for (int polls = 0; polls < 40; ++polls) {
        there.socket->poll();
    }
    EXPECT_EQ(there.total, 1u);
    const std::optional<JobNumber> learned = there.jobs.find_nonce(1);
    ASSERT_TRUE(learned.has_value());
    EXPECT_NE(*learned, own_job);
    // It answers without a look at the launcher, once the job has been added.
    ASSERT_TRUE(there.jobs.add(test::job_with(1, 1)));
    ASSERT_TRUE(there.socket->reaches({*learned, 0}));
    book->entries[0].is_there = false;
    btl::Endpoint* back = there.socket->connect({*learned, 0});
    ASSERT_NE(back, nullptr);
    const test::Number answer{1, 0, 0};
    ASSERT_EQ(there.socket->send(*back, &answer, sizeof answer, nullptr, 0), SendCode::ok);
    for (int polls = 0; polls < 40; ++polls) {
        here.socket->poll();
    }
    EXPECT_EQ(here.received[1], 1u);
}

// A peer that is killed: what it had sent arrives, and the sends to it fail, which is reported once.
TEST_F(Nodes, AKilledPeer) {
    make(1);
    Settings settings;
    settings.failure_wait = 100ms;
    nodes[0] = std::make_unique<SocketNode>(*book, 0, 2, settings, 1, always_sleep());
    ASSERT_TRUE(node(0).socket->open());
    const pid_t child = fork();
    if (child == 0) {
        SocketNode peer(*book, 1, 2, {}, 1, always_sleep());
        const bool opened = bool(peer.socket->open());
        for (int sent = 0; opened && sent < 10; sent += peer.send(0) == SendCode::ok) {
            peer.socket->poll();
        }
        pause();
        _exit(0);
    }
    wait_until(node(0).progress, [&] { return node(0).total > 0; });
    EXPECT_EQ(node(0).send(1), SendCode::ok);
    wait_until(node(0).progress, [&] { return node(0).total == 10; });
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    testing::internal::CaptureStderr();
    const auto killed = std::chrono::steady_clock::now();
    SendCode code = SendCode::full;
    while (code == SendCode::full) {
        code = node(0).send(1);
        node(0).socket->poll();
    }
    EXPECT_EQ(code, SendCode::failed);
    EXPECT_GT(std::chrono::steady_clock::now() - killed, 50ms) << "time for the launcher to report the failure";
    EXPECT_EQ(node(0).send(1), SendCode::failed);
    EXPECT_EQ(node(0).socket->reserve(*node(0).endpoints[1], 16, 8).code, SendCode::failed);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("nothing can be sent to process 1 of job 0: it has ended"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    poll_all();
    EXPECT_EQ(node(0).socket->inbound_connections(), 0u);
    EXPECT_FALSE(wait_for(node(0).progress, 50ms, [] { return false; }));
    EXPECT_LT(node(0).progress.sleeps(), 50u)
        << "a connection that has ended does not wake the process again and again";
}

// The address is that of a process that has ended before the first contact.
TEST_F(Nodes, APeerThatHasEndedBefore) {
    Settings settings;
    settings.failure_wait = 0ms;
    make(2, settings);
    ASSERT_TRUE(node(0).socket->open());
    book->entries[1].address = btl::socket::random_address();
    book->entries[1].is_there = true;
    testing::internal::CaptureStderr();
    EXPECT_EQ(node(0).send(1), SendCode::failed);
    EXPECT_EQ(node(0).send(1), SendCode::failed);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

// More connections wait at the listener than the system allows: the sender tries again.
TEST_F(Nodes, ManyConnectionsWaitToBeAccepted) {
    make(2);
    ASSERT_TRUE(node(0).socket->open());
    auto* waiting = test::shared_memory<std::atomic<int>>();
    const pid_t child = fork();
    if (child == 0) {
        rlimit limit{};
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        int connections = 0;
        while (btl::socket::connect_to(node(0).socket->address(), 4096) >= 0) {
            ++connections;
        }
        *waiting = errno == EAGAIN ? connections : -1;
        pause();
        _exit(0);
    }
    while (*waiting == 0) {
        std::this_thread::yield();
    }
    if (*waiting > 0) {
        EXPECT_EQ(node(1).send(0), SendCode::full);
        EXPECT_GT(node(1).socket->poll(), 0) << "no process wakes it when there is room";
        EXPECT_EQ(node(1).send(0), SendCode::full);
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (*waiting < 0) {
        GTEST_SKIP() << "a process may not have as many descriptors as connections may wait";
    }
    poll_all();
    EXPECT_EQ(node(1).send(0), SendCode::ok);
    poll_all();
    EXPECT_EQ(node(0).received[1], 1u);
    EXPECT_EQ(node(0).socket->inbound_connections(), 1u);
}

// The sender cannot know that, and may wait for an answer.
TEST_F(Nodes, AConnectionWithoutADescriptorWaitsAndThenEndsTheJob) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers need descriptors for their checks";
#endif
    for (const bool lasts : {false, true}) {
        SCOPED_TRACE(lasts ? "lasting" : "for a moment");
        nodes.clear();
        book = test::shared_memory<AddressBook>();
        Settings settings;
        settings.shortage_wait = lasts ? 50ms : 1min;
        make(2, settings);
        ASSERT_TRUE(node(0).socket->open());
        ASSERT_EQ(node(1).send(0), SendCode::ok);
        {
            const test::NoFreeDescriptor shortage;
            node(0).socket->poll();
            EXPECT_EQ(node(0).aborted, "");
            const auto end = std::chrono::steady_clock::now() + (lasts ? 20s : 100ms);
            while (node(0).aborted.empty() && std::chrono::steady_clock::now() < end) {
                node(0).socket->poll();
            }
        }
        EXPECT_EQ(node(0).aborted,
            lasts ? "btl/socket: a connection of another process cannot be accepted: Too many open files; raise the "
                    "limit of open files (ulimit -n), or close descriptors"
                  : "");
        poll_all();
        EXPECT_EQ(node(0).received[1], lasts ? 0u : 1u);
    }
}

// Two processes that sleep between any two messages; no wake-up is lost.
TEST(Sleep, APacketWakesItsReceiver) {
    constexpr std::uint32_t rounds = 5000;
    auto* book = test::shared_memory<AddressBook>();
    EXPECT_TRUE(test::run_processes(2, 100, [&](int rank) {
        SocketNode node(*book, std::uint32_t(rank), 2, {}, 1, always_sleep());
        SocketNode::require(bool(node.socket->open()), "open");
        node.fixed_size = 8;
        const std::uint32_t peer = 1 - std::uint32_t(rank);
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            if (rank == 0 || round > 1) {
                while (node.send(peer) != SendCode::ok) {
                    node.socket->poll();
                    std::this_thread::yield();
                }
            }
            wait_until(node.progress, [&] { return node.received[peer] == round; });
            for (std::uint32_t polls = 0; polls < round % 40; ++polls) {
                node.socket->poll();
            }
        }
        if (rank == 1) {
            SocketNode::require(node.send(peer) == SendCode::ok, "the last one");
        }
        return node.good && node.progress.sleeps() > rounds / 4;
    }));
}

} // namespace
} // namespace patchbay
