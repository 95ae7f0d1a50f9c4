// SPDX-License-Identifier: BSD-3-Clause
#include "tests/pt2pt/ob1_matrix.h"

#include <algorithm>
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

// MPI_Finalize destroys the predefined communicators, to which requests have no references.
TEST_P(Ob1RequestTest, RequestsAreRetiredAfterAPredefinedCommunicator) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        const auto comm = self.make_comm(1);
        char there = 0;
        Request* request = nullptr;
        self.pml->irecv(&there, 1, byte(), MPI_ANY_SOURCE, 1, *comm, &request);
        request->recycle();
        request->cancel(); // it is complete then, and the next poll retires it
        self.pml->remove_comm(*comm);
        comm->set_predefined(0); // its memory may contain anything now
        const int references = comm->references();
        for (int i = 0; i < 3; ++i) {
            self.progress.poll();
        }
        return comm->references() == references;
    }));
}

// A persistent request returns what it binds; others do not.
TEST_P(Ob1RequestTest, PersistentRequestsTellWhatTheyBind) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        char data[3] = {};
        const int to = (self.rank + 1) % self.size;
        Request* sending = nullptr;
        Request* receiving = nullptr;
        self.pml->send_init(data, 3, byte(), to, 5, SendMode::synchronous, *self.world, &sending);
        self.pml->recv_init(data, 2, byte(), MPI_ANY_SOURCE, 6, *self.world, &receiving);
        pml::PersistentRequest send{}, recv{};
        bool fine = sending->bound(&send) && receiving->bound(&recv);
        fine = fine && send.buffer == data && send.count == 3 && send.type == &byte() && send.peer == to &&
            send.tag == 5 && send.mode == SendMode::synchronous;
        fine = fine && recv.buffer == data && recv.count == 2 && recv.type == &byte() && recv.peer == MPI_ANY_SOURCE &&
            recv.tag == 6 && !recv.mode;
        sending->recycle();
        receiving->recycle();
        self.pml->irecv(data, 3, byte(), MPI_ANY_SOURCE, 6, *self.world, &receiving);
        fine = fine && !receiving->bound(&recv);
        receiving->cancel();
        receiving->recycle();
        return fine;
    }));
}

// Starts of one persistent send: direct ones, ones for which the ring has no room, and one that is cancelled between
// them, each with a request of MPI_Isend in between.
TEST_P(Ob1RequestTest, PersistentAndImmediateSendsAlternate) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        constexpr int rounds = 3000;
        const int to = (self.rank + 1) % self.size;
        const int from = (self.rank + self.size - 1) % self.size;
        int value = 0;
        Request* start = nullptr;
        self.pml->send_init(&value, 4, byte(), to, 5, SendMode::standard, *self.world, &start);
        bool fine = true;
        std::vector<int> sent(rounds);
        std::vector<Request*> sends(rounds);
        for (int i = 0; i < rounds; ++i) { // no process receives, so that the ring gets full
            sent[std::size_t(i)] = i;
            self.pml->isend(
                &sent[std::size_t(i)], 4, byte(), to, 4, SendMode::standard, *self.world, &sends[std::size_t(i)]);
        }
        for (int i = 0; i < rounds; ++i) {
            int got = -1;
            self.pml->recv(&got, 4, byte(), from, 4, *self.world, nullptr);
            fine = fine && got == i;
        }
        for (Request* send : sends) {
            self.wait(send);
            send->recycle();
        }
        for (int i = 0; i < rounds; ++i) {
            value = i;
            start->start();
            int got = -1;
            if (i % 7 == 0 && start->is_complete()) { // it may arrive or not: the next one is not cancelled
                start->cancel();
                self.wait(start);
                if (status_cancelled(start->status)) {
                    start->end_start();
                    start->start();
                }
            }
            self.pml->recv(&got, 4, byte(), from, 5, *self.world, nullptr);
            fine = fine && got == i;
            self.wait(start);
            start->end_start();
        }
        start->recycle();
        return fine;
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

// Counts the fetches of a process.
class CountingBtl final : public test::WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    std::ptrdiff_t get(btl::Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override {
        ++fetches;
        return WrappedBtl::get(from, remote, local);
    }
    static int fetches;
};
int CountingBtl::fetches;

// Several large messages are fetched at the same time: each poll fetches one chunk of each, and another one of those
// that have arrived in this poll.
TEST(Ob1FetchTest, APollFetchesOneChunkOfEachMessage) {
    constexpr int messages = 3;
    constexpr std::size_t size = 1 << 20;
    JobOptions options;
    options.ob1.fetch_chunk = size / 16;
    options.wrap = [](std::unique_ptr<btl::Module> real) { return std::make_unique<CountingBtl>(std::move(real)); };
    EXPECT_TRUE(run_job(options, [](Ob1Rank& self) {
        const auto sent = pattern(size, 5);
        std::vector<std::vector<unsigned char>> got(messages, std::vector<unsigned char>(size));
        std::vector<Request*> requests(messages);
        for (int i = 0; i < messages; ++i) {
            if (self.rank == 0) {
                self.pml->isend(
                    sent.data(), MPI_Count(size), byte(), 1, i, SendMode::standard, *self.world, &requests[i]);
            } else {
                self.pml->irecv(got[i].data(), MPI_Count(size), byte(), 0, i, *self.world, &requests[i]);
            }
        }
        int most = 0;
        for (Request* request : requests) {
            while (!request->is_complete()) {
                const int before = CountingBtl::fetches;
                self.progress.poll();
                most = std::max(most, CountingBtl::fetches - before);
            }
            request->recycle();
        }
        self.barrier();
        const bool all = self.rank == 0 || (CountingBtl::fetches >= 16 * messages && got[0] == sent && got[2] == sent);
        return all && most <= 2 * messages;
    }));
}

// A btl that cannot take the fragments of a message: for a number of attempts after the first two fragments.
class NoFragmentsBtl final : public test::WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    Reservation reserve(btl::Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override {
        return refuses(payload_size) ? Reservation{code, {}} : WrappedBtl::reserve(to, header_size, payload_size);
    }
    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        return refuses(payload_size) ? code : WrappedBtl::send(to, header, header_size, payload, payload_size);
    }

    static btl::SendCode code;
    static int attempts;

private:
    bool refuses(std::size_t payload_size) noexcept {
        return payload_size > 1000 && ++_fragments > 2 && _fragments - 2 <= attempts;
    }
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
