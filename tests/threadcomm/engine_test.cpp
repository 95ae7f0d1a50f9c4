// SPDX-License-Identifier: BSD-3-Clause
// Threads as senders and receivers (mpi/threads/engine.h) without a communicator of MPI: lanes and the inbox under many
// messages, order, cancelling, and messages that are never received.
#include "core/progress/waiter.h"
#include "mpi/threads/engine.h"
#include "object/handle.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

using namespace patchbay;
using namespace patchbay::threads;

namespace {

const Datatype& ints() {
    return *to_object<Datatype>(MPI_INT);
}

const Datatype& bytes() {
    return *to_object<Datatype>(MPI_BYTE);
}

// One rank: a thread with what the library makes for it.
class Rank {
public:
    Rank(int rank, int size)
        : engine(progress, nullptr, rank, size),
          _poller(progress.add_poller(
              [](void* engine) noexcept { return static_cast<Engine*>(engine)->poll(); }, &engine)) {
        comm.rank = rank;
        comm.size = size;
        comm.progress = &progress;
    }
    void join(const std::shared_ptr<const Members>& members) {
        view = std::make_unique<View>(comm, engine, nullptr, 7, members);
        comm.view = view.get();
        ASSERT_TRUE(engine.add(*view));
    }
    // As a thread finishes.
    void leave() {
        engine.remove(*view);
        _poller.reset();
        engine.close();
    }

    int send(const void* data, int count, int dest, int tag, const Datatype& type = ints()) {
        return engine.send({*view, data, count, type, dest, tag, pml::SendMode::standard});
    }
    int recv(void* data, int count, int source, int tag, MPI_Status* status = nullptr, const Datatype& type = ints()) {
        RecvRequest request(*view, data, count, type, source, tag);
        request.set_active();
        engine.start(request);
        wait_until(progress, [&] { return engine.look_for(request); });
        if (status != nullptr) {
            *status = request.status;
        }
        return request.error;
    }

    Progress progress;
    Communicator comm;
    Engine engine;
    std::unique_ptr<View> view;

private:
    PollerHandle _poller;
};

// Runs `body` in a thread for each rank; none leaves before all have come to the end.
void run(int size, const std::function<void(Rank&)>& body) {
    std::vector<std::unique_ptr<Rank>> ranks;
    auto members = std::make_shared<Members>();
    for (int rank = 0; rank < size; ++rank) {
        ranks.push_back(std::make_unique<Rank>(rank, size));
        members->push_back({&ranks.back()->engine, 0, rank});
    }
    for (const auto& rank : ranks) {
        rank->join(members);
    }
    std::atomic<int> at_end{0};
    std::vector<std::thread> threads;
    for (const auto& rank : ranks) {
        threads.emplace_back([&, one = rank.get()] {
            body(*one);
            ++at_end;
            while (at_end != size) {
                one->progress.poll(); // others may wait for room, or for a request
                std::this_thread::yield();
            }
            one->leave();
        });
    }
    for (std::thread& one : threads) {
        one.join();
    }
}

// In place, in the memory of the lane, and from the sender's buffer, which is copied by the receiver or by both.
constexpr int counts[] = {1, 8, 9, 500, 513, 20000};
constexpr int most = 20000;

TEST(Communicator, TextsCountThreads) {
    run(2, [](Rank& me) { EXPECT_EQ(me.comm.count_members(), "2 threads"); });
    Communicator of_processes;
    of_processes.size = 3;
    EXPECT_EQ(of_processes.count_members(), "3 processes");
    EXPECT_EQ(of_processes.describe(), "communicator " + std::to_string(of_processes.index) + " of 3 processes");
}

// More than messages_before_lane, and more than a lane or an inbox has slots, in both directions at once.
TEST(Engine, MessagesArriveInOrderWhileTheLaneIsOpened) {
    constexpr int messages = 3000;
    run(2, [](Rank& here) {
        const int other = 1 - here.comm.rank;
        std::vector<int> out(most), in(most);
        for (int i = 0; i < messages; ++i) {
            const int count = counts[i % 6];
            out[0] = out[std::size_t(count) - 1] = i;
            MPI_Status status;
            if (here.comm.rank == 0) {
                ASSERT_EQ(here.send(out.data(), count, other, i), MPI_SUCCESS);
            }
            ASSERT_EQ(here.recv(in.data(), most, other, MPI_ANY_TAG, &status), MPI_SUCCESS);
            ASSERT_EQ(status.MPI_TAG, i);
            ASSERT_EQ(status_bytes(status), count * sizeof(int));
            ASSERT_EQ(in[0], i);
            ASSERT_EQ(in[std::size_t(count) - 1], i);
            if (here.comm.rank == 1) {
                ASSERT_EQ(here.send(out.data(), count, other, i), MPI_SUCCESS);
            }
        }
    });
}

// The receiver posts nothing until the sender has filled the lane.
TEST(Engine, AFullLaneHoldsTheSenderUp) {
    constexpr int messages = 2000;
    run(2, [](Rank& here) {
        for (int i = 0; i < messages; ++i) {
            int value = i;
            if (here.comm.rank == 0) {
                ASSERT_EQ(here.send(&value, 1, 1, 3), MPI_SUCCESS);
            } else {
                ASSERT_EQ(here.recv(&value, 1, 0, 3), MPI_SUCCESS);
                ASSERT_EQ(value, i);
            }
        }
    });
}

TEST(Engine, MoreSendersThanLanes) {
    constexpr int size = 2 + int(Inbox::most_lanes), messages = 120;
    run(size, [](Rank& here) {
        std::vector<int> data(most, here.comm.rank);
        if (here.comm.rank != 0) {
            for (int i = 0; i < messages; ++i) {
                ASSERT_EQ(here.send(data.data(), counts[i % 6], 0, i), MPI_SUCCESS);
            }
            return;
        }
        std::vector<int> received(std::size_t(size), 0);
        for (int i = 0; i < messages * (size - 1); ++i) {
            MPI_Status status;
            ASSERT_EQ(here.recv(data.data(), most, MPI_ANY_SOURCE, MPI_ANY_TAG, &status), MPI_SUCCESS);
            const auto source = std::size_t(status.MPI_SOURCE);
            ASSERT_EQ(status.MPI_TAG, received[source]++);
            ASSERT_EQ(data[0], status.MPI_SOURCE);
            ASSERT_EQ(data[std::size_t(counts[status.MPI_TAG % 6]) - 1], status.MPI_SOURCE);
        }
    });
}

// Payloads of every length that is in the memory of the lane, which goes round many times; the receiver takes them in
// another order now and then, so that some have to leave the lane before they are received.
TEST(Engine, PayloadsInTheMemoryOfTheLane) {
    constexpr int longest = int(Engine::eager_limit);
    constexpr int rows = 6;
    run(2, [](Rank& here) {
        std::vector<char> data(longest);
        const auto byte = [](int row, int length, int at) { return char(row * 7 + length * 3 + at); };
        const auto receive = [&](int row, int length) {
            ASSERT_EQ(here.recv(data.data(), longest, 0, length, nullptr, bytes()), MPI_SUCCESS);
            for (int at = 0; at < length; ++at) {
                ASSERT_EQ(data[std::size_t(at)], byte(row, length, at)) << length;
            }
        };
        for (int row = 0; row < rows; ++row) {
            for (int length = 0; length < longest; length += 2) {
                if (here.comm.rank == 0) {
                    for (const int one : {length, length + 1}) {
                        for (int at = 0; at < one; ++at) {
                            data[std::size_t(at)] = byte(row, one, at);
                        }
                        ASSERT_EQ(here.send(data.data(), one, 1, one, bytes()), MPI_SUCCESS);
                    }
                } else {
                    const int first = length % 5 == 0 ? 1 : 0;
                    receive(row, length + first);
                    receive(row, length + 1 - first);
                }
            }
        }
    });
}

// Payloads that share a cache line have it go back and forth: the receiver reads the end of one while the sender writes
// the beginning of the next.
TEST(Lane, PayloadsShareNoCacheLine) {
    Progress progress;
    Lane lane(progress.doorbell());
    std::uintptr_t line_behind = 0;
    for (const std::size_t bytes : {33UL, 512UL, 1000UL, 64UL, 2048UL}) {
        std::byte* payload = nullptr;
        ASSERT_NE(lane.claim(bytes, &payload).slot, nullptr);
        const auto begin = reinterpret_cast<std::uintptr_t>(payload);
        EXPECT_EQ(begin % cache_line_bytes, 0U);
        EXPECT_GE(begin / cache_line_bytes, line_behind);
        line_behind = (begin + bytes - 1) / cache_line_bytes + 1;
    }
}

// The receiver takes one of two synchronous messages while the sender cancels both: each is either received or
// cancelled, and the sender knows which.
TEST(Engine, ACancelledMessageIsReceivedOrNot) {
    std::atomic<int> cancelled{0}, received{0};
    constexpr int rounds = 500;
    run(2, [&](Rank& here) {
        for (int i = 0; i < rounds; ++i) {
            int value = i, end = -1;
            if (here.comm.rank == 0) {
                SendRequest request(*here.view, &value, 1, ints(), 1, 1, pml::SendMode::synchronous);
                request.set_active();
                here.engine.start(request);
                here.engine.cancel(request);
                wait_until(here.progress, [&] { return request.is_complete(); });
                cancelled += request.cancelled ? 1 : 0;
                ASSERT_EQ(here.send(&i, 1, 1, 2), MPI_SUCCESS);
            } else {
                RecvRequest request(*here.view, &value, 1, ints(), 0, 1);
                if (i % 2 == 0) {
                    request.set_active();
                    here.engine.start(request);
                }
                ASSERT_EQ(here.recv(&end, 1, 0, 2), MPI_SUCCESS);
                ASSERT_EQ(end, i);
                if (i % 2 == 0) {
                    received += request.is_complete() ? 1 : 0;
                    here.engine.cancel(request);
                }
            }
        }
    });
    EXPECT_EQ(cancelled + received, rounds);
    EXPECT_GE(cancelled, rounds / 2);
}

// Only most_lanes senders of a receiver have lanes: the others share its inbox, and sleep while it is full.
TEST(Inbox, ASenderThatWaitsForRoomIsRung) {
    const auto inbox = std::make_unique<Inbox>();
    for (std::uint64_t i = 0; i < Inbox::slot_count; ++i) {
        const Claim claim = inbox->claim();
        ASSERT_NE(claim.slot, nullptr);
        claim.publish();
    }
    Doorbell bell;
    RoomWait wait;
    wait.bell = &bell;
    for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(inbox->claim().slot, nullptr);
        inbox->await_room(wait);
        const std::uint32_t before = bell.prepare();
        ASSERT_EQ(inbox->claim().slot, nullptr);
        for (std::uint64_t i = 0; i < Inbox::slot_count; ++i) {
            ASSERT_NE(inbox->front(), nullptr);
            inbox->pop();
        }
        EXPECT_TRUE(bell.sleep(before, std::chrono::nanoseconds(0)));
        for (std::uint64_t i = 0; i < Inbox::slot_count; ++i) {
            const Claim claim = inbox->claim();
            ASSERT_NE(claim.slot, nullptr);
            claim.publish();
        }
    }
}

// Their payloads are in cells of the sender, which may have left before the receiver drops them.
TEST(Engine, WhatNobodyReceivesIsDropped) {
    for (int i = 0; i < 50; ++i) {
        run(3, [](Rank& here) {
            const std::vector<int> data(500, here.comm.rank);
            for (int k = 0; k < 30; ++k) {
                ASSERT_EQ(here.send(data.data(), k % 2 == 0 ? 1 : 500, (here.comm.rank + 1) % 3, k), MPI_SUCCESS);
            }
        });
    }
}

} // namespace
