// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests whose messages are carried by channels: how the two sides agree, what happens where memory is
// short or a message has no channel, who looks at the channels, and threads.
#include "core/progress/waiter.h"
#include "tests/part/loopback_binder.h"
#include "tests/part/request_fixture.h"

#include <algorithm>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::pml {

constexpr int messages = partitions / 2;

class ChannelsTest : public RequestFixture {
protected:
    void SetUp() override {
        RequestFixture::SetUp();
        engine->set_binder(&binder);
    }
    // One round of both, with other data each time.
    void exchange(PartitionedSend& send, PartitionedRecv& receive) {
        std::fill(in.begin(), in.end(), 0);
        std::for_each(out.begin(), out.end(), [](unsigned char& one) { ++one; });
        ASSERT_EQ(send.start(), MPI_SUCCESS);
        ASSERT_EQ(receive.start(), MPI_SUCCESS);
        make_all_ready(send);
        await(send);
        await(receive);
        end(send);
        end(receive);
        EXPECT_EQ(in, out);
    }
    void await(Request& request) {
        wait_until(progress, [&request] { return request.has_completed(); });
    }
    // Starts a request again whose start has failed for want of memory.
    bool has_ended_well(Request& request, int* failed) {
        if (!request.has_completed()) {
            return false;
        }
        const bool well = request.error == MPI_SUCCESS;
        request.end_start();
        if (!well) {
            EXPECT_EQ(request.error, MPI_ERR_NO_MEM);
            ++*failed;
            EXPECT_EQ(request.start(), MPI_SUCCESS);
            if (auto* send = dynamic_cast<PartitionedSend*>(&request)) {
                make_all_ready(*send);
            }
        }
        return well;
    }
    void expect_all_free(PartitionedSend& send, PartitionedRecv& receive) {
        send.recycle();
        receive.recycle();
        expect_nothing_left();
        expect_no_channels();
    }
    void expect_no_channels() {
        EXPECT_EQ(binder.existing(), 0);
        EXPECT_EQ(binder.free(), most);
    }

    static constexpr int most = 2 * messages + 1;
    test::LoopbackBinder binder{progress, most};
};

TEST_P(ChannelsTest, AllMessagesAreBoundOnce) {
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(16);
    for (int round = 0; round < 3; ++round) {
        exchange(send, receive);
        EXPECT_EQ(binder.bound(), 2 * messages);
        EXPECT_EQ(binder.existing(), 2 * messages);
        EXPECT_EQ(binder.free(), most - 2 * messages);
        EXPECT_EQ(send.channels(), messages);
        EXPECT_EQ(receive.channels(), messages);
        EXPECT_EQ(pml.existing(), 2 * messages); // those behind the channels
    }
    expect_all_free(send, receive);
}

TEST_P(ChannelsTest, AMessageMayStayWithThePml) {
    binder.refused = {partitioned_tag(2), partitioned_tag(3)}; // 0 is the tag of the reply
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(1);
    exchange(send, receive);
    EXPECT_EQ(binder.existing(), 2 * (messages - 2));
    EXPECT_EQ(binder.free(), most - 2 * (messages - 2));
    exchange(send, receive);
    expect_all_free(send, receive);
}

TEST_P(ChannelsTest, AllMessagesMayStayWithThePml) {
    for (int i = 0; i <= messages; ++i) {
        binder.refused.insert(partitioned_tag(i));
    }
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(1);
    exchange(send, receive);
    exchange(send, receive);
    EXPECT_EQ(send.channels(), 0);
    EXPECT_EQ(binder.free(), most);
    expect_all_free(send, receive);
}

TEST_P(ChannelsTest, NothingIsBoundWhereNoChannelIsWanted) {
    binder.wanted = false;
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(16);
    exchange(send, receive);
    exchange(send, receive);
    EXPECT_EQ(binder.bound(), 0);
    EXPECT_EQ(binder.free(), most);
    expect_all_free(send, receive);
}

// A start whose binding finds no memory ends with the error, and the next one goes on: the other side waits for it.
TEST_P(ChannelsTest, TheNextStartBindsWhatFoundNoMemory) {
    for (const int fine : {0, 1, messages - 1, messages, messages + 1}) {
        PartitionedSend& send = make_send();
        PartitionedRecv& receive = make_receive(1);
        std::fill(in.begin(), in.end(), 0);
        binder.fail_after(fine, 2);
        int failed = 0;
        for (Request* request : {static_cast<Request*>(&send), static_cast<Request*>(&receive)}) {
            ASSERT_EQ(request->start(), MPI_SUCCESS);
        }
        make_all_ready(send);
        bool sent = false, received = false;
        while (!sent || !received) {
            sent = sent || has_ended_well(send, &failed);
            received = received || has_ended_well(receive, &failed);
            progress.poll();
        }
        EXPECT_GE(failed, 1);
        EXPECT_EQ(in, out);
        EXPECT_EQ(binder.existing(), 2 * messages);
        exchange(send, receive);
        send.recycle();
        receive.recycle();
        expect_nothing_left();
        expect_no_channels();
    }
}

// The sender takes channels for the most messages that there may be, the receiver for those that there are. A request
// that finds none left has its messages carried by the pml, on both sides.
TEST_P(ChannelsTest, BothSidesHaveChannelsOrNone) {
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(1);
    exchange(send, receive);
    PartitionedSend& other_send = make_send(); // the binder has one channel left
    PartitionedRecv& other_receive = make_receive(16);
    exchange(other_send, other_receive);
    EXPECT_EQ(other_send.channels(), 0);
    EXPECT_EQ(other_receive.channels(), 0);
    EXPECT_EQ(binder.free(), most - 2 * messages);
    other_send.recycle();
    other_receive.recycle();
    expect_all_free(send, receive);
}

TEST_P(ChannelsTest, TheReceiverMayHaveNone) {
    ASSERT_TRUE(binder.take(messages + 1));
    PartitionedSend& send = make_send(); // has taken all that are left
    PartitionedRecv& receive = make_receive(16);
    exchange(send, receive);
    EXPECT_EQ(send.channels(), 0);
    EXPECT_EQ(receive.channels(), 0);
    binder.give_back(messages + 1);
    expect_all_free(send, receive);
}

// MPI_Parrived looks at the channels of the partition only.
TEST_P(ChannelsTest, APartitionArrivesAlone) {
    PartitionedSend& send = make_send();
    PartitionedRecv& receive = make_receive(16);
    exchange(send, receive);
    ASSERT_EQ(send.start(), MPI_SUCCESS);
    ASSERT_EQ(receive.start(), MPI_SUCCESS);
    EXPECT_TRUE(send.make_ready(5));
    EXPECT_TRUE(send.make_ready(4));
    poll();
    for (int i = 0; i < 16; ++i) {
        EXPECT_EQ(receive.has_arrived(i), i >= 8 && i < 12);
    }
    for (const int partition : {0, 1, 2, 3, 6, 7}) {
        EXPECT_FALSE(receive.has_completed());
        EXPECT_FALSE(send.has_completed());
        EXPECT_TRUE(send.make_ready(partition));
    }
    poll();
    EXPECT_TRUE(send.has_completed());
    EXPECT_TRUE(receive.has_completed());
    end(send);
    end(receive);
    expect_all_free(send, receive);
}

// The handles are released, so that a poller of the engine looks at the channels.
TEST_P(ChannelsTest, ActiveRequestsAreFreed) {
    for (const bool is_first : {true, false}) {
        PartitionedSend& send = make_send();
        PartitionedRecv& receive = make_receive(1);
        if (!is_first) {
            exchange(send, receive);
        }
        std::fill(in.begin(), in.end(), 0);
        ASSERT_EQ(receive.start(), MPI_SUCCESS);
        receive.recycle();
        ASSERT_EQ(send.start(), MPI_SUCCESS);
        make_all_ready(send);
        send.recycle();
        engine->wait_for_freed(nullptr);
        expect_nothing_left();
        expect_no_channels();
        EXPECT_EQ(in, out);
    }
}

INSTANTIATE_TEST_SUITE_P(Threaded, ChannelsTest, testing::Bool());

class ChannelThreadsTest : public ChannelsTest {};

TEST_P(ChannelThreadsTest, AnyThreadLooks) {
    exchange_among_threads(3, 3, 60);
    expect_no_channels();
}

INSTANTIATE_TEST_SUITE_P(Threaded, ChannelThreadsTest, testing::Values(true));

} // namespace patchbay::pml
