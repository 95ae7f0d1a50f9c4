// SPDX-License-Identifier: BSD-3-Clause
#include "tests/pt2pt/ob1_matrix.h"

#include <cstdlib>

namespace patchbay {
namespace {

using pml::SendMode;
using test::byte;
using test::JobOptions;
using test::Ob1Rank;
using test::pattern;
using test::run_job;

class Ob1RequestTest : public testing::TestWithParam<JobOptions> {};

TEST_P(Ob1RequestTest, SynchronousSendWaitsForItsMatch) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        bool fine = true;
        for (std::size_t size : {8ul, 100000ul}) {
            std::vector<unsigned char> sent = pattern(size, 1), got(size);
            const int to = (self.rank + 1) % self.size;
            Request* sending = nullptr;
            self.pml->isend(sent.data(), MPI_Count(size), byte(), to, 4, SendMode::synchronous, *self.world, &sending);
            for (int i = 0; i < 100; ++i) {
                self.progress.poll();
            }
            fine = fine && !sending->is_complete();
            self.barrier();
            self.pml->recv(got.data(), MPI_Count(size), byte(), MPI_ANY_SOURCE, 4, *self.world, nullptr);
            self.wait(sending);
            sending->recycle();
            fine = fine && sent == got;
        }
        return fine;
    }));
}

TEST_P(Ob1RequestTest, SendsAreCancelledUnlessTheyMatched) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        bool fine = true;
        const int to = self.size - 1;
        for (std::size_t size : {1ul, 1000ul, 300000ul}) {
            for (SendMode mode : {SendMode::standard, SendMode::synchronous}) {
                const auto sent = pattern(size, 2);
                if (self.rank == 0) {
                    Request* request = nullptr;
                    self.pml->isend(sent.data(), MPI_Count(size), byte(), to, 6, mode, *self.world, &request);
                    request->cancel();
                    self.wait(request);
                    fine = fine && status_cancelled(request->status);
                    request->recycle();
                }
                self.barrier();
                if (self.rank == to) { // the message must not be there any more
                    bool found = true;
                    self.pml->iprobe(0, 6, *self.world, &found, nullptr);
                    fine = fine && !found;
                }
                // This message has a posted receive: the cancel comes too late.
                std::vector<unsigned char> got(size);
                Request* receiving = nullptr;
                if (self.rank == to) {
                    self.pml->irecv(got.data(), MPI_Count(size), byte(), 0, 7, *self.world, &receiving);
                }
                self.barrier();
                if (self.rank == 0) {
                    Request* request = nullptr;
                    self.pml->isend(sent.data(), MPI_Count(size), byte(), to, 7, mode, *self.world, &request);
                    request->cancel();
                    self.wait(request);
                    fine = fine && !status_cancelled(request->status);
                    request->recycle();
                }
                if (self.rank == to) {
                    self.wait(receiving);
                    receiving->recycle();
                    fine = fine && got == sent;
                }
            }
        }
        return fine;
    }));
}

TEST_P(Ob1RequestTest, ReceivesAreCancelled) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        char there = 0;
        Request* any = nullptr;
        Request* one = nullptr;
        self.pml->irecv(&there, 1, byte(), MPI_ANY_SOURCE, 1, *self.world, &any);
        self.pml->irecv(&there, 1, byte(), 0, 1, *self.world, &one);
        any->cancel();
        one->cancel();
        const bool fine = any->is_complete() && status_cancelled(any->status) && status_cancelled(one->status);
        any->recycle();
        one->recycle();
        return fine;
    }));
}

TEST_P(Ob1RequestTest, MatchedProbeRemovesTheMessage) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        bool fine = true;
        for (std::size_t size : {16ul, 50000ul}) {
            const auto sent = pattern(size, 9);
            std::vector<unsigned char> got(size);
            const int to = (self.rank + 1) % self.size;
            Request* sending = nullptr;
            self.pml->isend(sent.data(), MPI_Count(size), byte(), to, 8, SendMode::standard, *self.world, &sending);
            Message* message = nullptr;
            MPI_Status status{};
            self.pml->mprobe(MPI_ANY_SOURCE, 8, *self.world, &message, &status);
            bool found = true;
            self.pml->iprobe(MPI_ANY_SOURCE, 8, *self.world, &found, nullptr);
            fine = fine && !found && status_bytes(status) == size;
            self.pml->mrecv(got.data(), MPI_Count(size), byte(), message, &status);
            self.wait(sending);
            sending->recycle();
            fine = fine && got == sent && status.MPI_TAG == 8;
            self.barrier(); // so that this round's iprobe does not match the next round's message
        }
        return fine;
    }));
}

// Requests that were freed before they completed.
TEST_P(Ob1RequestTest, AbandonedRequestsComplete) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        const std::size_t size = 100000;
        static std::vector<unsigned char> sent, got;
        sent = pattern(size, unsigned(self.rank));
        got.assign(size, 0);
        const int to = (self.rank + 1) % self.size;
        const int from = (self.rank + self.size - 1) % self.size;
        Request* request = nullptr;
        self.pml->irecv(got.data(), MPI_Count(size), byte(), from, 2, *self.world, &request);
        request->recycle();
        self.pml->isend(sent.data(), MPI_Count(size), byte(), to, 2, SendMode::standard, *self.world, &request);
        request->recycle();
        const auto expected = pattern(size, unsigned(from));
        wait_until(self.progress, [&] { return got == expected; });
        return true;
    }));
}

// A btl that fails to send one kind of control packet, as if the peer could not be reached.
class FailingBtl final : public test::WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        const auto type = static_cast<const pml::ob1::ControlHeader*>(header)->type;
        return type == fails ? btl::SendCode::failed : WrappedBtl::send(to, header, header_size, payload, payload_size);
    }

    static pml::ob1::PacketType fails;
};
pml::ob1::PacketType FailingBtl::fails;

JobOptions failing(pml::ob1::PacketType type) {
    JobOptions options = test::without_single_copy(2);
    options.wrap = [type](std::unique_ptr<btl::Module> real) {
        FailingBtl::fails = type;
        return std::make_unique<FailingBtl>(std::move(real));
    };
    return options;
}

// The cancel returns an error, and the message arrives.
TEST(Ob1FailingRequestTest, CancelThatCannotBeSent) {
    EXPECT_TRUE(run_job(failing(pml::ob1::PacketType::cancel), [](Ob1Rank& self) {
        bool fine = true;
        for (std::size_t size : {1ul, 300000ul}) {
            for (SendMode mode : {SendMode::standard, SendMode::synchronous}) {
                const auto sent = pattern(size, 3);
                Request* request = nullptr;
                if (self.rank == 0) {
                    self.pml->isend(sent.data(), MPI_Count(size), byte(), 1, 6, mode, *self.world, &request);
                    fine = fine && request->cancel() == MPI_ERR_OTHER;
                }
                self.barrier();
                if (self.rank == 0) {
                    self.wait(request);
                    fine = fine && request->error == MPI_SUCCESS && !status_cancelled(request->status);
                    request->recycle();
                } else {
                    std::vector<unsigned char> got(size);
                    self.pml->recv(got.data(), MPI_Count(size), byte(), 0, 6, *self.world, nullptr);
                    fine = fine && got == sent;
                }
            }
        }
        return fine;
    }));
}

// The receive, which cannot ask for the message, returns an error.
TEST(Ob1FailingRequestTest, StreamThatCannotBeRequested) {
    EXPECT_TRUE(run_job(failing(pml::ob1::PacketType::cts), [](Ob1Rank& self) {
        constexpr MPI_Count size = 300000;
        static std::vector<unsigned char> data(size);
        bool fine = true;
        if (self.rank == 0) {
            Request* request = nullptr;
            self.pml->isend(data.data(), size, byte(), 1, 6, SendMode::standard, *self.world, &request);
        } else {
            fine = self.pml->recv(data.data(), size, byte(), 0, 6, *self.world, nullptr) == MPI_ERR_OTHER;
        }
        self.barrier();
        if (self.rank == 0) {
            std::_Exit(0); // the send never completes, and the destructor would wait for it
        }
        return fine;
    }));
}

// A btl that cannot take the fragments of a message: for a number of attempts after the first two fragments.
class NoFragmentsBtl final : public test::WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    Reservation reserve(btl::Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override {
        if (payload_size > 1000 && ++_fragments > 2 && _fragments - 2 <= attempts) {
            return {code, {}};
        }
        return WrappedBtl::reserve(to, header_size, payload_size);
    }

    static btl::SendCode code;
    static int attempts;

private:
    int _fragments = 0;
};
btl::SendCode NoFragmentsBtl::code;
int NoFragmentsBtl::attempts;

JobOptions without_fragments(btl::SendCode code, int attempts) {
    JobOptions options = test::without_single_copy(2);
    options.ob1.memory_wait = std::chrono::milliseconds(200);
    options.wrap = [code, attempts](std::unique_ptr<btl::Module> real) {
        NoFragmentsBtl::code = code;
        NoFragmentsBtl::attempts = attempts;
        return std::make_unique<NoFragmentsBtl>(std::move(real));
    };
    return options;
}

// Sends a message in fragments. The send and the receive have to return this code.
bool stream(Ob1Rank& self, int expected) {
    constexpr std::size_t size = 300000;
    const auto sent = pattern(size, 3);
    std::vector<unsigned char> got(size);
    int code;
    if (self.rank == 0) {
        code = self.pml->send(sent.data(), size, byte(), 1, 6, SendMode::standard, *self.world);
    } else {
        code = self.pml->recv(got.data(), size, byte(), 0, 6, *self.world, nullptr);
    }
    self.barrier();
    return code == expected && (self.rank == 0 || code != MPI_SUCCESS || got == sent);
}

constexpr int always = 1 << 30;

TEST(Ob1FailingRequestTest, FragmentsThatCannotBeSent) {
    EXPECT_TRUE(run_job(
        without_fragments(btl::SendCode::failed, always), [](Ob1Rank& self) { return stream(self, MPI_ERR_OTHER); }));
}

TEST(Ob1FailingRequestTest, FragmentsForWhichMemoryComesBack) {
    EXPECT_TRUE(run_job(
        without_fragments(btl::SendCode::no_memory, 50), [](Ob1Rank& self) { return stream(self, MPI_SUCCESS); }));
}

TEST(Ob1FailingRequestTest, FragmentsForWhichThereIsNoMemory) {
    EXPECT_TRUE(run_job(without_fragments(btl::SendCode::no_memory, always),
        [](Ob1Rank& self) { return stream(self, MPI_ERR_NO_MEM); }));
}

INSTANTIATE_TEST_SUITE_P(Jobs, Ob1RequestTest, testing::ValuesIn(test::matrix()), test::name_of);

} // namespace
} // namespace patchbay
