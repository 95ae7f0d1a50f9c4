// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of a peer: first contact while its address is not known yet, and its failure.
#include "tests/pt2pt/ob1_matrix.h"

#include <chrono>
#include <memory>

namespace patchbay {
namespace {

using pml::SendMode;
using test::byte;
using test::JobOptions;
using test::Ob1Rank;
using test::pattern;
using test::run_job;
using test::WrappedBtl;

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds address_takes(500);

// A btl that has asked for the address of a peer in connect() and can send when it has come.
class LateBtl final : public WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    btl::Endpoint* connect(ProcessId process) noexcept override {
        _address_comes = Clock::now() + address_takes;
        return WrappedBtl::connect(process);
    }
    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        return is_late() ? btl::SendCode::full : WrappedBtl::send(to, header, header_size, payload, payload_size);
    }
    Reservation reserve(btl::Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override {
        return is_late() ? Reservation{btl::SendCode::full, {}} : WrappedBtl::reserve(to, header_size, payload_size);
    }

private:
    bool is_late() const noexcept { return Clock::now() < _address_comes; }
    Clock::time_point _address_comes;
};

JobOptions late_options() {
    JobOptions options;
    options.sleeps = false; // nothing wakes the process when the time has passed
    options.wrap = [](std::unique_ptr<btl::Module> real) { return std::make_unique<LateBtl>(std::move(real)); };
    return options;
}

TEST(Ob1PeerTest, FirstContactDoesNotBlockAndKeepsTheOrder) {
    EXPECT_TRUE(run_job(late_options(), [](Ob1Rank& self) {
        constexpr std::size_t sizes[] = {8, 0, 300000, 100, 5000};
        bool fine = true;
        if (self.rank == 0) {
            std::vector<std::vector<unsigned char>> sent;
            std::vector<Request*> requests(std::size(sizes) + 1);
            const auto begin = Clock::now();
            for (std::size_t i = 0; i < std::size(sizes); ++i) {
                sent.push_back(pattern(sizes[i], unsigned(i)));
                self.pml->isend(sent.back().data(), MPI_Count(sizes[i]), byte(), 1, 4, SendMode::standard, *self.world,
                    &requests[i]);
            }
            self.pml->isend(nullptr, 0, byte(), 1, 4, SendMode::synchronous, *self.world, &requests[std::size(sizes)]);
            fine = Clock::now() - begin < address_takes / 2;
            self.progress.poll();
            fine = fine && (!requests[0]->is_complete() || Clock::now() - begin > address_takes);
            for (Request* request : requests) {
                self.wait(request);
                fine = fine && request->error == MPI_SUCCESS;
                request->recycle();
            }
        } else {
            for (std::size_t i = 0; i < std::size(sizes); ++i) {
                std::vector<unsigned char> got(300000);
                MPI_Status status;
                self.pml->recv(got.data(), MPI_Count(got.size()), byte(), 0, 4, *self.world, &status);
                got.resize(status_bytes(status));
                fine = fine && got == pattern(sizes[i], unsigned(i));
            }
            self.pml->recv(nullptr, 0, byte(), 0, 4, *self.world, nullptr);
        }
        self.barrier();
        return fine;
    }));
}

TEST(Ob1PeerTest, ABlockingFirstSendWaits) {
    EXPECT_TRUE(run_job(late_options(), [](Ob1Rank& self) {
        int value = self.rank;
        if (self.rank == 0) {
            return self.pml->send(&value, sizeof value, byte(), 1, 4, SendMode::standard, *self.world) == MPI_SUCCESS;
        }
        return self.pml->recv(&value, sizeof value, byte(), 0, 4, *self.world, nullptr) == MPI_SUCCESS && value == 0;
    }));
}

// What has been started and waits for a process.
struct Waiting {
    Request* request;
    const char* what;
};

bool ends_with(Ob1Rank& self, const Waiting& waiting, int code) {
    self.wait(waiting.request);
    const bool fine = waiting.request->error == code;
    if (!fine) {
        std::fprintf(stderr, "%s: %d\n", waiting.what, waiting.request->error);
    }
    waiting.request->recycle();
    return fine;
}

JobOptions three_ranks(btl::sm::SingleCopy single_copy, bool threaded) {
    JobOptions options;
    options.ranks = 3;
    options.threaded = threaded;
    options.sm.single_copy = single_copy;
    return options;
}

class Ob1DeathTest : public testing::TestWithParam<JobOptions> {};

// Rank 2 ends without a message; that is reported to rank 0.
TEST_P(Ob1DeathTest, WhatWaitsForADeadProcessEnds) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        constexpr ProcessId failed{0, 2};
        const auto big = pattern(500000, 1);
        std::vector<unsigned char> got(500000), part(500000);
        int value = 7;
        int from_any = 0;
        if (self.rank == 2) {
            self.pml->send(&value, sizeof value, byte(), 0, 1, SendMode::standard, *self.world);
            Request* begun = nullptr; // its rts arrives, and the rest never does
            self.pml->isend(big.data(), MPI_Count(big.size()), byte(), 0, 3, SendMode::standard, *self.world, &begun);
            self.barrier();
            _exit(0);
        }
        bool fine = true;
        if (self.rank == 0) {
            std::vector<Waiting> waiting(6);
            const auto& world = self.world;
            self.pml->irecv(&value, sizeof value, byte(), 2, 2, *world, &(waiting[0] = {nullptr, "irecv"}).request);
            self.pml->isend(big.data(), MPI_Count(big.size()), byte(), 2, 2, SendMode::standard, *world,
                &(waiting[1] = {nullptr, "isend"}).request);
            self.pml->isend(
                nullptr, 0, byte(), 2, 2, SendMode::synchronous, *world, &(waiting[2] = {nullptr, "issend"}).request);
            self.pml->isend(big.data(), MPI_Count(big.size()), byte(), 2, 2, SendMode::standard, *world,
                &(waiting[3] = {nullptr, "isend that is cancelled"}).request);
            self.pml->isend(nullptr, 0, byte(), 2, 2, SendMode::synchronous, *world,
                &(waiting[4] = {nullptr, "issend that is freed"}).request);
            self.pml->irecv(&from_any, sizeof from_any, byte(), MPI_ANY_SOURCE, 2, *world,
                &(waiting[5] = {nullptr, "any"}).request);
            self.barrier();
            ::usleep(100'000);            // by now it has ended
            waiting[3].request->cancel(); // no reply will come
            waiting[4].request->recycle();
            self.transports->peer_failed(failed);
            for (int i : {0, 1, 2, 3}) {
                fine = ends_with(self, waiting[std::size_t(i)], MPI_ERR_PROC_ABORTED) && fine;
            }
            self.transports->peer_failed(failed); // a second report changes nothing
            // What is started now.
            const auto now = [&](int code, int wanted, const char* what) {
                fine = fine && code == wanted;
                if (code != wanted) {
                    std::fprintf(stderr, "%s: %d\n", what, code);
                }
            };
            bool found = true;
            Message* message = nullptr;
            now(self.pml->recv(&value, sizeof value, byte(), 2, 2, *world, nullptr), MPI_ERR_PROC_ABORTED, "recv");
            now(self.pml->send(&value, 4, byte(), 2, 2, SendMode::standard, *world), MPI_ERR_PROC_ABORTED, "send");
            now(self.pml->probe(2, 2, *world, nullptr), MPI_ERR_PROC_ABORTED, "probe");
            now(self.pml->mprobe(2, 2, *world, &message, nullptr), MPI_ERR_PROC_ABORTED, "mprobe");
            now(self.pml->iprobe(2, 2, *world, &found, nullptr), MPI_ERR_PROC_ABORTED, "iprobe");
            now(self.pml->improbe(2, 2, *world, &found, &message, nullptr), MPI_ERR_PROC_ABORTED, "improbe");
            // What had been sent before.
            value = 0;
            now(self.pml->recv(&value, sizeof value, byte(), 2, 1, *world, nullptr), MPI_SUCCESS, "early message");
            fine = fine && value == 7;
            now(self.pml->recv(part.data(), MPI_Count(part.size()), byte(), 2, 3, *world, nullptr),
                MPI_ERR_PROC_ABORTED, "a message of which only the rts has come");
            // The other process is not affected.
            self.progress.poll();
            fine = fine && !waiting[5].request->is_complete();
            now(self.pml->send(big.data(), MPI_Count(big.size()), byte(), 1, 5, SendMode::standard, *world),
                MPI_SUCCESS, "send to another process");
            fine = ends_with(self, waiting[5], MPI_SUCCESS) && from_any == 77 && fine;
            return fine;
        }
        self.barrier();
        from_any = 77;
        self.pml->recv(got.data(), MPI_Count(got.size()), byte(), 0, 5, *self.world, nullptr);
        self.pml->send(&from_any, sizeof from_any, byte(), 0, 2, SendMode::standard, *self.world);
        return got == big;
    }));
}

// The sender fails when a part of its message has come.
TEST_P(Ob1DeathTest, AMessageOfWhichAPartHasComeEnds) {
    JobOptions options = GetParam();
    options.sm.single_copy = btl::sm::SingleCopy::none;
    EXPECT_TRUE(run_job(options, [](Ob1Rank& self) {
        std::vector<unsigned char> buffer(64 << 20);
        if (self.rank == 1) {
            return true;
        }
        Request* request = nullptr;
        if (self.rank == 2) {
            self.pml->isend(
                buffer.data(), MPI_Count(buffer.size()), byte(), 0, 3, SendMode::standard, *self.world, &request);
            int value;
            self.pml->recv(&value, sizeof value, byte(), 0, 1, *self.world, nullptr); // polls meanwhile
            _exit(0);
        }
        self.pml->irecv(buffer.data(), MPI_Count(buffer.size()), byte(), 2, 3, *self.world, &request);
        for (int i = 0; i < 10; ++i) {
            self.progress.poll();
        }
        int value = 1;
        self.pml->send(&value, sizeof value, byte(), 2, 1, SendMode::standard, *self.world);
        ::usleep(200'000); // the ring is full, so that the sender waits until it has got the message, and ends
        self.transports->peer_failed({0, 2});
        return ends_with(self, {request, "irecv"}, MPI_ERR_PROC_ABORTED);
    }));
}

INSTANTIATE_TEST_SUITE_P(All, Ob1DeathTest,
    testing::Values(three_ranks(btl::sm::SingleCopy::none, false), three_ranks(btl::sm::SingleCopy::cma, false),
        three_ranks(btl::sm::SingleCopy::cma, true)));

} // namespace
} // namespace patchbay
