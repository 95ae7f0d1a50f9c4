// SPDX-License-Identifier: BSD-3-Clause
#include "tests/pt2pt/ob1_matrix.h"

#include <algorithm>
#include <atomic>

namespace patchbay {
namespace {

using pml::SendMode;
using test::byte;
using test::JobOptions;
using test::Ob1Rank;
using test::pattern;
using test::run_job;

class Ob1Test : public testing::TestWithParam<JobOptions> {};

// Every size around the limits of slot, eager message, packet and fetch chunk.
TEST_P(Ob1Test, SizesAroundEveryLimit) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        for (std::size_t size : {0ul, 1ul, 2ul, 3ul, 7ul, 8ul, 39ul, 40ul, 41ul, 63ul, 64ul, 4095ul, 4096ul, 4097ul,
                 16384ul, 32768ul, 65535ul, 65537ul, 1ul << 20, (4ul << 20) + 1, (9ul << 20) + 5}) {
            const auto sent = pattern(size, unsigned(size));
            const int to = (self.rank + 1) % self.size;
            const int from = (self.rank + self.size - 1) % self.size;
            std::vector<unsigned char> got(size + 1, 0xee);
            Request* receiving = nullptr;
            self.pml->irecv(got.data(), MPI_Count(size + 1), byte(), from, 5, *self.world, &receiving);
            if (self.pml->send(sent.data(), MPI_Count(size), byte(), to, 5, SendMode::standard, *self.world) !=
                MPI_SUCCESS) {
                return false;
            }
            self.wait(receiving);
            const bool fine = status_bytes(receiving->status) == size && receiving->status.MPI_SOURCE == from &&
                std::equal(sent.begin(), sent.end(), got.begin()) && got[size] == 0xee;
            receiving->recycle();
            if (!fine) {
                std::fprintf(stderr, "rank %d: size %zu\n", self.rank, size);
                return false;
            }
        }
        return true;
    }));
}

TEST_P(Ob1Test, TruncationOfEagerAndLargeMessages) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        bool fine = true;
        for (std::size_t size : {100ul, 3000ul, 200000ul}) {
            const auto sent = pattern(size, 3);
            std::vector<unsigned char> got(size, 0xee);
            const int to = (self.rank + 1) % self.size;
            Request* receiving = nullptr;
            self.pml->irecv(
                got.data(), MPI_Count(size / 2), byte(), MPI_ANY_SOURCE, MPI_ANY_TAG, *self.world, &receiving);
            fine = self.pml->send(sent.data(), MPI_Count(size), byte(), to, 9, SendMode::standard, *self.world) ==
                    MPI_SUCCESS &&
                fine;
            self.wait(receiving);
            fine = fine && receiving->error == MPI_ERR_TRUNCATE && status_bytes(receiving->status) == size / 2 &&
                std::equal(got.begin(), got.begin() + std::ptrdiff_t(size / 2), sent.begin()) && got[size / 2] == 0xee;
            receiving->recycle();
            self.barrier();
        }
        return fine;
    }));
}

// Wildcard receives and one for a source: of those that fit, the earliest posted one matches.
TEST_P(Ob1Test, WildcardsMatchInOrderOfPosting) {
    if (GetParam().ranks == 1) {
        return; // receiver and sender are different ranks here
    }
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        if (self.rank == 0) {
            int values[4] = {-1, -1, -1, -1};
            Request* requests[4];
            const Datatype& integer = *to_object<Datatype>(MPI_INT);
            const int last = self.size - 1;
            self.pml->irecv(&values[0], 1, integer, MPI_ANY_SOURCE, 1, *self.world, &requests[0]);
            self.pml->irecv(&values[1], 1, integer, last, MPI_ANY_TAG, *self.world, &requests[1]);
            self.pml->irecv(&values[2], 1, integer, last, 2, *self.world, &requests[2]);
            self.pml->irecv(&values[3], 1, integer, MPI_ANY_SOURCE, MPI_ANY_TAG, *self.world, &requests[3]);
            self.barrier();
            for (Request* request : requests) {
                self.wait(request);
                request->recycle();
            }
            self.barrier();
            // Tags 2, 1, 2, 1 arrive with values 10, 11, 12, 13 and match in the order of posting.
            return values[1] == 10 && values[0] == 11 && values[2] == 12 && values[3] == 13;
        }
        self.barrier();
        if (self.rank == self.size - 1) {
            const Datatype& integer = *to_object<Datatype>(MPI_INT);
            for (int i = 0; i < 4; ++i) {
                const int value = 10 + i;
                self.pml->send(&value, 1, integer, 0, i % 2 == 0 ? 2 : 1, SendMode::standard, *self.world);
            }
        }
        self.barrier();
        return true;
    }));
}

TEST_P(Ob1Test, WildcardsDoNotMatchLibraryTags) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        const int to = (self.rank + 1) % self.size;
        const int from = (self.rank + self.size - 1) % self.size;
        char mine = 'a', user = 0, library = 0;
        self.pml->send(&mine, 1, byte(), to, -77, SendMode::standard, *self.world);
        mine = 'b';
        self.pml->send(&mine, 1, byte(), to, 3, SendMode::standard, *self.world);
        self.pml->recv(&user, 1, byte(), MPI_ANY_SOURCE, MPI_ANY_TAG, *self.world, nullptr);
        self.pml->recv(&library, 1, byte(), from, -77, *self.world, nullptr);
        return user == 'b' && library == 'a';
    }));
}

// A message arrives before its communicator is constructed.
TEST_P(Ob1Test, EarlyMessagesWaitForTheirCommunicator) {
    EXPECT_TRUE(run_job(GetParam(), [](Ob1Rank& self) {
        const int to = (self.rank + 1) % self.size;
        std::unique_ptr<Communicator> late;
        if (self.rank % 2 == 0) {
            late = self.make_comm(40);
            self.pml->send("first", 6, byte(), to, 1, SendMode::standard, *late);
            self.pml->send("second", 7, byte(), to, 1, SendMode::standard, *late);
        }
        self.barrier();
        for (int i = 0; i < 1000; ++i) {
            self.progress.poll();
        }
        if (late == nullptr) {
            late = self.make_comm(40);
        }
        bool fine = true;
        const int from = (self.rank + self.size - 1) % self.size;
        if (from % 2 == 0) {
            char text[8] = {};
            self.pml->recv(text, 8, byte(), from, 1, *late, nullptr);
            fine = std::strcmp(text, "first") == 0;
            self.pml->recv(text, 8, byte(), from, 1, *late, nullptr);
            fine = fine && std::strcmp(text, "second") == 0;
        }
        self.barrier();
        self.pml->remove_comm(*late);
        return fine;
    }));
}

// Messages that no receive waits for, many times over the limit, from all others (from the process itself where there
// are none): order is kept and nothing is lost. How much memory they take: unexpected.c.
TEST_P(Ob1Test, FloodIsHeldBack) {
    JobOptions options = GetParam();
    options.ob1.unexpected_limit = 64 * 1024;
    EXPECT_TRUE(run_job(options, [](Ob1Rank& self) {
        constexpr int messages = 20000;
        const bool alone = self.size == 1;
        std::vector<Request*> requests(messages);
        std::vector<int> values(messages);
        const auto finish = [&] {
            for (Request* request : requests) {
                self.wait(request);
                request->recycle();
            }
        };
        if (self.rank != 0 || alone) {
            for (int i = 0; i < messages; ++i) {
                values[std::size_t(i)] = i * 7 + self.rank;
                self.pml->isend(&values[std::size_t(i)], 4, byte(), 0, 1, SendMode::standard, *self.world,
                    &requests[std::size_t(i)]);
            }
        }
        if (self.rank != 0) {
            finish();
            return true;
        }
        for (int i = 0; i < 20000; ++i) {
            self.progress.poll();
        }
        std::vector<int> next(std::size_t(self.size), 0);
        for (int i = 0; i < messages * (alone ? 1 : self.size - 1); ++i) {
            int value = -1;
            MPI_Status status{};
            self.pml->recv(&value, 4, byte(), MPI_ANY_SOURCE, 1, *self.world, &status);
            int& expected = next[std::size_t(status.MPI_SOURCE)];
            if (value != expected * 7 + status.MPI_SOURCE) {
                std::fprintf(stderr, "message %d of rank %d: %d\n", expected, status.MPI_SOURCE, value);
                return false;
            }
            ++expected;
        }
        if (alone) {
            finish();
        }
        return true;
    }));
}

// Each process destroys its pml and constructs a new one, which continues at the saved positions of the rings.
TEST(Ob1Reinit, RingsContinueAtTheirPositions) {
    const int fd = memfd_create("ob1_reinit", MFD_CLOEXEC);
    auto* arrived = test::shared_memory<std::atomic<int>>();
    JobOptions options;
    options.ranks = 2;
    options.sm.shape = {8, 4096};
    options.sm.eager_limit = 1024;
    const bool good = test::run_processes(options.ranks, 60, [&](int rank) {
        for (int generation = 1; generation <= 50; ++generation) {
            bool fine = true;
            {
                Ob1Rank self(fd, rank, options);
                ++*arrived;
                wait_until(self.progress, [&] { return *arrived >= 4 * generation - 2; }); // both have this generation
                for (std::size_t size : {8ul, 700ul, 1000ul, 5000ul}) {
                    const auto sent = pattern(size, unsigned(generation));
                    std::vector<unsigned char> got(size);
                    Request* sending = nullptr;
                    self.pml->isend(
                        sent.data(), MPI_Count(size), byte(), 1 - rank, 1, SendMode::standard, *self.world, &sending);
                    self.pml->recv(got.data(), MPI_Count(size), byte(), 1 - rank, 1, *self.world, nullptr);
                    self.wait(sending);
                    sending->recycle();
                    fine = fine && got == sent;
                }
                // This message is never received. The next generation must not match it.
                self.pml->send("stale", 6, byte(), 1 - rank, 1, SendMode::standard, *self.world);
                self.barrier();
            }
            ++*arrived;
            while (*arrived < 4 * generation) {
                usleep(100);
            }
            if (!fine) {
                return false;
            }
        }
        return true;
    });
    close(fd);
    EXPECT_TRUE(good);
}

INSTANTIATE_TEST_SUITE_P(Jobs, Ob1Test, testing::ValuesIn(test::matrix()), test::name_of);

} // namespace
} // namespace patchbay
