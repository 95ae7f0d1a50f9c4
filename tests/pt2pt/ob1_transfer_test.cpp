// SPDX-License-Identifier: BSD-3-Clause
// The way of the contents of large messages where a btl has its get() timed: TransferChoice alone, and in a job.
#include "components/pml/ob1/transfer_choice.h"

#include "tests/pt2pt/ob1_matrix.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>

namespace patchbay {
namespace {

using pml::SendMode;
using pml::ob1::TransferChoice;
using pml::ob1::Way;
using test::byte;
using test::JobOptions;
using test::Ob1Rank;
using test::pattern;
using test::run_job;
using test::shared_memory;
using test::WrappedBtl;
using namespace std::chrono_literals;

constexpr std::size_t size = 100'000;
using Nanoseconds = std::chrono::nanoseconds;

// What a message takes by each way.
struct Times {
    Nanoseconds stream;
    Nanoseconds get;
    Nanoseconds halves;
    Nanoseconds before = 0ns;        // the sender has begun with the message
    Nanoseconds before_others = 0ns; // and needs longer for it, if it is not streamed
    Nanoseconds of(Way way) const noexcept { return way == Way::stream ? stream : (way == Way::get ? get : halves); }
};

// Messages one after the other.
class Sender {
public:
    explicit Sender(Times times)
        : times(times) {
        send(int(TransferChoice::first_stay));
    }

    // How many came by each way.
    std::array<int, pml::ob1::ways> send(int messages, std::size_t bytes = size) {
        std::array<int, pml::ob1::ways> counts{};
        for (int i = 0; i < messages; ++i) {
            const auto next = choice.next(bytes);
            _now += times.before;
            if (next.way != Way::stream) {
                _now += times.before_others;
            }
            const TransferChoice::Time began = _now;
            _now += times.of(next.way);
            if (next.is_timed) {
                choice.note(next.way, bytes, began, _now);
            }
            ++counts[std::size_t(next.way)];
        }
        return counts;
    }

    TransferChoice choice;
    Times times;

private:
    TransferChoice::Time _now{1s};
};

using Counts = std::array<int, pml::ob1::ways>;
const int uncounted = TransferChoice::uncounted(size);
const int per_way = TransferChoice::per_way(size);
constexpr int first_stay = int(TransferChoice::first_stay);
constexpr int shortest_stay = int(TransferChoice::shortest_stay);

TEST(TransferChoice, TheFastestWayIsKept) {
    for (const Times times : {Times{10us, 13us, 14us}, {13us, 10us, 14us}, {14us, 13us, 10us}}) {
        Sender sender(times);
        EXPECT_EQ(sender.send(3 * per_way), (Counts{per_way, per_way, per_way}));
        const Counts counts = sender.send(shortest_stay);
        for (const Way way : {Way::stream, Way::get, Way::halves}) {
            EXPECT_EQ(counts[std::size_t(way)], times.of(way) == 10us ? shortest_stay : 0);
        }
    }
}

TEST(TransferChoice, TrialsFollowAfterTwiceAsManyMessagesWhateverTheyFind) {
    for (const Times times : {Times{10us, 14us, 14us}, {14us, 14us, 10us}}) {
        Sender sender(times);
        const auto fastest = std::size_t(times.halves == 10us ? Way::halves : Way::stream);
        for (std::uint32_t stay = TransferChoice::shortest_stay; stay < 3000; stay *= 2) {
            EXPECT_EQ(sender.send(3 * per_way), (Counts{per_way, per_way, per_way}));
            const int most = int(std::min(stay, TransferChoice::longest_stay(size)));
            EXPECT_EQ(sender.send(most)[fastest], most);
        }
    }
}

TEST(TransferChoice, WhatIsMuchSlowerIsGivenUpAndTheTrialTakesAsLong) {
    Sender sender({10us, 16us, 31us});
    EXPECT_EQ(sender.send(3 * per_way), (Counts{3 * per_way - uncounted - 3, uncounted + 2, 1}));
    EXPECT_EQ(sender.send(shortest_stay), (Counts{shortest_stay, 0, 0}));
    EXPECT_EQ(sender.send(per_way), (Counts{per_way, 0, 0}));
    EXPECT_EQ(sender.send(per_way), (Counts{per_way - uncounted - 2, uncounted + 2, 0}));
    EXPECT_EQ(sender.send(per_way), (Counts{per_way - 1, 0, 1}));
}

TEST(TransferChoice, WhatTheSenderHasToWaitForCounts) {
    Sender sender({20us, 15us, 10us, 10us, 15us});
    sender.send(3 * per_way);
    EXPECT_EQ(sender.choice.way_of(size), Way::stream);
    sender.choice = {};
    sender.times.before = 10ms; // the program computes between messages
    sender.send(first_stay + 3 * per_way);
    EXPECT_EQ(sender.choice.way_of(size), Way::halves);
}

TEST(TransferChoice, WhatIsALittleFasterIsNotTaken) {
    Sender sender({10us, 9600ns, 9700ns});
    sender.send(3 * per_way);
    EXPECT_EQ(sender.send(shortest_stay), (Counts{shortest_stay, 0, 0}));
}

TEST(TransferChoice, WhatHasChangedIsFound) {
    Sender sender({10us, 30us, 40us});
    constexpr int many = 100'000;
    EXPECT_GT(sender.send(many)[0], many / 100 * 98);
    sender.times.halves = 5us;
    EXPECT_GT(sender.send(many)[2], many / 100 * 96);
}

TEST(TransferChoice, SizesAreApart) {
    Sender sender({20us, 10us, 40us});
    sender.send(3 * per_way);
    EXPECT_EQ(sender.choice.way_of(size), Way::get);
    EXPECT_EQ(sender.choice.way_of(2 * size), Way::stream);
    EXPECT_EQ(sender.send(100, TransferChoice::least - 1), (Counts{100, 0, 0})); // is not tried
    for (const std::size_t bytes : {TransferChoice::least, std::size_t(1) << 40}) {
        sender.send(first_stay + 3 * TransferChoice::per_way(bytes), bytes);
        EXPECT_EQ(sender.choice.way_of(bytes), Way::get) << bytes;
    }
}

TEST(TransferChoice, OneOfTwoProcessesDecidesForBothDirections) {
    Sender leader({20us, 15us, 10us}), follower({20us, 10us, 15us});
    EXPECT_EQ(TransferChoice().announce(size), 0U); // it has received none
    for (int i = 0; i < 1000; ++i) {
        follower.choice.adopt(size, leader.choice.announce(size));
        const Counts of_leader = leader.send(1), of_follower = follower.send(1);
        if (i > 0) {
            EXPECT_EQ(of_leader, of_follower) << i;
        }
    }
    EXPECT_EQ(leader.choice.way_of(size), Way::halves);
    unsigned last = 1;
    for (int i = 0; i < 100; ++i) { // it receives no more
        last = leader.choice.announce(size);
    }
    EXPECT_EQ(last, 0U);
    follower.choice.adopt(size, last);
    follower.send(3 * per_way);
    EXPECT_EQ(follower.choice.way_of(size), Way::get);
}

TEST(TransferChoice, AStreamAfterOtherWaysIsAnnounced) {
    Sender sender({20us, 15us, 10us});
    for (int i = 0; i < 3 * per_way; ++i) {
        EXPECT_FALSE(sender.choice.next(2 * size).resumes);
    }
    sender.send(3 * per_way + shortest_stay);
    EXPECT_EQ(sender.choice.way_of(size), Way::halves);
    int resumed = 0;
    for (int i = 0; i < 3 * per_way; ++i) {
        const auto next = sender.choice.next(size);
        sender.choice.note(next.way, size, TransferChoice::Time(1s), TransferChoice::Time(1s + 20us));
        resumed += next.resumes;
        EXPECT_TRUE(!next.resumes || next.way == Way::stream);
    }
    EXPECT_EQ(resumed, 1);
}

// All of them are between 64 and 128 KiB.
TEST(TransferChoice, MessagesOfSimilarSizesHaveOneTrial) {
    Sender sender({20us, 15us, 10us});
    for (int i = 0; i < 3 * per_way; ++i) {
        sender.send(1, i % 2 == 0 ? TransferChoice::least : size);
    }
    EXPECT_EQ(sender.send(shortest_stay), (Counts{0, 0, shortest_stay}));
}

TEST(TransferChoice, HalvesThatFailAreNotTriedAgain) {
    Sender sender({20us, 15us, 10us});
    sender.send(3 * per_way);
    sender.send(first_stay + 2 * TransferChoice::per_way(2 * size), 2 * size);
    EXPECT_EQ(sender.choice.way_of(size), Way::halves);
    sender.choice.forbid_halves();
    for (const std::size_t bytes : {size, 2 * size, 4 * size}) {
        const Counts counts = sender.send(1000, bytes);
        EXPECT_EQ(counts[2], 0);
        EXPECT_EQ(sender.choice.way_of(bytes), Way::get) << bytes;
    }
}

// Each of 16 streams that are under way at a time takes 16 times as long as it would alone, and they end one by one.
TEST(TransferChoice, SeveralUnderWayCountOneAfterTheOther) {
    TransferChoice choice;
    TransferChoice::Time now{1s};
    for (int i = 0; i < first_stay; ++i) {
        EXPECT_FALSE(choice.next(size).is_timed);
    }
    for (int i = 0; i < 16; ++i) {
        const auto next = choice.next(size);
        EXPECT_TRUE(next.way == Way::stream && next.is_timed);
    }
    const auto began = now;
    for (int i = 0; i < 16; ++i) {
        now += 10us;
        choice.note(Way::stream, size, began, now);
    }
    for (const Way way : {Way::get, Way::halves}) {
        for (int i = 0; i < per_way; ++i) {
            EXPECT_EQ(choice.next(size).way, way);
            const auto begin_of_get = now;
            now += 12us;
            choice.note(way, size, begin_of_get, now);
        }
    }
    EXPECT_EQ(choice.way_of(size), Way::stream);
    EXPECT_FALSE(choice.next(size).is_timed);
}

// The time of a job, which goes on by what its btls do and by nothing else, so that a busy machine changes no result.
class JobClock {
public:
    // For the jobs made from now on.
    static void start() {
        if (_nanoseconds == nullptr) {
            _nanoseconds = shared_memory<std::atomic<std::int64_t>>();
        }
        ASSERT_NE(_nanoseconds, nullptr);
        *_nanoseconds = Nanoseconds(1s).count();
    }
    static void advance(Nanoseconds by) noexcept { *_nanoseconds += by.count(); }
    static TransferChoice::Time now() noexcept { return TransferChoice::Time(Nanoseconds(*_nanoseconds)); }

private:
    static inline std::atomic<std::int64_t>* _nanoseconds = nullptr; // all processes of a job have it
};

// btl/sm, all of whose ways but one are slow, or fail. The sender's halves take no time, as both halves are written at
// once.
class SlowBtl final : public WrappedBtl {
public:
    SlowBtl(std::unique_ptr<btl::Module> real, Way fast, bool puts_fail)
        : WrappedBtl(std::move(real)),
          _limits(WrappedBtl::limits()),
          _fast(fast),
          _puts_fail(puts_fail) {
        _limits.get_is_timed = true;
    }
    const btl::Limits& limits() const noexcept override { return _limits; }
    std::ptrdiff_t get(btl::Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override {
        ++gets;
        pass(local[0].iov_len, _fast == Way::stream);
        return WrappedBtl::get(from, remote, local);
    }
    std::ptrdiff_t put(btl::Endpoint& to, std::uint64_t remote, std::span<const std::byte> local) noexcept override {
        ++puts;
        pass(0, _fast != Way::halves);
        return _puts_fail ? -EPERM : WrappedBtl::put(to, remote, local);
    }
    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        ++fragments;
        pass(payload_size, _fast != Way::stream && payload_size > 0);
        return WrappedBtl::send(to, header, header_size, payload, payload_size);
    }

    int gets = 0;
    int puts = 0;
    int fragments = 0;

private:
    static void pass(std::size_t bytes, bool slow) noexcept {
        JobClock::advance(Nanoseconds(bytes) + (slow ? Nanoseconds(10ms) : 0ns));
    }

    btl::Limits _limits;
    const Way _fast;
    const bool _puts_fail;
};

constexpr int messages = 100;

// `is_right` is asked about each side's btl after 100 messages.
template <class IsRight>
void expect_ways(Way fast, bool puts_fail, const IsRight& is_right, JobOptions options = {}) {
    SlowBtl* btl = nullptr;
    JobClock::start();
    options.ob1.clock = JobClock::now;
    options.wrap = [&](std::unique_ptr<btl::Module> real) {
        auto wrapped = std::make_unique<SlowBtl>(std::move(real), fast, puts_fail);
        btl = wrapped.get();
        return wrapped;
    };
    EXPECT_TRUE(run_job(options, [&](Ob1Rank& self) {
        bool fine = true;
        for (unsigned i = 0; i < unsigned(messages); ++i) {
            if (self.rank == 0) {
                const std::vector<unsigned char> sent = pattern(size, i);
                self.pml->send(sent.data(), MPI_Count(size), byte(), 1, 4, SendMode::standard, *self.world);
            } else {
                std::vector<unsigned char> got(size);
                self.pml->recv(got.data(), MPI_Count(size), byte(), 0, 4, *self.world, nullptr);
                fine = fine && got == pattern(size, i);
            }
        }
        if (!is_right(self.rank, *btl)) {
            std::fprintf(
                stderr, "rank %d: %d gets, %d puts, %d packets\n", self.rank, btl->gets, btl->puts, btl->fragments);
            fine = false;
        }
        self.barrier();
        return fine;
    }));
}

TEST(Ob1TransferTest, SlowGetsAreSeldom) {
    expect_ways(Way::stream, false,
        [](int rank, const SlowBtl& btl) { return rank == 0 ? btl.puts <= 10 : btl.gets >= 2 && btl.gets <= 20; });
}

TEST(Ob1TransferTest, AGetIsPreferredToSlowStreams) {
    expect_ways(Way::get, false,
        [](int rank, const SlowBtl& btl) { return rank == 0 ? btl.puts >= 1 && btl.puts <= 10 : btl.gets >= 50; });
}

TEST(Ob1TransferTest, BothProcessesCopyWhereThatIsFaster) {
    expect_ways(
        Way::halves, false, [](int rank, const SlowBtl& btl) { return rank == 0 ? btl.puts >= 40 : btl.gets >= 50; });
}

TEST(Ob1TransferTest, APutThatFailsIsTriedOnce) {
    expect_ways(Way::halves, true, [](int rank, const SlowBtl& btl) { return rank != 0 || btl.puts == 1; });
}

// Messages of several blocks.
TEST(Ob1TransferTest, HalvesOfEachBlock) {
    JobOptions options;
    options.ob1.fetch_chunk = 1;
    expect_ways(
        Way::halves, false, [](int rank, const SlowBtl& btl) { return rank != 0 || btl.puts >= 2 * 40; }, options);
}

TEST(Ob1TransferTest, AWayThatIsGivenIsTaken) {
    for (const Way way : {Way::stream, Way::get, Way::halves}) {
        JobOptions options;
        options.ob1.way = way;
        expect_ways(
            way, false,
            [way](int rank, const SlowBtl& btl) {
                return rank == 0 ? btl.puts == (way == Way::halves ? messages : 0)
                                 : btl.gets == (way == Way::stream ? 0 : messages);
            },
            options);
    }
}

// A receive that takes less than the message.
TEST(Ob1TransferTest, HalvesOfWhatTheReceiverTakes) {
    JobOptions options;
    options.ob1.way = Way::halves;
    EXPECT_TRUE(run_job(options, [](Ob1Rank& self) {
        const std::vector<unsigned char> sent = pattern(size, 3);
        bool fine = true;
        for (const std::size_t taken :
            {std::size_t(0), std::size_t(1), std::size_t(10), std::size_t(5000), std::size_t(20'000), size - 1, size}) {
            if (self.rank == 0) {
                self.pml->send(sent.data(), MPI_Count(size), byte(), 1, 4, SendMode::standard, *self.world);
            } else {
                std::vector<unsigned char> got(size);
                const int code = self.pml->recv(got.data(), MPI_Count(taken), byte(), 0, 4, *self.world, nullptr);
                fine = fine && code == (taken < size ? MPI_ERR_TRUNCATE : MPI_SUCCESS) &&
                    std::equal(got.begin(), got.begin() + std::ptrdiff_t(taken), sent.begin()) &&
                    std::all_of(got.begin() + std::ptrdiff_t(taken), got.end(), [](auto c) { return c == 0; });
            }
        }
        self.barrier();
        return fine;
    }));
}

} // namespace
} // namespace patchbay
