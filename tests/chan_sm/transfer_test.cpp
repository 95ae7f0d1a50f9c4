// SPDX-License-Identifier: BSD-3-Clause
// The ring of chunks, messages that are written to the receiver's buffer, and synchronous messages, between processes
// that spin and processes that sleep whenever they wait.
#include "object/communicator.h"
#include "tests/chan_sm/two_ends.h"
#include "tests/datatype/recipes.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

// A communicator belongs to mpi, which is not linked; none is referenced.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::chan::sm {
namespace {

WaitPolicy spins() {
    return WaitPolicy::make(std::chrono::milliseconds(1), std::chrono::milliseconds(1), true, false);
}

// Buffers of both sides, with a gap behind each that nothing may write.
constexpr std::size_t gap = 64;
constexpr std::byte untouched{0xa5};

struct Memory {
    Memory(std::size_t message, std::uint32_t count, std::int64_t step)
        : stride((message + gap) * (step < 0 ? -1 : 1)),
          bytes(count * (message + gap) + gap, untouched),
          base(bytes.data() + gap + (step < 0 ? (count - 1) * (message + gap) : 0)) {}
    std::byte* at(std::uint64_t number, std::uint32_t slackness) {
        return base + std::ptrdiff_t(number % slackness) * stride;
    }
    std::ptrdiff_t stride;
    std::vector<std::byte> bytes;
    std::byte* base;
};

// Starts and ends at random: up to `slackness` are outstanding on each side.
bool send_all(SendEnd& end, Memory& memory, std::size_t message, std::uint32_t slackness, std::uint64_t messages) {
    std::mt19937 random(1);
    std::uint64_t started = 0;
    for (std::uint64_t ended = 0; ended < messages; ++ended) {
        const std::uint64_t most = std::min(messages, ended + slackness);
        const std::uint64_t want = started + random() % (most - started + 1);
        while (started < std::max(want, ended + 1)) {
            fill(memory.at(started, slackness), started, message);
            end.sender.start();
            ++started;
        }
        end.wait_for(ended + 1);
    }
    return true;
}

bool receive_all(
    ReceiveEnd& end, Memory& memory, std::size_t message, std::uint32_t slackness, std::uint64_t messages) {
    std::mt19937 random(2);
    std::uint64_t started = 0;
    for (std::uint64_t ended = 0; ended < messages; ++ended) {
        const std::uint64_t most = std::min(messages, ended + slackness);
        const std::uint64_t want = started + random() % (most - started + 1);
        while (started < std::max(want, ended + 1)) {
            std::byte* buffer = memory.at(started, slackness);
            std::fill(buffer, buffer + message, std::byte(0));
            end.receiver->start();
            ++started;
        }
        end.wait_for(ended + 1);
        std::byte* buffer = memory.at(ended, slackness);
        if (!holds(buffer, ended, message) || end.receiver->length(ended) != message || buffer[message] != untouched ||
            buffer[-1] != untouched) {
            return false;
        }
        if (random() % 64 == 0) {
            usleep(200);
        }
    }
    return true;
}

bool exchange(std::size_t message, std::uint64_t messages, const Plan& plan, const WaitPolicy& policy, int step = 1) {
    const int fd = node_file();
    auto* board = test::shared_memory<Board>();
    const bool good = test::run_processes(2, 120, [&](int rank) {
        Memory memory(message, plan.slackness, step);
        const Buffers buffers(memory.base, MPI_Count(message), bytes_type(), plan.slackness, memory.stride);
        if (rank == 0) {
            SendEnd end(fd, *board, plan, policy, buffers);
            const bool sent = send_all(end, memory, message, plan.slackness, messages);
            while (board->step.load() == 0) {
                usleep(100); // the receiver reads this process's memory of the segment
            }
            return sent;
        }
        ReceiveEnd end(fd, *board, plan, policy);
        end.begin(buffers);
        const bool received = receive_all(end, memory, message, plan.slackness, messages);
        board->step.store(1);
        return received;
    });
    close(fd);
    return good;
}

const std::size_t sizes[] = {0, 1, 8, 56, 57, 504, 505, 2048, 8192, 8193, 100'000, 1'000'000};

TEST(Ring, EverySizeArrivesWhileBothSpin) {
    for (const std::size_t size : sizes) {
        EXPECT_TRUE(exchange(size, size > 50'000 ? 60 : 1500, {}, spins())) << size;
    }
}

TEST(Ring, EverySizeArrivesWhileBothSleep) {
    for (const std::size_t size : sizes) {
        EXPECT_TRUE(exchange(size, size > 50'000 ? 30 : 300, {}, test::always_sleep())) << size;
    }
}

TEST(Ring, SeveralStartsGoAroundTheBuffersInBothDirections) {
    for (const std::uint32_t slackness : {2u, 5u, 64u}) {
        for (const std::size_t size : {std::size_t(8), std::size_t(600), std::size_t(20'000)}) {
            for (const int step : {1, -1}) {
                const Plan plan{.slackness = slackness};
                EXPECT_TRUE(exchange(size, 600, plan, spins(), step)) << size << " slackness " << slackness;
                EXPECT_TRUE(exchange(size, 150, plan, test::always_sleep(), step)) << size << " " << slackness;
            }
        }
    }
}

TEST(Ring, TheSmallestRingIsEnough) {
    const Plan plan{.slackness = 3, .ring_bytes = 0, .chunk_bytes = 1024};
    for (const std::size_t size : {std::size_t(600), std::size_t(1024), std::size_t(50'001)}) {
        EXPECT_TRUE(exchange(size, 300, plan, spins())) << size;
        EXPECT_TRUE(exchange(size, 60, plan, test::always_sleep())) << size;
    }
}

TEST(Ring, StoresPastTheCacheArriveToo) {
    const Plan plan{.stores = Stores::uncached};
    for (const std::size_t size : {std::size_t(2048), std::size_t(70'001)}) {
        EXPECT_TRUE(exchange(size, 200, plan, spins())) << size;
    }
}

TEST(Synchronous, SeveralStarts) {
    for (const std::uint32_t slackness : {1u, 4u}) {
        const Plan plan{.slackness = slackness, .synchronous = true};
        EXPECT_TRUE(exchange(8, 500, plan, spins()));
        EXPECT_TRUE(exchange(30'000, 100, plan, test::always_sleep()));
    }
}

// Both ends in one process.
struct Pair {
    explicit Pair(const Plan& the_plan)
        : plan(the_plan),
          receive(fd, board, plan, test::always_sleep()) {}
    ~Pair() { close(fd); }
    void connect(const Buffers& from, const Buffers& to) {
        // The sender waits for the block of the receiver, and the other way round.
        auto block = receive.segment->heap().alloc(ReceiverBlock::bytes(plan.slackness), receive.segment->slot());
        board.receiver.store(block->address);
        send = std::make_unique<SendEnd>(fd, board, plan, test::always_sleep(), from);
        receive.begin(to);
        // begin() has made another block: the sender gets that one.
        auto* own = reinterpret_cast<SenderBlock*>(send->segment->heap().at(board.sender.load()));
        send->sender.connect(
            {own, send->geometry, reinterpret_cast<ReceiverBlock*>(send->segment->heap().at(board.receiver.load())),
                &receive.segment->own_control().bell},
            plan.direct ? Sender::Mode::direct : Sender::Mode::ring);
    }
    Sender& sender() { return send->sender; }
    Receiver& receiver() { return *receive.receiver; }

    const Plan plan;
    int fd = node_file();
    Board board{};
    ReceiveEnd receive;
    std::unique_ptr<SendEnd> send;
};

TEST(Ring, ASenderNeverOverwritesWhatIsNotConsumed) {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    Pair pair({.slackness = 100});
    pair.connect({&out, 8, bytes_type(), 100, 0}, {&in, 8, bytes_type(), 100, 0});
    const std::uint64_t room = pair.send->geometry.chunks;
    EXPECT_GE(room, 200u);
    for (; out < room; ++out) {
        EXPECT_TRUE(pair.sender().start()) << out;
    }
    EXPECT_FALSE(pair.sender().start());
    EXPECT_EQ(pair.sender().complete(), room);
    std::uint64_t next = 0;
    for (; !pair.sender().advance(); ++next) {
        ASSERT_LT(next, room);
        pair.receiver().start();
        ASSERT_TRUE(pair.receiver().advance());
        ASSERT_EQ(in, next);
    }
    for (; next <= room; ++next) {
        pair.receiver().start();
        ASSERT_TRUE(pair.receiver().advance());
        ASSERT_EQ(in, next);
    }
    pair.receiver().start();
    EXPECT_FALSE(pair.receiver().advance());
}

TEST(Synchronous, ASendIsCompleteWhenItsReceiveIsStarted) {
    std::uint64_t out = 7;
    std::uint64_t in = 0;
    Pair pair({.slackness = 2, .synchronous = true});
    pair.connect({&out, 8, bytes_type(), 2, 0}, {&in, 8, bytes_type(), 2, 0});
    EXPECT_FALSE(pair.sender().start());
    EXPECT_FALSE(pair.sender().start());
    EXPECT_FALSE(pair.sender().advance());
    pair.receiver().start();
    EXPECT_FALSE(pair.sender().advance());
    EXPECT_EQ(pair.sender().complete(), 1u);
    pair.receiver().start();
    EXPECT_TRUE(pair.sender().advance());
    EXPECT_TRUE(pair.receiver().advance());
    EXPECT_TRUE(pair.receiver().advance());
    EXPECT_EQ(in, 7u);
}

TEST(Direct, AMessageIsWrittenToABufferOfTheSegmentOnceTheReceiveIsStarted) {
    std::vector<std::byte> out(10'000);
    Pair pair({.direct = true});
    auto memory = pair.receive.segment->heap().alloc(out.size(), pair.receive.segment->slot());
    ASSERT_TRUE(memory);
    std::byte* in = memory->bytes.data();
    pair.connect(
        {out.data(), MPI_Count(out.size()), bytes_type(), 1, 0}, {in, MPI_Count(out.size()), bytes_type(), 1, 0});
    for (std::uint64_t message = 0; message < 40; ++message) {
        fill(out.data(), message, out.size());
        EXPECT_FALSE(pair.sender().start());
        EXPECT_FALSE(pair.sender().advance());
        pair.receiver().start();
        EXPECT_FALSE(pair.receiver().advance());
        EXPECT_TRUE(pair.sender().advance());
        EXPECT_TRUE(holds(in, message, out.size())) << "it is there before the receiver looks";
        EXPECT_TRUE(pair.receiver().advance());
        EXPECT_EQ(pair.receiver().length(message), out.size());
    }
    EXPECT_EQ(pair.sender().chunks(), 40u) << "a message is one chunk without payload";
}

TEST(Direct, ABufferElsewhereGetsItsMessageThroughTheRing) {
    std::vector<std::byte> out(100'000);
    std::vector<std::byte> in(out.size());
    Pair pair({.direct = true});
    pair.connect(
        {out.data(), MPI_Count(out.size()), bytes_type(), 1, 0}, {in.data(), MPI_Count(in.size()), bytes_type(), 1, 0});
    fill(out.data(), 3, out.size());
    pair.receiver().start();
    pair.sender().start();
    for (int i = 0; i < 100 && !pair.receiver().advance(); ++i) {
        pair.sender().advance();
    }
    EXPECT_EQ(pair.receiver().ended(), 1u);
    EXPECT_TRUE(holds(in.data(), 3, in.size()));
}

TEST(Rebind, LengthsMayDiffer) {
    for (const bool direct : {false, true}) {
        for (const std::size_t most : {std::size_t(40), std::size_t(3000), std::size_t(60'000)}) {
            std::vector<std::byte> out(most);
            std::vector<std::byte> spare(most);
            Pair pair({.direct = direct});
            auto memory = pair.receive.segment->heap().alloc(most, pair.receive.segment->slot());
            ASSERT_TRUE(memory);
            std::byte* in = memory->bytes.data();
            pair.connect({out.data(), MPI_Count(most), bytes_type(), 1, 0}, {in, MPI_Count(most), bytes_type(), 1, 0});
            std::mt19937 random(3);
            for (std::uint64_t message = 0; message < 60; ++message) {
                const std::size_t sent = random() % (most + 1);
                const std::size_t room = random() % (most + 1);
                std::byte* const to = message % 3 == 0 ? spare.data() : in;
                std::fill(to, to + most, untouched);
                fill(out.data(), message, sent);
                pair.sender().rebind(out.data(), MPI_Count(sent));
                pair.receiver().rebind(to, MPI_Count(room));
                pair.receiver().start();
                pair.sender().start();
                for (int i = 0; i < 100 && !pair.receiver().advance(); ++i) {
                    pair.sender().advance();
                }
                ASSERT_EQ(pair.receiver().ended(), message + 1);
                ASSERT_EQ(pair.receiver().length(message), sent);
                const std::size_t arrived = std::min(sent, room);
                ASSERT_TRUE(holds(to, message, arrived)) << most << " " << direct;
                ASSERT_TRUE(arrived == most || to[arrived] == untouched);
            }
        }
    }
}

// 4 blocks of 3 of 5 ints on one side, consecutive ints on the other.
TEST(Types, BlocksAreGatheredAndScattered) {
    const Ref<Datatype> strided = test::create(MPI_COMBINER_VECTOR, {4, 3, 5}, {test::named(MPI_INT)});
    ASSERT_EQ(strided->commit(), MPI_SUCCESS);
    const Ref<Datatype> single = test::named(MPI_INT);
    for (const MPI_Count elements : {1, 3, 20, 3000}) {
        const auto ints = std::size_t(elements) * 12;
        const auto room = std::size_t(elements) * 18 + 2;
        for (const bool scatters : {false, true}) {
            for (const bool direct : {false, true}) {
                std::vector<int> out(room);
                Pair pair({.slackness = 2, .chunk_bytes = 1000, .direct = direct});
                auto memory = pair.receive.segment->heap().alloc(2 * room * sizeof(int), pair.receive.segment->slot());
                ASSERT_TRUE(memory);
                int* in = reinterpret_cast<int*>(memory->bytes.data());
                const auto step = MPI_Aint(room * sizeof(int));
                const Buffers from = scatters ? Buffers(out.data(), MPI_Count(ints), *single, 2, 0)
                                              : Buffers(out.data(), elements, *strided, 2, 0);
                const Buffers to = scatters ? Buffers(in, elements, *strided, 2, step)
                                            : Buffers(in, MPI_Count(ints), *single, 2, step);
                pair.connect(from, to);
                const auto strided_place = [](std::size_t i) { return i / 12 * 18 + i % 12 / 3 * 5 + i % 3; };
                for (int message = 0; message < 5; ++message) {
                    for (std::size_t i = 0; i < ints; ++i) {
                        out[scatters ? i : strided_place(i)] = int(i) * 5 + message;
                    }
                    pair.receiver().start();
                    pair.sender().start();
                    for (int i = 0; i < 1000 && !pair.receiver().advance(); ++i) {
                        pair.sender().advance();
                    }
                    ASSERT_EQ(pair.receiver().ended(), std::uint64_t(message) + 1);
                    const int* arrived = in + std::size_t(message % 2) * room;
                    for (std::size_t i = 0; i < ints; ++i) {
                        ASSERT_EQ(arrived[scatters ? strided_place(i) : i], int(i) * 5 + message) << i;
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace patchbay::chan::sm
