// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests over a pml that the test controls: when messages are sent, what happens to requests without a
// handle, and threads that make partitions ready while the two sides agree on the messages.
#include "tests/part/request_fixture.h"

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::pml {

class RequestTest : public RequestFixture {};

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

TEST_P(RequestThreadsTest, PartitionsBecomeReadyOnAnyThread) {
    exchange_among_threads(4, 1, 100);
}

INSTANTIATE_TEST_SUITE_P(Threaded, RequestThreadsTest, testing::Values(true));

} // namespace patchbay::pml
