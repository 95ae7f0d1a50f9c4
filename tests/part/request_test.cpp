// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests over a pml that the test controls: when messages are sent, what happens to requests without a
// handle, and threads that make partitions ready while the two sides agree on the messages.
#include "core/core.h"
#include "core/progress/waiter.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_recv.h"
#include "frameworks/pml/partitioned_send.h"
#include "frameworks/pml/partitioned_tags.h"
#include "mpi/instance/mpi_params.h"
#include "tests/part/loopback_pml.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <thread>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::pml {

namespace {

constexpr int partitions = 8;
constexpr std::size_t partition_bytes = 64 << 10; // two make a message

class RequestTest : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        auto made = Core::create({}, ParamSources(), {});
        ASSERT_TRUE(made) << made.error().text;
        core = std::move(*made);
        ASSERT_TRUE(core->params.define("mpi", "", mpi_params));
        core->progress = &progress;
        engine = std::make_unique<PartitionedEngine>(*core);
        comm.pml = &pml;
        comm.size = comm.remote_size = 1;
        std::iota(out.begin(), out.end(), 0);
    }

    PartitionedSend& make_send() { return *static_cast<PartitionedSend*>(make(out.data(), partitions, true)); }
    PartitionedRecv& make_receive(int count) { return *static_cast<PartitionedRecv*>(make(in.data(), count, false)); }
    Request* make(void* data, int count, bool sends) {
        Request* request = nullptr;
        const MPI_Count bytes = MPI_Count(out.size()) / count;
        EXPECT_EQ(
            make_partitioned(*engine, {data, count, bytes, to_object<Datatype>(MPI_BYTE), 0, 3, sends}, comm, &request),
            MPI_SUCCESS);
        return request;
    }
    void poll() {
        for (int i = 0; i < 20; ++i) {
            progress.poll();
        }
    }
    static void make_all_ready(PartitionedSend& send) {
        for (int i = 0; i < partitions; ++i) {
            EXPECT_TRUE(send.make_ready(i));
        }
    }
    static void end(Request& request) {
        EXPECT_TRUE(request.is_complete());
        EXPECT_EQ(request.error, MPI_SUCCESS);
        request.end_start();
    }
    void expect_nothing_left() {
        poll();
        EXPECT_EQ(pml.existing(), 0);
        EXPECT_EQ(comm.references(), 1);
        EXPECT_EQ(comm.persistent_requests, nullptr);
        EXPECT_EQ(engine->take_tags(partitioned_tags), 0);
    }

    Progress progress{GetParam()};
    test::LoopbackPml pml{progress};
    Communicator comm;
    std::unique_ptr<Core> core;
    std::unique_ptr<PartitionedEngine> engine;
    std::vector<unsigned char> out = std::vector<unsigned char>(partitions * partition_bytes);
    std::vector<unsigned char> in = std::vector<unsigned char>(partitions * partition_bytes);
};

} // namespace

TEST_P(RequestTest, AMessageIsSentWhenItsLastPartitionIsReady) {
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(16);
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(send.start(), MPI_SUCCESS);
        ASSERT_EQ(receive.start(), MPI_SUCCESS);
        poll();
        int sent = pml.sent();
        EXPECT_EQ(sent, 2 + 4 * round); // setup and reply are sent once
        EXPECT_EQ(send.messages(), 4);
        EXPECT_TRUE(send.make_ready(5));
        EXPECT_FALSE(send.make_ready(5));
        EXPECT_TRUE(send.make_ready(2));
        poll();
        EXPECT_EQ(pml.sent(), sent);
        EXPECT_TRUE(send.make_ready(4));
        poll();
        EXPECT_EQ(pml.sent(), sent + 1);
        for (int i = 0; i < 16; ++i) {
            EXPECT_EQ(receive.has_arrived(i), i >= 8 && i < 12);
        }
        EXPECT_FALSE(send.refuses_free().empty());
        for (const int partition : {0, 1, 3, 6, 7}) {
            EXPECT_FALSE(send.is_complete());
            EXPECT_TRUE(send.make_ready(partition));
        }
        EXPECT_TRUE(send.refuses_free().empty());
        poll();
        end(send);
        end(receive);
        EXPECT_EQ(in, out);
        std::fill(in.begin(), in.end(), 0);
    }
    send.recycle();
    receive.recycle();
    expect_nothing_left();
}

TEST_P(RequestTest, PartitionsAreReadyBeforeTheReplyArrives) {
    PartitionedSend& send = make_send();
    ASSERT_EQ(send.start(), MPI_SUCCESS);
    make_all_ready(send);
    poll();
    EXPECT_EQ(pml.sent(), 1);
    PartitionedRecv& receive = make_receive(1);
    poll();
    EXPECT_EQ(pml.sent(), 1); // no reply before the start
    ASSERT_EQ(receive.start(), MPI_SUCCESS);
    poll();
    end(send);
    end(receive);
    EXPECT_EQ(in, out);
    send.recycle();
    receive.recycle();
    expect_nothing_left();
}

TEST_P(RequestTest, ActiveRequestsAreFreed) {
    PartitionedRecv& receive = make_receive(1);
    PartitionedSend& send = make_send();
    ASSERT_EQ(send.start(), MPI_SUCCESS);
    make_all_ready(send);
    send.recycle();
    poll();
    EXPECT_EQ(pml.sent(), 1);
    ASSERT_EQ(receive.start(), MPI_SUCCESS);
    receive.recycle();
    engine->wait_for_freed(nullptr);
    expect_nothing_left();
    EXPECT_EQ(in, out);
}

// The setup message matches the request that was made first, although it has no handle any more.
TEST_P(RequestTest, AFreedReceiveKeepsItsPlace) {
    make_receive(1).recycle();
    poll();
    EXPECT_EQ(pml.existing(), 1);
    EXPECT_EQ(Request::idle_references(comm), 1);
    PartitionedRecv& receive = make_receive(1);
    make_send().recycle();
    poll();
    PartitionedSend& send = make_send();
    ASSERT_EQ(send.start(), MPI_SUCCESS);
    ASSERT_EQ(receive.start(), MPI_SUCCESS);
    make_all_ready(send);
    poll();
    end(send);
    end(receive);
    send.recycle();
    receive.recycle();
    expect_nothing_left();
}

TEST_P(RequestTest, UnmatchedReceivesAreCancelled) {
    make_receive(1).recycle();
    make_receive(2).recycle();
    poll();
    EXPECT_EQ(pml.existing(), 2);
    engine->wait_for_freed(nullptr); // no process needs them
    engine->cancel_unmatched();
    expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Threaded, RequestTest, testing::Bool());

class RequestThreadsTest : public RequestTest {};

// New requests each time: the first start is the one in which the threads run beside the reply.
TEST_P(RequestThreadsTest, PartitionsBecomeReadyOnAnyThread) {
    constexpr int threads = 4, times = 100;
    for (int i = 0; i < times; ++i) {
        PartitionedSend& send = make_send();
        PartitionedRecv& receive = make_receive(16);
        for (int round = 0; round < 2; ++round) {
            std::vector<int> order(partitions);
            std::iota(order.begin(), order.end(), 0);
            std::shuffle(order.begin(), order.end(), std::mt19937(unsigned(i)));
            ASSERT_EQ(send.start(), MPI_SUCCESS);
            std::vector<std::thread> running;
            for (int t = 0; t < threads; ++t) {
                running.emplace_back([&, t] {
                    for (std::size_t k = std::size_t(t); k < order.size(); k += threads) {
                        const std::size_t first = std::size_t(order[k]) * partition_bytes;
                        std::fill_n(out.begin() + std::ptrdiff_t(first), partition_bytes, (unsigned char)(i + round));
                        EXPECT_TRUE(send.make_ready(order[k]));
                    }
                });
            }
            running.emplace_back([&] {
                for (int partition = 0; partition < 16; ++partition) {
                    wait_until(progress, [&] { return receive.is_active() && receive.has_arrived(partition); });
                    const std::size_t first = std::size_t(partition) * (in.size() / 16);
                    EXPECT_EQ(in[first], (unsigned char)(i + round));
                }
            });
            ASSERT_EQ(receive.start(), MPI_SUCCESS);
            wait_until(progress, [&] { return send.is_complete() && receive.is_complete(); });
            for (std::thread& thread : running) {
                thread.join();
            }
            end(send);
            end(receive);
        }
        send.recycle();
        receive.recycle();
    }
    expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Threaded, RequestThreadsTest, testing::Values(true));

} // namespace patchbay::pml
