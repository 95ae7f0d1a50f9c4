// SPDX-License-Identifier: BSD-3-Clause
// Another consumer of the packets of the btls beside the pml.
#include "tests/pt2pt/ob1_matrix.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace patchbay {
namespace {

using btl::ConsumerId;
using btl::SendCode;
using pml::SendMode;
using test::byte;
using test::JobOptions;
using test::Ob1Rank;
using test::run_job;

constexpr std::uint32_t messages = 1500; // of each kind, to each process

// Exchanges numbered packets with all processes, and checks those that arrive.
class Talker {
public:
    explicit Talker(Ob1Rank& self)
        : _self(self),
          _ways(std::size_t(self.size)),
          _sent(std::size_t(self.size)),
          _received(std::size_t(self.size)) {
        auto added = self.transports->add_consumer(ConsumerId::chan,
            {this, &Talker::receive, nullptr,
                [](void* talker, ProcessId process) noexcept { static_cast<Talker*>(talker)->failed = process.rank; }});
        Ob1Rank::require(bool(added), "add_consumer");
        _handle = std::move(*added);
    }

    // false: no room.
    bool send(std::size_t to) {
        const btl::Transports::Guard guard(*_self.transports);
        if (!_ways[to]) {
            _ways[to] = _self.transports->connect({0, std::uint32_t(to)});
            Ob1Rank::require(bool(_ways[to]), "connect");
        }
        const Header header{btl::first_byte(ConsumerId::chan, 3), 0, 0, std::uint32_t(_self.rank), _sent[to]};
        payload.fill(std::byte(_sent[to]));
        const std::size_t size = _sent[to] % 7 * 60;
        const SendCode code = _ways[to].module->send(*_ways[to].endpoint, &header, sizeof header, payload.data(), size);
        Ob1Rank::require(code == SendCode::ok || code == SendCode::full, "send");
        _sent[to] += code == SendCode::ok;
        return code == SendCode::ok;
    }
    std::uint32_t sent(std::size_t to) const { return _sent[to]; }
    bool has_all() const { return _total == std::uint64_t(messages) * std::uint64_t(_self.size); }

    std::atomic<bool> good{true};
    std::atomic<std::uint32_t> failed{~0u};

private:
    struct Header {
        std::uint8_t first;
        std::uint8_t unused;
        std::uint16_t padding;
        std::uint32_t from;
        std::uint64_t number;
    };
    static bool receive(void* context, btl::Endpoint& from, const void* bytes, std::size_t header_size,
        const void* payload, std::size_t size) noexcept {
        auto& talker = *static_cast<Talker*>(context);
        Header header;
        std::memcpy(&header, bytes, sizeof header);
        const auto* content = static_cast<const std::byte*>(payload);
        std::uint64_t& next = talker._received[from.process.rank];
        const bool fine = header_size == sizeof header && header.first == btl::first_byte(ConsumerId::chan, 3) &&
            header.from == from.process.rank && header.number == next && size == next % 7 * 60 &&
            std::all_of(content, content + size, [&](std::byte one) { return one == std::byte(header.number); });
        if (!fine) {
            talker.good = false;
        }
        ++next;
        ++talker._total;
        return true;
    }

    Ob1Rank& _self;
    std::array<std::byte, 400> payload{};
    std::vector<btl::Way> _ways;
    std::vector<std::uint32_t> _sent;
    std::vector<std::uint64_t> _received;
    std::atomic<std::uint64_t> _total{0};
    btl::ConsumerHandle _handle;
};

// Numbered messages to the next process, in all sizes of the pml's protocols. Returns whether those from the process
// before arrive.
bool talk_by_pml(Ob1Rank& self) {
    const int next = (self.rank + 1) % self.size;
    const int before = (self.rank + self.size - 1) % self.size;
    constexpr std::size_t sizes[] = {4, 100, 5000, 40000};
    std::vector<std::uint32_t> out(10000), in(10000);
    bool good = true;
    for (std::uint32_t number = 0; number < messages; ++number) {
        const std::size_t bytes = sizes[number % 4];
        std::fill_n(out.begin(), bytes / 4, number);
        Request* sending = nullptr;
        self.pml->isend(out.data(), MPI_Count(bytes), byte(), next, 1, SendMode::standard, *self.world, &sending);
        self.pml->recv(in.data(), MPI_Count(bytes), byte(), before, 1, *self.world, nullptr);
        self.wait(sending);
        sending->recycle();
        good &= in.front() == number && in[bytes / 4 - 1] == number;
    }
    return good;
}

// Packets to all processes, in random order.
void talk(Ob1Rank& self, Talker& talker) {
    std::mt19937 random{unsigned(self.rank)};
    std::vector<std::size_t> open(std::size_t(self.size));
    for (std::size_t rank = 0; rank < open.size(); ++rank) {
        open[rank] = rank;
    }
    while (!open.empty()) {
        const std::size_t chosen = random() % open.size();
        if (!talker.send(open[chosen])) {
            self.progress.poll();
        } else if (talker.sent(open[chosen]) == messages) {
            open.erase(open.begin() + std::ptrdiff_t(chosen));
        }
    }
}

class Ob1ConsumersTest : public testing::TestWithParam<JobOptions> {};

TEST_P(Ob1ConsumersTest, EachGetsItsOwnPackets) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        Talker talker(self);
        self.barrier(); // all have theirs
        bool good = true;
        if (self.progress.threaded()) {
            std::thread other([&] { talk(self, talker); });
            good = talk_by_pml(self);
            other.join();
        } else {
            talk(self, talker); // packets of both kinds are under way, and arrive in polls of both
            good = talk_by_pml(self);
        }
        wait_until(self.progress, [&] { return talker.has_all(); });
        self.barrier();
        if (!good || !talker.good) {
            std::fprintf(stderr, "rank %d: messages %d, packets %d\n", self.rank, good, talker.good.load());
        }
        return good && talker.good;
    }));
}

TEST_P(Ob1ConsumersTest, EachIsToldOfAFailure) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        Talker talker(self);
        self.barrier();
        const int last = self.size - 1;
        if (self.rank == last) {
            return true;
        }
        int value;
        Request* request = nullptr;
        self.pml->irecv(&value, sizeof value, byte(), last, 2, *self.world, &request);
        self.transports->peer_failed({0, std::uint32_t(last)});
        self.wait(request);
        const bool good = request->error == MPI_ERR_PROC_ABORTED && talker.failed == std::uint32_t(last);
        request->recycle();
        return good;
    }));
}

JobOptions with(int ranks, bool threaded, unsigned rings) {
    JobOptions options;
    options.ranks = ranks;
    options.threaded = threaded;
    options.sm.rings = rings;
    return options;
}

INSTANTIATE_TEST_SUITE_P(
    All, Ob1ConsumersTest, testing::Values(with(2, false, 8), with(2, false, 0), with(3, true, 8), with(4, true, 0)));

} // namespace
} // namespace patchbay
