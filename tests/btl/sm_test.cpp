// SPDX-License-Identifier: BSD-3-Clause
#include "tests/btl/sm_node.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace patchbay {
namespace {
using btl::SendCode;
using btl::sm::Settings;
using test::memfd;
using test::SmNode;
using test::Way;
using test::ways;
using test::with;

class Exchange : public testing::TestWithParam<std::tuple<int, Way>> {};

// Every process sends numbered packets to all others.
TEST_P(Exchange, PacketsOfAPairArriveOnceAndInOrder) {
    const int ranks = std::get<0>(GetParam());
    const Way& way = std::get<1>(GetParam());
    // Without memory that a process keeps, each payload is allocated and freed by system calls.
    const int part = way.settings.queue_size == 0 ? 4 : 1;
    const std::uint32_t each = std::uint32_t(ranks <= 4 ? 3000 : 6000 / ranks) / part;
    const int fd = memfd();
    auto* ended = test::shared_memory<std::atomic<int>>();
    EXPECT_TRUE(test::run_processes(ranks, 100, [&](int rank) {
        SmNode node(fd, std::uint32_t(rank), std::uint32_t(ranks), way.settings);
        return node.exchange(std::uint32_t(ranks), each, *ended, [](bool) { std::this_thread::yield(); });
    }));
    close(fd);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Exchange, testing::Combine(testing::Values(1, 2, 4, 8, 16), testing::ValuesIn(ways)), [](const auto& given) {
        return std::string(std::get<1>(given.param).name) + "_" + std::to_string(std::get<0>(given.param));
    });

// Several processes of a node in this one, which take their turns as the test wants.
class Nodes : public testing::Test {
protected:
    ~Nodes() override {
        nodes.clear();
        close(fd);
    }
    void make(std::uint32_t ranks, const Settings& settings) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            nodes.push_back(std::make_unique<SmNode>(fd, rank, ranks, settings));
        }
    }
    SmNode& node(std::size_t rank) { return *nodes[rank]; }
    void poll_all() {
        for (int quiet = 0; quiet < 3;) {
            int events = 0;
            for (auto& one : nodes) {
                events += one->sm->poll();
            }
            quiet = events == 0 ? quiet + 1 : 0;
        }
    }
    bool all_good() const {
        return std::all_of(nodes.begin(), nodes.end(), [](const auto& one) { return one->good; });
    }
    std::size_t blocks() { return node(0).segment->heap().usage().blocks; }
    const int fd = memfd();
    std::vector<std::unique_ptr<SmNode>> nodes;
};

TEST_F(Nodes, FewProcessesHaveRingsFromTheFirstPacketOn) {
    make(4, with(3, 16, 384 << 10));
    ASSERT_EQ(node(0).send(1), SendCode::ok);
    EXPECT_EQ(node(0).sm->outbound_rings(), 1u);
    poll_all();
    EXPECT_EQ(node(1).sm->polled_places(), 2u);
    EXPECT_EQ(node(1).total, 1u);
}

// Short payloads that do not fit into a slot stay in the first part of the ring of bytes, which holds more than the
// slots announce; only longer ones take the rest of its memory.
TEST_F(Nodes, ShortPayloadsTakeOnlyTheFirstPartOfARing) {
    make(2, with(1, 16, 384 << 10));
    const auto memory = [this] {
        struct stat file {};
        EXPECT_EQ(fstat(fd, &file), 0);
        return std::size_t(file.st_blocks) * 512;
    };
    const auto send = [this](std::size_t size, int most_behind) {
        node(0).fixed_size = node(1).fixed_size = size;
        for (int i = 0; i < 5000; ++i) {
            while (node(0).send(1) == SendCode::full) {
                node(1).sm->poll();
            }
            if (i % most_behind == 0) {
                poll_all();
            }
        }
        poll_all();
    };
    send(100, 1);
    const std::size_t first = memory();
    for (const int most_behind : {1, 5, 17, 40, 5000}) {
        send(64 + std::size_t(most_behind) % 64, most_behind);
        EXPECT_EQ(memory(), first) << most_behind;
    }
    send(4096, 1);
    EXPECT_GE(memory(), first + (96 << 10));
    EXPECT_TRUE(all_good());
    EXPECT_EQ(node(1).total, 7 * 5000u);
}

// Processes come and go, and leave their rings behind; those that come later use the queue.
TEST_F(Nodes, AProcessWithoutRoomForAnotherRingReceivesThroughItsQueue) {
    const Settings settings = with(16, 16, 384 << 10);
    SmNode receiver(fd, 0, 17, settings);
    for (std::uint32_t rank = 1; rank <= 40; ++rank) {
        SmNode sender(fd, rank, 17, settings);
        ASSERT_EQ(sender.send(0), SendCode::ok) << rank;
        EXPECT_EQ(sender.sm->outbound_rings(), rank <= 32 ? 1u : 0u);
        static_cast<void>(receiver.sm->poll());
        EXPECT_EQ(receiver.received[rank], 1u) << rank;
    }
    EXPECT_TRUE(receiver.good);
}

// The pair that sends most gets a ring, and gives it back when others send more.
TEST_F(Nodes, RingsGoToTheMostActivePairsAndAreGivenBack) {
    make(12, with(1, 16, 384 << 10));
    for (std::uint32_t peer = 1; peer < 12; ++peer) {
        ASSERT_EQ(node(0).send(peer), SendCode::ok);
    }
    poll_all();
    EXPECT_EQ(node(0).sm->outbound_rings(), 0u) << "one packet each is no reason for a ring";
    for (std::uint32_t favourite : {3u, 5u, 3u}) {
        for (int i = 0; i < 2000; ++i) {
            SendCode code = SendCode::full;
            while ((code = node(0).send(favourite)) == SendCode::full) {
                poll_all();
            }
            ASSERT_EQ(code, SendCode::ok);
            if (i % 50 == 0) {
                poll_all();
            }
        }
        poll_all();
        EXPECT_EQ(node(0).sm->outbound_rings(), 1u);
        EXPECT_EQ(node(favourite).sm->polled_places(), 2u) << favourite;
    }
    const std::size_t with_ring = blocks();
    for (int i = 0; i < 3000; ++i) { // no peer has an eighth of these
        SendCode code = SendCode::full;
        const std::uint32_t peers[] = {1, 2, 4, 5, 6, 7, 8, 9, 10, 11};
        while ((code = node(0).send(peers[i % 10])) == SendCode::full) {
            poll_all();
        }
        ASSERT_EQ(code, SendCode::ok);
        poll_all();
    }
    EXPECT_EQ(node(0).sm->outbound_rings(), 0u);
    for (auto& one : nodes) {
        EXPECT_EQ(one->sm->polled_places(), 1u);
    }
    EXPECT_LT(blocks(), with_ring + 20) << "rings are freed";
    for (int i = 0; i < 500; ++i) {
        SendCode code = SendCode::full;
        while ((code = node(0).send(3)) == SendCode::full) {
            poll_all();
        }
    }
    poll_all();
    EXPECT_TRUE(all_good());
}

// Receivers that do not poll hold all memory for payloads; a packet to another process is sent all the same, and memory
// beyond the limit is given back.
TEST_F(Nodes, ReceiversThatDoNotPollKeepNobodyWaiting) {
    constexpr std::uint32_t ranks = 40;
    make(ranks, with(0, 16, 100 << 10));
    node(0).fixed_size = 20000;
    for (auto& one : nodes) {
        one->fixed_size = 20000;
    }
    const std::size_t before = node(0).segment->heap().usage().bytes;
    for (std::uint32_t peer = 1; peer < ranks; ++peer) {
        bool sent = false;
        for (int polls = 0; polls < 40 && !sent; ++polls) {
            sent = node(0).send(peer) == SendCode::ok;
            if (!sent) {
                EXPECT_GT(node(0).sm->poll(), 0) << "a process that is refused must not sleep";
            }
        }
        ASSERT_TRUE(sent) << peer;
    }
    for (int polls = 0; polls < 100; ++polls) {
        ASSERT_NE(node(0).send(1), SendCode::failed);
        static_cast<void>(node(0).sm->poll());
    }
    EXPECT_LT(node(0).segment->heap().usage().bytes - before, std::size_t(ranks + 10) * 21000)
        << "one each, and no more";
    for (int polls = 0; polls < 5; ++polls) {
        static_cast<void>(node(0).sm->poll());
    }
    EXPECT_EQ(node(0).sm->poll(), 0) << "nothing is refused any more";
    poll_all();
    EXPECT_LT(node(0).segment->heap().usage().bytes - before, std::size_t(180) << 10)
        << "given back although the process sends nothing more";
    EXPECT_TRUE(all_good());
}

// One receiver that does not poll has room for some packets, and then refuses.
TEST_F(Nodes, AFullReceiverRefusesAndIsServedLater) {
    make(3, with(0, 16, 384 << 10));
    int sent = 0;
    for (int i = 0; i < 1000; ++i) {
        sent += node(0).send(1) == SendCode::ok;
    }
    EXPECT_GT(sent, 3);
    EXPECT_LT(sent, 30);
    EXPECT_EQ(node(0).send(2), SendCode::ok);
    const std::uint32_t seq = node(0).segment->own_control().bell.prepare();
    poll_all();
    EXPECT_TRUE(node(0).segment->own_control().bell.sleep(seq, std::chrono::seconds(20))) << "the sender is woken";
    EXPECT_EQ(node(0).send(1), SendCode::ok);
    poll_all();
    EXPECT_TRUE(all_good());
}

// A process without memory for the packets of one sender takes those of the others, from queues and rings; what it has
// not taken it gets later, in order, also across a change between queue and ring.
TEST_F(Nodes, PacketsThatAreNotTakenAreDeliveredAgain) {
    for (unsigned rings : {0u, 1u, 4u}) {
        nodes.clear();
        const int own_fd = memfd();
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            nodes.push_back(std::make_unique<SmNode>(own_fd, rank, 4, with(rings, 2, 384 << 10)));
        }
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
                static_cast<void>(node(from).send((from + 1) % 3));
            }
            const std::uint32_t before = node(3).received[1];
            EXPECT_GT(node(3).sm->poll(), 0) << "a process that has not taken a packet must not sleep";
            EXPECT_EQ(lacks, node(3).received[1] == before);
            for (std::uint32_t from : {0u, 2u}) {
                EXPECT_EQ(node(3).received[from], node(from).sent[3]) << "held up by another sender";
            }
            for (std::uint32_t rank = 0; rank < 3; ++rank) {
                static_cast<void>(node(rank).sm->poll());
            }
        }
        lacks = false;
        poll_all();
        EXPECT_GT(refused, 100);
        EXPECT_GT(node(3).received[1], 50u);
        EXPECT_EQ(node(3).received[1], node(1).sent[3]);
        EXPECT_EQ(node(3).sm->poll(), 0);
        EXPECT_TRUE(all_good());
        nodes.clear();
        close(own_fd);
    }
}

// The same with random refusals among all processes, while pairs change between queue and ring.
TEST_F(Nodes, PacketsThatAreNotTakenStayInOrder) {
    for (const Way& way : ways) {
        nodes.clear();
        const int own_fd = memfd();
        std::mt19937 random{7};
        for (std::uint32_t rank = 0; rank < 5; ++rank) {
            nodes.push_back(std::make_unique<SmNode>(own_fd, rank, 5, way.settings));
            node(rank).lacks_memory = [&](std::uint32_t) { return random() % 4 == 0; };
        }
        const int steps = way.settings.queue_size == 0 ? 3000 : 5000;
        for (int step = 0; step < steps; ++step) {
            SmNode& one = node(random() % 5);
            const std::uint32_t peer = (one.rank + 1 + random() % 4) % 5;
            for (unsigned burst = random() % 8 == 0 ? 30 : 1; burst > 0; --burst) {
                ASSERT_NE(one.send(peer), SendCode::failed);
            }
            static_cast<void>(node(random() % 5).sm->poll());
        }
        for (auto& one : nodes) {
            one->lacks_memory = {};
        }
        poll_all();
        EXPECT_TRUE(all_good()) << way.name;
        for (auto& one : nodes) {
            for (std::uint32_t peer = 0; peer < 5; ++peer) {
                EXPECT_TRUE(peer == one->rank || node(peer).received[one->rank] == one->sent[peer]) << way.name;
            }
        }
        nodes.clear();
        close(own_fd);
    }
}

// Room that was reserved in a ring remains, whatever is sent to other processes before the commit.
TEST_F(Nodes, ARingWithAReservationDoesNotEnd) {
    make(8, with(1, 1, 384 << 10));
    while (node(0).sm->outbound_rings() == 0) {
        ASSERT_EQ(node(0).send(1), SendCode::ok);
    }
    for (std::size_t size : {8u, 3000u}) {
        btl::Endpoint& to = *node(0).endpoints[1];
        for (int round = 0; round < 20; ++round) {
            const auto room = node(0).sm->reserve(to, sizeof(test::Number), size);
            ASSERT_EQ(room.code, SendCode::ok);
            std::memcpy(room.room.data(), test::content(node(0).sent[1]), size);
            for (std::uint32_t i = 0; i < 60; ++i) {
                static_cast<void>(node(0).send(2 + i % 6));
                for (std::uint32_t rank = 2; rank < 8; ++rank) {
                    static_cast<void>(node(rank).sm->poll());
                }
            }
            node(1).fixed_size = size;
            const test::Number number{0, node(0).sent[1]++, 0};
            ASSERT_EQ(node(0).sm->commit(to, &number, sizeof number, size), SendCode::ok);
            poll_all();
            ASSERT_EQ(node(1).received[0], node(0).sent[1]);
            node(1).fixed_size.reset();
            for (int i = 0; i < 20 || node(1).sm->polled_places() < 2; ++i) { // a ring again
                ASSERT_NE(node(0).send(1), SendCode::failed);
                poll_all();
                ASSERT_LT(i, 2000);
            }
        }
    }
    EXPECT_TRUE(all_good());
}

TEST_F(Nodes, SingleCopyIsNotOfferedWhereFewShareACoreAndPairsHaveRings) {
    struct Place {
        std::uint32_t processes_per_core;
        unsigned rings; // for one peer
        bool copies;
    };
    for (const Place place :
        {Place{1, 1, false}, {1, 0, false}, {2, 1, true}, {4, 1, true}, {5, 1, false}, {2, 0, false}}) {
        for (const auto single_copy :
            {btl::sm::SingleCopy::automatic, btl::sm::SingleCopy::cma, btl::sm::SingleCopy::none}) {
            Settings settings;
            settings.processes_per_core = place.processes_per_core;
            settings.rings = place.rings;
            settings.single_copy = single_copy;
            const SmNode one(fd, 0, 2, settings);
            const bool offered = single_copy == btl::sm::SingleCopy::cma ||
                (single_copy == btl::sm::SingleCopy::automatic && !place.copies);
            EXPECT_EQ(one.sm->limits().get_from, offered ? settings.get_limit : 0)
                << place.processes_per_core << " on a core, " << place.rings << " rings";
            EXPECT_EQ(one.sm->limits().get_is_timed,
                single_copy == btl::sm::SingleCopy::automatic && place.processes_per_core == 1);
        }
    }
}

// There is one stage, in which what is to be written past the cache is packed.
TEST_F(Nodes, ReservationsForSeveralReceiversAtATime) {
    for (const unsigned rings : {16u, 0u}) {
        nodes.clear();
        const int own_fd = memfd();
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            nodes.push_back(std::make_unique<SmNode>(own_fd, rank, 4, test::uncached(with(rings, 16, 384 << 10))));
            node(rank).fixed_size = 20000;
        }
        for (std::uint32_t round = 0; round < 10; ++round) {
            btl::Module::Reservation room[4];
            for (std::uint32_t peer = 1; peer < 4; ++peer) {
                btl::Endpoint* to = node(0).sm->connect({0, peer});
                ASSERT_NE(to, nullptr);
                room[peer] = node(0).sm->reserve(*to, sizeof(test::Number), 20000);
                ASSERT_EQ(room[peer].code, SendCode::ok);
            }
            for (std::uint32_t peer = 1; peer < 4; ++peer) {
                std::memcpy(room[peer].room.data(), test::content(round), 20000 - peer);
            }
            for (std::uint32_t peer = 1; peer < 4; ++peer) {
                const test::Number number{0, round, 0};
                btl::Endpoint* to = node(0).sm->connect({0, peer});
                ASSERT_EQ(node(0).sm->commit(*to, &number, sizeof number, 20000 - peer), SendCode::ok);
            }
            poll_all();
        }
        EXPECT_TRUE(all_good());
        for (std::uint32_t peer = 1; peer < 4; ++peer) {
            EXPECT_EQ(node(peer).received[0], 10u);
        }
        nodes.clear();
        close(own_fd);
    }
}

// A process finalizes the library and initializes it again while packets are under way.
TEST_F(Nodes, AnotherGenerationGoesOnWhereTheLastOneEnded) {
    for (unsigned rings : {0u, 1u, 4u}) {
        nodes.clear();
        const int own_fd = memfd();
        const Settings settings = with(rings, 4, 384 << 10);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            nodes.push_back(std::make_unique<SmNode>(own_fd, rank, 4, settings));
        }
        for (int round = 0; round < 60; ++round) {
            for (std::uint32_t from = 0; from < 3; ++from) {
                for (int i = 0; i < 5; ++i) {
                    static_cast<void>(node(from).send((from + 1) % 4));
                    static_cast<void>(node(from).send(3));
                }
            }
            if (round % 3 == 0) {
                static_cast<void>(node(std::size_t(round) % 4).sm->poll());
            }
            SmNode& old = node(std::size_t(round) % 4);
            auto sent = old.sent;
            auto received = old.received;
            ASSERT_TRUE(old.good);
            const std::uint32_t rank = old.rank;
            nodes[rank].reset();
            nodes[rank] = std::make_unique<SmNode>(own_fd, rank, 4, settings);
            nodes[rank]->sent = sent;
            nodes[rank]->endpoints.resize(sent.size());
            nodes[rank]->received = received;
        }
        poll_all();
        EXPECT_TRUE(all_good());
        for (std::uint32_t from = 0; from < 3; ++from) {
            EXPECT_EQ(node(3).received[from], node(from).sent[3]) << rings;
        }
        nodes.clear();
        close(own_fd);
    }
}

// What a poll costs does not depend on how many processes have sent.
TEST_F(Nodes, APollCostsTheSameWith2AndWith128SendersThatSentOnce) {
    const auto nanoseconds_of_a_poll = [this](std::uint32_t senders) {
        nodes.clear();
        const int own_fd = memfd();
        for (std::uint32_t rank = 0; rank <= senders; ++rank) {
            nodes.push_back(std::make_unique<SmNode>(own_fd, rank, senders + 1, with(1, 16, 384 << 10)));
        }
        for (std::uint32_t rank = 1; rank <= senders; ++rank) {
            EXPECT_EQ(node(rank).send(0), SendCode::ok);
        }
        poll_all();
        EXPECT_EQ(node(0).total, senders);
        EXPECT_EQ(node(0).sm->polled_places(), 1u);
        double best = 1e9;
        for (int batch = 0; batch < 200; ++batch) {
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < 1000; ++i) {
                static_cast<void>(node(0).sm->poll());
            }
            const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
            best = std::min(best, passed.count() / 1000);
        }
        nodes.clear();
        close(own_fd);
        return best;
    };
    const double two = nanoseconds_of_a_poll(2);
    const double many = nanoseconds_of_a_poll(128);
    std::printf("a poll: %.2f ns with 2 senders, %.2f ns with 128\n", two, many);
    EXPECT_LT(many, 2 * two);
}

// A sender that sleeps because its ring is full is woken, also if the ring is full of requests to publish.
TEST(SmRing, ASenderThatWaitsForRoomIsWoken) {
    const btl::sm::RingShape shape{8, 4096};
    std::vector<std::byte> room(shape.bytes() + 64);
    auto* base = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(room.data()) + 63) / 64 * 64);
    const btl::sm::RingMemory memory(base, shape);
    Doorbell bell;
    btl::sm::RingSender sender(memory, shape);
    btl::sm::RingReceiver receiver(memory, shape, bell);
    const std::uint64_t header = 1;
    for (int round = 0; round < 10; ++round) {
        int packets = 0;
        while (!sender.is_full()) {
            sender.push_inline(&header, sizeof header, nullptr, 0);
            if (!sender.push_flush()) {
                break;
            }
            ++packets;
        }
        EXPECT_GE(packets, 3);
        static_cast<void>(bell.prepare());
        btl::sm::Packet packet;
        for (; receiver.look(packet); receiver.done()) {
            --packets;
        }
        EXPECT_LE(packets, 0);
        EXPECT_FALSE(bell.flag_is_up());
    }
}

// A process that counts the packets of each sender.
struct Counting : SmNode {
    Counting(int fd, std::uint32_t rank, std::uint32_t ranks, const Settings& settings, std::uint64_t nonce)
        : SmNode(fd, rank, ranks, settings, nonce) {
        sm->set_receiver(
            [](void* self, btl::Endpoint& from, const void* header, std::size_t, const void*, std::size_t) noexcept {
                auto& of_sender = static_cast<Counting*>(self)->packets[from.process];
                of_sender.in_order =
                    of_sender.in_order && *static_cast<const std::uint64_t*>(header) == of_sender.count;
                of_sender.endpoint = &from;
                ++of_sender.count;
                return true;
            },
            this);
    }
    struct Packets {
        std::uint64_t count = 0;
        bool in_order = true;
        btl::Endpoint* endpoint = nullptr;
    };
    std::map<ProcessId, Packets> packets;
};

void send_numbered(Counting& from, ProcessId to, Counting& receiver, std::uint64_t count) {
    btl::Endpoint* endpoint = from.sm->connect(to);
    ASSERT_NE(endpoint, nullptr);
    for (std::uint64_t number = 0; number < count; ++number) {
        SendCode code = SendCode::full;
        while ((code = from.sm->send(*endpoint, &number, sizeof number, &number, 0)) == SendCode::full) {
            receiver.sm->poll();
            from.sm->poll();
        }
        ASSERT_EQ(code, SendCode::ok);
    }
    for (int polls = 0; polls < 200; ++polls) {
        receiver.sm->poll();
        from.sm->poll();
    }
}

// Each process has another number for the other's job, and may get a packet before it knows that job.
TEST(SmJobs, ProcessesOfTwoJobsOfANodeReachEachOther) {
    for (const Way& way : ways) {
        const int fd = memfd();
        {
            Counting one(fd, 1, 2, way.settings, 100);
            Counting same_rank(fd, 0, 2, way.settings, 100);
            Counting other(fd, 0, 1, way.settings, 200);
            ASSERT_TRUE(other.jobs.add(test::job_with(300, 1))); // so that the numbers differ
            const JobNumber first = *other.jobs.add(test::job_with(100, 2));
            EXPECT_TRUE(other.sm->reaches({first, 1}) && other.sm->reaches({first, 0}));
            EXPECT_FALSE(other.sm->reaches({first, 2}) || other.sm->reaches({own_job, 0}));
            EXPECT_FALSE(one.sm->reaches({1, 0})) << "no such job yet";

            send_numbered(other, {first, 1}, one, 3);
            ASSERT_EQ(one.packets.size(), 1u);
            const ProcessId sender = one.packets.begin()->first;
            EXPECT_NE(sender.job, own_job);
            EXPECT_EQ(one.jobs.nonce_of(sender.job), 200u);
            EXPECT_EQ(*one.jobs.add(test::job_with(200, 1)), sender.job) << "the number that the packet came with";
            EXPECT_TRUE(one.sm->reaches(sender));
            EXPECT_EQ(one.sm->connect(sender), one.packets.begin()->second.endpoint);

            const JobNumber second = *same_rank.jobs.add(test::job_with(200, 1));
            send_numbered(one, sender, other, 2000);
            send_numbered(same_rank, {second, 0}, other, 500);
            send_numbered(same_rank, {own_job, 1}, one, 500);
            EXPECT_EQ(other.packets.size(), 2u) << "rank 0 of the other job is not this process";
            for (const auto& [process, count] : {std::pair(ProcessId{first, 1}, 2000u), {ProcessId{first, 0}, 500u}}) {
                EXPECT_EQ(other.packets[process].count, count) << way.name;
                EXPECT_TRUE(other.packets[process].in_order) << way.name;
            }
            EXPECT_EQ(one.packets[(ProcessId{own_job, 0})].count, 500u);

            other.jobs.drop(first);
            EXPECT_EQ(other.jobs.find_nonce(100), first) << "as long as it has an endpoint of the job";
            other.sm.reset();
            EXPECT_EQ(other.jobs.find_nonce(100), std::nullopt);
        }
        close(fd);
    }
}

} // namespace
} // namespace patchbay
