// SPDX-License-Identifier: BSD-3-Clause
// A message of the setup of channels: when its request is made, and what happens where the pml lacks memory for it.
#include "mpi/channels/prepared_message.h"
#include "object/datatype.h"
#include "tests/fakes/unused_pml.h"

#include <gtest/gtest.h>

namespace patchbay {

namespace {

class FakePml;

class FakeRequest final : public Request {
public:
    FakeRequest(FakePml& pml, Progress& waits, int tag) noexcept
        : tag(tag),
          _pml(pml) {
        progress = &waits;
        persistent = true;
    }
    ~FakeRequest() override = default;
    int start() noexcept override;
    int cancel() noexcept override {
        set_status_cancelled(status, true);
        complete();
        return MPI_SUCCESS;
    }
    const int tag;

private:
    int retire() noexcept override;
    FakePml& _pml;
};

// A pml whose requests complete when the test says so. It has no memory for some requests, and for some starts.
class FakePml final : public test::UnusedPml {
public:
    explicit FakePml(Progress& progress)
        : _progress(progress) {}

    int isend(
        const void*, MPI_Count, const Datatype&, int, int, pml::SendMode, Communicator&, Request**) noexcept override {
        return MPI_ERR_INTERN;
    }
    int irecv(void*, MPI_Count, const Datatype&, int, int, Communicator&, Request**) noexcept override {
        return MPI_ERR_INTERN;
    }
    int send_init(const void*, MPI_Count, const Datatype&, int, int tag, pml::SendMode, Communicator&,
        Request** request) noexcept override {
        return make(tag, request);
    }
    int recv_init(void*, MPI_Count, const Datatype&, int, int tag, Communicator&, Request** request) noexcept override {
        return make(tag, request);
    }

    int refused_requests = 0; // that are still to come
    int short_starts = 0;     // likewise
    int made = 0;
    int existing = 0;
    int started = 0;
    FakeRequest* last = nullptr;

private:
    int make(int tag, Request** request) noexcept {
        if (refused_requests > 0) {
            --refused_requests;
            return MPI_ERR_NO_MEM;
        }
        ++made;
        ++existing;
        *request = last = new FakeRequest(*this, _progress, tag);
        return MPI_SUCCESS;
    }
    Progress& _progress;
};

int FakeRequest::start() noexcept {
    error = MPI_SUCCESS;
    set_status_cancelled(status, false);
    set_active();
    if (_pml.short_starts > 0) {
        --_pml.short_starts;
        error = MPI_ERR_NO_MEM;
        complete();
    } else {
        ++_pml.started;
    }
    return MPI_SUCCESS;
}
int FakeRequest::retire() noexcept {
    --_pml.existing;
    delete this;
    return MPI_SUCCESS;
}

class PreparedMessageTest : public testing::Test, PreparedMessage::Owner {
protected:
    void SetUp() override { comm.pml = &pml; }
    void TearDown() override {
        message.release();
        EXPECT_EQ(pml.existing, 0);
    }

    void ended(PreparedMessage& of) noexcept override {
        ++runs;
        if (of.lacks_memory()) {
            of.start_again();
            return;
        }
        code = of.code();
        cancelled = of.is_cancelled();
        received = of.received() != nullptr;
        of.end();
    }

    Progress progress;
    FakePml pml{progress};
    Communicator comm;
    char data[8] = {};
    const PreparedMessage::What what{false, data, sizeof data, 0, -5};
    PreparedMessage message{progress, comm, *this};
    int runs = 0;
    int code = MPI_ERR_UNKNOWN;
    bool cancelled = false;
    bool received = false;
};

TEST_F(PreparedMessageTest, ARequestServesAllStartsOfItsMessage) {
    ASSERT_EQ(message.prepare(what), MPI_SUCCESS);
    for (int i = 0; i < 3; ++i) {
        message.start(what);
        EXPECT_TRUE(message.is_under_way());
        progress.poll();
        EXPECT_EQ(runs, i);
        pml.last->complete();
        progress.poll();
        EXPECT_EQ(runs, i + 1);
        EXPECT_EQ(code, MPI_SUCCESS);
        EXPECT_TRUE(received);
        EXPECT_FALSE(message.is_under_way());
    }
    EXPECT_EQ(pml.made, 1);
}

TEST_F(PreparedMessageTest, AnotherMessageTakesThePlaceOfTheFormerOne) {
    ASSERT_EQ(message.prepare(what), MPI_SUCCESS);
    PreparedMessage::What other = what;
    other.tag = -6;
    message.start(other);
    EXPECT_EQ(pml.made, 2);
    EXPECT_EQ(pml.existing, 1);
    EXPECT_EQ(pml.last->tag, -6);
    pml.last->complete();
    progress.poll();
    EXPECT_EQ(runs, 1);
}

TEST_F(PreparedMessageTest, ItIsStartedUntilThereIsMemory) {
    ASSERT_EQ(message.prepare(what), MPI_SUCCESS);
    pml.short_starts = 3;
    message.start(what);
    for (int i = 1; i <= 3; ++i) {
        EXPECT_EQ(pml.started, 0);
        progress.poll(); // once for each poll: another operation may free memory meanwhile
        EXPECT_EQ(runs, i);
    }
    EXPECT_EQ(pml.started, 1);
    progress.poll();
    EXPECT_EQ(runs, 3);
    pml.last->complete();
    progress.poll();
    EXPECT_EQ(code, MPI_SUCCESS);
    EXPECT_EQ(pml.made, 1);
}

TEST_F(PreparedMessageTest, ItIsStartedAgainWhereMemoryIsShortLater) {
    message.start(what);
    pml.last->error = MPI_ERR_NO_MEM;
    pml.last->complete();
    progress.poll();
    EXPECT_EQ(pml.started, 2);
    pml.last->complete();
    progress.poll();
    EXPECT_EQ(code, MPI_SUCCESS);
}

TEST_F(PreparedMessageTest, TheRequestIsMadeWhenThereIsMemory) {
    pml.refused_requests = 2;
    message.start(what);
    EXPECT_TRUE(message.is_under_way());
    progress.poll();
    EXPECT_EQ(pml.made, 0);
    progress.poll();
    EXPECT_EQ(pml.made, 1);
    pml.last->complete();
    progress.poll();
    EXPECT_EQ(code, MPI_SUCCESS);
    EXPECT_FALSE(message.is_under_way());
}

TEST_F(PreparedMessageTest, WhatHasNotBegunIsAbandoned) {
    pml.refused_requests = 1;
    EXPECT_EQ(message.launch(what), MPI_ERR_NO_MEM);
    message.abandon();
    pml.short_starts = 1;
    EXPECT_EQ(message.launch(what), MPI_ERR_NO_MEM);
    message.abandon();
    EXPECT_EQ(message.launch(what), MPI_SUCCESS);
    message.abandon();
    EXPECT_FALSE(message.is_under_way());
    progress.poll();
    EXPECT_EQ(runs, 0);
}

TEST_F(PreparedMessageTest, OneThatHasEndedWellNeedNotBeFollowed) {
    ASSERT_EQ(message.launch(what), MPI_SUCCESS);
    pml.last->complete();
    message.follow_unless_ended();
    EXPECT_FALSE(message.is_under_way());
    progress.poll();
    EXPECT_EQ(runs, 0);

    pml.short_starts = 1;
    EXPECT_EQ(message.launch(what), MPI_ERR_NO_MEM);
    message.follow_unless_ended();
    EXPECT_TRUE(message.is_under_way());
    progress.poll();
    EXPECT_EQ(runs, 1);
    ASSERT_EQ(pml.started, 2);
    pml.last->complete();
    progress.poll();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(code, MPI_SUCCESS);
}

TEST_F(PreparedMessageTest, ACancelledOneIsNotStartedAgain) {
    message.start(what);
    message.cancel();
    progress.poll();
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(cancelled);
    EXPECT_FALSE(received);

    pml.short_starts = 1;
    message.start(what);
    message.cancel();
    progress.poll();
    EXPECT_EQ(runs, 2);
    EXPECT_TRUE(cancelled);

    message.start(what);
    pml.last->complete();
    progress.poll();
    EXPECT_FALSE(cancelled);
    EXPECT_TRUE(received);
}

} // namespace

} // namespace patchbay
