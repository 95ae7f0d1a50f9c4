// SPDX-License-Identifier: BSD-3-Clause
#include "tests/pt2pt/ob1_matrix.h"

#include <algorithm>

// The exCID handshake: which packets two processes send until each knows the index of a communicator at the other.
namespace patchbay {
namespace {

using pml::SendMode;
using pml::ob1::PacketType;
using test::byte;
using test::JobOptions;
using test::Ob1Rank;
using test::pattern;
using test::run_job;

// Counts the packets that are sent, and returns `full` when a test asks for it.
class SpyBtl final : public test::WrappedBtl {
public:
    using WrappedBtl::WrappedBtl;
    btl::SendCode send(btl::Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        if (refusals > 0) {
            --refusals;
            return btl::SendCode::full;
        }
        count(header, header_size);
        return WrappedBtl::send(to, header, header_size, payload, payload_size);
    }
    btl::SendCode commit(
        btl::Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override {
        count(header, header_size);
        return WrappedBtl::commit(to, header, header_size, payload_size);
    }

    int refusals = 0;
    int acks = 0;     // CID acknowledgements
    int extended = 0; // messages with an extended header
    int flagged = 0;  // messages with the flag same_index
    int plain = 0;    // other messages
    bool well_sized = true;

private:
    void count(const void* header, std::size_t header_size) noexcept {
        const auto& match = *static_cast<const pml::ob1::MatchHeader*>(header);
        if (match.type == PacketType::cid_ack) {
            ++acks;
        }
        if (match.type != PacketType::match && match.type != PacketType::match_sync && match.type != PacketType::rts) {
            return;
        }
        const std::size_t short_size = pml::ob1::match_header_size(match.type);
        const bool has_excid = match.flags == pml::ob1::extended;
        well_sized = well_sized && header_size == short_size + (has_excid ? sizeof(cid::ExtendedId) : 0);
        ++(has_excid ? extended : match.flags == pml::ob1::same_index ? flagged : plain);
    }
};

SpyBtl* spy; // of this process

JobOptions spied(bool threaded) {
    JobOptions options;
    options.threaded = threaded;
    options.sleeps = false; // after a sleep a wait polls once more, and that poll sends the acknowledgement
    options.wrap = [](std::unique_ptr<btl::Module> real) {
        auto wrapped = std::make_unique<SpyBtl>(std::move(real));
        spy = wrapped.get();
        return wrapped;
    };
    return options;
}

// Some communicators with an exCID.
class Communicators {
public:
    Communicators(Ob1Rank& self, int count, int shift)
        : _self(self) {
        for (int i = 0; i < count; ++i) {
            _ids.push_back({99, std::uint64_t(i)});
            _comms.push_back(self.make_comm(std::uint16_t(10 + i + shift), &_ids.back()));
        }
        // First messages may arrive, and be acknowledged, before this process leaves the barrier.
        spy->acks = spy->extended = spy->flagged = 0;
        spy->plain = -1; // the message of the barrier
        self.barrier();
    }
    ~Communicators() {
        _self.barrier();
        _self.pml->drain();
        for (std::size_t i = 0; i < _comms.size(); ++i) {
            remove(int(i));
        }
    }
    void remove(int i) {
        if (_comms[std::size_t(i)] != nullptr) {
            _self.directory.unbind(_ids[std::size_t(i)]);
            _self.pml->remove_comm(*_comms[std::size_t(i)]);
            _comms[std::size_t(i)].reset();
        }
    }
    Communicator& operator[](int i) { return *_comms[std::size_t(i)]; }

private:
    Ob1Rank& _self;
    std::vector<cid::ExtendedId> _ids;
    std::vector<std::unique_ptr<Communicator>> _comms;
};

void send(Ob1Rank& self, Communicator& comm, int value, SendMode mode = SendMode::standard) {
    self.pml->send(&value, sizeof value, byte(), 1 - self.rank, 1, mode, comm);
}

Request* isend(Ob1Rank& self, Communicator& comm, const int& value) {
    Request* request = nullptr;
    self.pml->isend(&value, sizeof value, byte(), 1 - self.rank, 1, SendMode::standard, comm, &request);
    return request;
}

bool receives(Ob1Rank& self, Communicator& comm, int value) {
    int got = -1;
    self.pml->recv(&got, sizeof got, byte(), 1 - self.rank, 1, comm, nullptr);
    return got == value;
}

bool sent(int extended, int flagged, int plain, int acks) {
    const bool fine = spy->extended == extended && spy->flagged == flagged && spy->plain == plain &&
        spy->acks == acks && spy->well_sized;
    if (!fine) {
        std::fprintf(stderr, "%d extended, %d flagged, %d plain, %d acknowledgements; expected %d, %d, %d, %d\n",
            spy->extended, spy->flagged, spy->plain, spy->acks, extended, flagged, plain, acks);
    }
    return fine;
}

bool exchange(Ob1Rank& self, Communicator& comm, int value) {
    if (self.rank == 0) {
        send(self, comm, value);
        return receives(self, comm, value + 1);
    }
    const bool good = receives(self, comm, value);
    send(self, comm, value + 1);
    return good;
}

class Ob1HandshakeTest : public testing::TestWithParam<bool> {
protected:
    static bool run(const std::function<bool(Ob1Rank&)>& body) { return run_job(spied(GetParam()), body); }
};

TEST_P(Ob1HandshakeTest, TheReplyAcknowledges) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 20, 0);
        bool fine = true;
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 20; ++i) {
                fine = exchange(self, comms[i], 100 * round + i) && fine;
            }
        }
        return (self.rank == 0 ? sent(20, 0, 40, 0) : sent(0, 20, 40, 0)) &&
            self.counters.acknowledgements.value() == (self.rank == 0 ? 20u : 0u) && fine;
    }));
}

TEST_P(Ob1HandshakeTest, ADifferentIndexIsAcknowledgedByAPacket) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 20, 50 * self.rank);
        bool fine = true;
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 20; ++i) {
                fine = exchange(self, comms[i], 100 * round + i) && fine;
            }
        }
        return (self.rank == 0 ? sent(20, 0, 40, 0) : sent(0, 0, 60, 20)) && fine;
    }));
}

// Indices that belong to another communicator at the other process.
TEST_P(Ob1HandshakeTest, AnIndexOfAnotherCommunicatorAtThePeer) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 20, self.rank);
        bool fine = true;
        for (int i = 0; i < 20; ++i) {
            fine = exchange(self, comms[i], i) && exchange(self, comms[i], i) && fine;
        }
        return (self.rank == 0 ? sent(20, 0, 20, 0) : sent(0, 0, 40, 20)) && fine;
    }));
}

TEST_P(Ob1HandshakeTest, TheSecondExtendedHeaderIsAcknowledgedByAPacket) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 1, 0);
        bool fine = true;
        for (int i = 0; i < 3; ++i) {
            fine = (self.rank == 0 ? (send(self, comms[0], i), true) : receives(self, comms[0], i)) && fine;
        }
        // The acknowledgement was sent before this message, and arrives before it.
        fine = exchange(self, *self.world, 7) && fine;
        fine = exchange(self, comms[0], 8) && fine;
        return (self.rank == 0 ? sent(3, 0, 2, 0) : sent(0, 0, 2, 1)) && fine;
    }));
}

TEST_P(Ob1HandshakeTest, OnlyTheLastAcknowledgementIsPending) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 2, 0);
        bool fine = true;
        if (self.rank == 0) {
            send(self, comms[0], 1);
            send(self, comms[1], 2);
            fine = receives(self, comms[1], 3) && receives(self, comms[0], 4);
        } else {
            fine = receives(self, comms[0], 1) && receives(self, comms[1], 2);
            send(self, comms[1], 3);
            send(self, comms[0], 4);
        }
        for (int i = 0; i < 2; ++i) {
            fine = exchange(self, comms[i], 5) && fine;
        }
        return (self.rank == 0 ? sent(2, 0, 2, 0) : sent(0, 1, 3, 1)) && fine;
    }));
}

TEST_P(Ob1HandshakeTest, RepliesOfEveryKind) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        constexpr std::size_t longest = 300000;
        Communicators comms(self, 5, 0);
        const auto text = pattern(longest, 5);
        bool fine = true;
        for (int i = 0; i < 5; ++i) {
            const std::size_t size = i < 2 ? 40 : i == 2 ? 2000 : longest;
            const SendMode mode = i == 1 || i == 4 ? SendMode::synchronous : SendMode::standard;
            if (self.rank == 0) {
                std::vector<unsigned char> got(size);
                send(self, comms[i], i);
                self.pml->recv(got.data(), MPI_Count(size), byte(), 1, 1, comms[i], nullptr);
                fine = fine && std::equal(got.begin(), got.end(), text.begin());
            } else {
                fine = receives(self, comms[i], i) && fine;
                Request* request = nullptr;
                self.pml->isend(text.data(), MPI_Count(size), byte(), 0, 1, mode, comms[i], &request);
                self.wait(request);
                request->recycle();
            }
            fine = exchange(self, comms[i], i) && fine;
        }
        return (self.rank == 0 ? sent(5, 0, 5, 0) : sent(0, 5, 5, 0)) && fine;
    }));
}

TEST_P(Ob1HandshakeTest, AnUnexpectedReplyAcknowledges) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 2, 0);
        bool fine = true;
        if (self.rank == 0) {
            send(self, comms[0], 1);
            fine = receives(self, *self.world, 3); // the reply has arrived before
            send(self, comms[0], 4);
            fine = receives(self, comms[0], 2) && fine;
            fine = receives(self, *self.world, 5) && fine;
        } else {
            fine = receives(self, comms[0], 1);
            send(self, comms[0], 2);
            send(self, *self.world, 3);
            fine = receives(self, comms[0], 4) && fine;
            send(self, *self.world, 5);
        }
        return (self.rank == 0 ? sent(1, 0, 1, 0) : sent(0, 1, 2, 0)) && fine;
    }));
}

// The message that acknowledges is cancelled; the acknowledgement remains valid.
TEST_P(Ob1HandshakeTest, ACancelledReplyAcknowledges) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 1, 0);
        bool fine = true;
        if (self.rank == 0) {
            send(self, comms[0], 1);
            fine = receives(self, *self.world, 3);
            fine = receives(self, *self.world, 4) && fine;
        } else {
            const int value = 2;
            fine = receives(self, comms[0], 1);
            Request* reply = isend(self, comms[0], value);
            send(self, *self.world, 3);
            reply->cancel();
            self.wait(reply);
            fine = fine && status_cancelled(reply->status);
            reply->recycle();
            send(self, *self.world, 4);
        }
        fine = exchange(self, comms[0], 5) && fine;
        return (self.rank == 0 ? sent(1, 0, 1, 0) : sent(0, 1, 3, 0)) && fine;
    }));
}

// The ring of the btl is full when the reply is sent.
TEST_P(Ob1HandshakeTest, AQueuedReply) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 2, 0);
        bool fine = true;
        for (int i = 0; i < 2; ++i) {
            const bool cancels = i == 1;
            if (self.rank == 0) {
                send(self, comms[i], 1);
                fine = (cancels || receives(self, comms[i], 2)) && receives(self, comms[i], 3) && fine;
            } else {
                const int value = 2;
                fine = receives(self, comms[i], 1) && fine;
                spy->refusals = 3;
                Request* reply = isend(self, comms[i], value);
                fine = fine && !reply->is_complete();
                if (cancels) {
                    reply->cancel();
                }
                self.wait(reply);
                fine = fine && status_cancelled(reply->status) == cancels;
                reply->recycle();
                send(self, comms[i], 3);
            }
            fine = exchange(self, *self.world, 4) && fine; // the acknowledgement arrives before this message
            fine = exchange(self, comms[i], 5) && fine;
        }
        // The poll in which the ring has free slots again has sent the acknowledgement before.
        return (self.rank == 0 ? sent(2, 0, 4, 0) : sent(0, 0, 7, 2)) && fine;
    }));
}

TEST_P(Ob1HandshakeTest, DrainAcknowledges) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 1, 0);
        bool fine = true;
        if (self.rank == 0) {
            send(self, comms[0], 1);
        } else {
            fine = receives(self, comms[0], 1) && sent(0, 0, 0, 0);
            self.pml->drain();
            fine = sent(0, 0, 0, 1) && fine;
        }
        return fine;
    }));
}

TEST_P(Ob1HandshakeTest, AFreedCommunicatorIsNotAcknowledged) {
    EXPECT_TRUE(run([](Ob1Rank& self) {
        Communicators comms(self, 1, 0);
        if (self.rank == 0) {
            send(self, comms[0], 1);
        }
        const bool fine = self.rank == 0 || receives(self, comms[0], 1);
        comms.remove(0);
        self.barrier();
        return sent(self.rank == 0 ? 1 : 0, 0, 1, 0) && fine;
    }));
}

INSTANTIATE_TEST_SUITE_P(Threads, Ob1HandshakeTest, testing::Bool());

} // namespace
} // namespace patchbay
