// SPDX-License-Identifier: BSD-3-Clause
// How the engine runs a schedule: the order of the messages, their tags, and what happens after an error, over a pml
// that the test controls.
#include "frameworks/coll/engine.h"

#include "core/core.h"
#include "core/progress/progress.h"
#include "frameworks/coll/schedule.h"
#include "object/error_cause.h"
#include "object/recipe.h"
#include "tests/coll/engine_fixture.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

using namespace patchbay;
using coll::Call;
using coll::Schedule;
using test::FakeMessage;

namespace {

class PlannedModule final : public coll::Module {
public:
    coll::Provided provides() const noexcept override { return {}; }
    int plan(const Call&, Schedule& schedule) noexcept override { return steps(schedule); }
    std::function<int(Schedule&)> steps;
};

class EngineTest : public test::EngineFixture {
protected:
    EngineTest()
        : EngineFixture(4) {}

    Request* start() {
        Request* request = nullptr;
        EXPECT_EQ(engine->start(module, Call{}, comm, &request), MPI_SUCCESS);
        return request;
    }
    Request* init() {
        Request* request = nullptr;
        EXPECT_EQ(engine->init(module, Call{}, comm, &request), MPI_SUCCESS);
        return request;
    }
    FakeMessage& message(std::size_t i) { return *pml.messages.at(i); }
    std::size_t started() const { return pml.messages.size(); }
    void end(std::size_t i, int code = MPI_SUCCESS) {
        message(i).end(code, std::uint64_t(message(i).count));
        poll();
    }

    PlannedModule module;
    char data[64] = {};
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
};

TEST_F(EngineTest, StepsOfTheNextRoundWaitForTheMessages) {
    module.steps = [&](Schedule& schedule) {
        schedule.exchange(data, 1, byte, 1, data + 1, 1, byte, 1);
        schedule.round();
        schedule.send(data, 2, byte, 2);
        return MPI_SUCCESS;
    };
    Request* request = start();
    ASSERT_EQ(started(), 2u);
    end(0);
    EXPECT_EQ(started(), 2u);
    end(1);
    ASSERT_EQ(started(), 3u);
    EXPECT_EQ(message(2).peer, 2);
    EXPECT_FALSE(request->is_complete());
    end(2);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_SUCCESS);
    request->recycle();
}

// A receive may copy a long message that is there already: what the others wait for is sent before.
TEST_F(EngineTest, SendsAreStartedBeforeReceives) {
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 1, byte, 1);
        schedule.send(data + 1, 1, byte, 1);
        schedule.send(data + 1, 2, byte, 1);
        schedule.round();
        schedule.recv(data, 1, byte, 2);
        schedule.send(data + 1, 1, byte, 2);
        return MPI_SUCCESS;
    };
    Request* request = start();
    ASSERT_EQ(started(), 3u);
    EXPECT_TRUE(message(0).sends);
    EXPECT_EQ(message(0).count, 1);
    EXPECT_TRUE(message(1).sends);
    EXPECT_EQ(message(1).count, 2);
    EXPECT_FALSE(message(2).sends);
    end(0);
    end(1);
    end(2);
    ASSERT_EQ(started(), 5u);
    EXPECT_TRUE(message(3).sends);
    EXPECT_FALSE(message(4).sends);
    end(3);
    end(4);
    EXPECT_TRUE(request->is_complete());
    request->recycle();
}

// A call that returns an error has not begun: when it is called again, it must match the call of the other members.
TEST_F(EngineTest, FailedCallsUseNoTag) {
    module.steps = [&](Schedule& schedule) {
        schedule.send(data, 1, byte, 1);
        return MPI_SUCCESS;
    };
    Request* first = start();
    Request* kept = init();
    const auto steps = std::exchange(module.steps, [](Schedule&) { return MPI_ERR_NO_MEM; });
    Request* failed = nullptr;
    EXPECT_EQ(engine->start(module, Call{}, comm, &failed), MPI_ERR_NO_MEM);
    EXPECT_EQ(engine->init(module, Call{}, comm, &failed), MPI_ERR_NO_MEM);
    module.steps = steps;
    Request* second = start();
    Request* kept_too = init();
    kept->start();
    kept_too->start();
    ASSERT_EQ(started(), 4u);
    EXPECT_EQ(message(1).tag, message(0).tag - 1);
    EXPECT_EQ(message(3).tag, message(2).tag - 1);
    EXPECT_LT(message(2).tag, message(1).tag - 1000);
    for (std::size_t i = 0; i < 4; ++i) {
        end(i);
    }
    for (Request* request : {first, second, kept, kept_too}) {
        EXPECT_TRUE(request->is_complete());
        request->recycle();
    }
}

TEST_F(EngineTest, PersistentOperationsKeepTheirTag) {
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 1, byte, 1);
        schedule.round();
        schedule.send(data, 1, byte, 2);
        return MPI_SUCCESS;
    };
    Request* request = init();
    EXPECT_EQ(started(), 0u);
    for (std::size_t turn = 0; turn < 3; ++turn) {
        EXPECT_EQ(request->start(), MPI_SUCCESS);
        ASSERT_EQ(started(), 2 * turn + 1);
        end(2 * turn);
        end(2 * turn + 1);
        EXPECT_TRUE(request->is_complete());
        EXPECT_EQ(message(2 * turn).tag, message(0).tag);
        request->end_start();
    }
    request->recycle();
}

// A start makes no message. After an error the messages that are left have no elements, and so are not the bound ones;
// the next start uses these again.
TEST_F(EngineTest, PersistentOperationsStartBoundMessages) {
    pml.binds = true;
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 1, byte, 1);
        schedule.round();
        schedule.send(data, 1, byte, 2);
        return MPI_SUCCESS;
    };
    Request* request = init();
    ASSERT_EQ(pml.bound.size(), 2u);
    const auto end_bound = [&](std::size_t i, std::uint64_t bytes) {
        pml.bound[i]->end(MPI_SUCCESS, bytes);
        poll();
    };
    for (int turn = 1; turn <= 3; ++turn) {
        EXPECT_EQ(request->start(), MPI_SUCCESS);
        EXPECT_EQ(pml.bound[0]->starts, turn);
        EXPECT_EQ(pml.bound[1]->starts, turn - 1);
        end_bound(0, 1);
        EXPECT_EQ(pml.bound[1]->starts, turn);
        end_bound(1, 1);
        ASSERT_TRUE(request->is_complete());
        EXPECT_EQ(request->error, MPI_SUCCESS);
        request->end_start();
    }
    EXPECT_EQ(started(), 0u);
    EXPECT_EQ(request->start(), MPI_SUCCESS);
    end_bound(0, 0); // too short
    EXPECT_EQ(pml.bound[1]->starts, 3);
    ASSERT_EQ(started(), 1u);
    EXPECT_EQ(message(0).count, 0);
    end(0);
    ASSERT_TRUE(request->is_complete());
    EXPECT_NE(request->error, MPI_SUCCESS);
    request->end_start();
    EXPECT_EQ(request->start(), MPI_SUCCESS);
    EXPECT_EQ(pml.bound[0]->starts, 5);
    end_bound(0, 1);
    end_bound(1, 1);
    ASSERT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_SUCCESS);
    request->end_start();
    EXPECT_FALSE(pml.bound[0]->released);
    request->recycle();
    EXPECT_TRUE(pml.bound[0]->released);
    EXPECT_TRUE(pml.bound[1]->released);
}

// With one thread a start of a persistent operation runs its first steps without a poll; where their messages are
// complete at once, so is the operation.
TEST_F(EngineTest, AStartRunsItsFirstStepsItself) {
    pml.binds = true;
    module.steps = [&](Schedule& schedule) {
        schedule.send(data, 1, byte, 1);
        schedule.send(data, 1, byte, 2);
        return MPI_SUCCESS;
    };
    Request* request = init();
    ASSERT_EQ(pml.bound.size(), 2u);
    pml.bound[0]->ends_at_start = true;
    int polls = 0;
    PollerHandle poller = progress.add_poller(
        [](void* context) noexcept {
            ++*static_cast<int*>(context);
            return 0;
        },
        &polls);
    EXPECT_EQ(request->start(), MPI_SUCCESS);
    EXPECT_EQ(pml.bound[1]->starts, 1);
    EXPECT_FALSE(request->is_complete());
    pml.bound[1]->end(MPI_SUCCESS, 1);
    EXPECT_FALSE(request->is_complete()); // the next poll ends the step
    EXPECT_EQ(polls, 0);
    poll();
    ASSERT_TRUE(request->is_complete());
    request->end_start();

    pml.bound[1]->ends_at_start = true;
    polls = 0;
    for (int turn = 0; turn < 3; ++turn) {
        EXPECT_EQ(request->start(), MPI_SUCCESS);
        ASSERT_TRUE(request->is_complete());
        EXPECT_EQ(request->error, MPI_SUCCESS);
        request->end_start();
    }
    EXPECT_EQ(polls, 0);
    EXPECT_EQ(pml.bound[0]->starts, 4);
    EXPECT_EQ(pml.bound[1]->starts, 4);
    request->recycle();
}

// A callback of the program may start an operation: a poll is under way then.
TEST_F(EngineTest, AStartWithinAPoll) {
    pml.binds = true;
    module.steps = [&](Schedule& schedule) {
        schedule.send(data, 1, byte, 1);
        schedule.round();
        schedule.recv(data, 1, byte, 1);
        return MPI_SUCCESS;
    };
    Request* request = init();
    ASSERT_EQ(pml.bound.size(), 2u);
    PollerHandle poller = progress.add_poller(
        [](void* context) noexcept {
            auto* operation = static_cast<Request*>(context);
            return operation->is_active() ? 0 : (operation->start(), 1);
        },
        request);
    EXPECT_EQ(progress.poll(), 1);
    poller.reset();
    EXPECT_EQ(pml.bound[0]->starts, 1);
    pml.bound[0]->end(MPI_SUCCESS, 1);
    poll();
    EXPECT_EQ(pml.bound[1]->starts, 1);
    pml.bound[1]->end(MPI_SUCCESS, 1);
    poll();
    ASSERT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_SUCCESS);
    request->end_start();
    request->recycle();
}

// Several threads may call: the steps run in a poll, which holds off those of the others.
TEST_F(EngineTest, AStartAmongThreadsPolls) {
    pml.binds = true;
    progress.enable_threads();
    module.steps = [&](Schedule& schedule) {
        schedule.send(data, 1, byte, 1);
        return MPI_SUCCESS;
    };
    Request* request = init();
    ASSERT_EQ(pml.bound.size(), 1u);
    pml.bound[0]->ends_at_start = true;
    int polls = 0;
    PollerHandle poller = progress.add_poller(
        [](void* context) noexcept {
            ++*static_cast<int*>(context);
            return 0;
        },
        &polls);
    EXPECT_EQ(request->start(), MPI_SUCCESS);
    EXPECT_EQ(polls, 1);
    EXPECT_TRUE(request->is_complete());
    request->end_start();
    request->recycle();
}

// A receive that is too short: another member has failed.
TEST_F(EngineTest, AfterAnErrorMessagesHaveNoElements) {
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 8, byte, 1);
        schedule.round();
        schedule.exchange(data, 8, byte, 2, data + 8, 8, byte, 3);
        return MPI_SUCCESS;
    };
    Request* request = start();
    message(0).end(MPI_SUCCESS, 0);
    poll();
    ASSERT_EQ(started(), 3u);
    EXPECT_EQ(message(1).count, 0);
    EXPECT_EQ(message(2).count, 0);
    end(1);
    end(2);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_OTHER);
    EXPECT_FALSE(request->cause().empty());
    request->recycle();
}

// The others wait for the message: it is sent without elements as soon as there is memory for it.
TEST_F(EngineTest, SendsWithoutMemoryAreTriedAgain) {
    module.steps = [&](Schedule& schedule) {
        schedule.exchange(data, 8, byte, 1, data + 8, 8, byte, 1);
        return MPI_SUCCESS;
    };
    pml.send_codes = {MPI_ERR_NO_MEM, MPI_ERR_NO_MEM, MPI_ERR_NO_MEM};
    Request* request = start();
    ASSERT_EQ(started(), 1u); // the receive
    poll();
    ASSERT_EQ(started(), 2u);
    EXPECT_TRUE(message(1).sends);
    EXPECT_EQ(message(1).count, 0);
    EXPECT_FALSE(message(0).cancelled);
    end(1);
    EXPECT_FALSE(request->is_complete());
    end(0);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_NO_MEM);
    request->recycle();
}

TEST_F(EngineTest, ReceivesWithoutMemoryAreTriedAgain) {
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 8, byte, 1);
        return MPI_SUCCESS;
    };
    pml.recv_codes = {MPI_ERR_NO_MEM, MPI_ERR_NO_MEM};
    Request* request = start();
    poll();
    ASSERT_EQ(started(), 1u);
    EXPECT_EQ(message(0).count, 0);
    message(0).end(MPI_ERR_NO_MEM, 0); // the sender had no memory for the message either, and sends an empty one
    poll();
    ASSERT_EQ(started(), 2u);
    end(1);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_NO_MEM);
    request->recycle();
}

// All operations on the communicator end with the error of the member that could not construct it, which may have been
// a lack of memory. Nothing is tried again.
TEST_F(EngineTest, OperationsOnAFailedCommunicatorEnd) {
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 8, byte, 1);
        schedule.recv(data, 8, byte, 2);
        schedule.round();
        schedule.send(data, 8, byte, 3);
        return MPI_SUCCESS;
    };
    Request* request = start();
    ASSERT_EQ(started(), 2u);
    pml.failure = "process 3 has refused it";
    pml.send_codes = pml.recv_codes = {MPI_ERR_NO_MEM, MPI_ERR_NO_MEM};
    message(0).end(MPI_ERR_NO_MEM, 0);
    message(1).end(MPI_ERR_NO_MEM, 0);
    poll();
    EXPECT_EQ(started(), 2u);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_NO_MEM);
    request->recycle();
    pml.send_codes = pml.recv_codes = {MPI_ERR_NO_SPACE, MPI_ERR_NO_SPACE};
    request = start();
    poll();
    EXPECT_EQ(started(), 2u);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_NO_SPACE);
    request->recycle();
}

// No way leads to a process: it sends nothing, and the receives from it are given up. Those from others are not.
TEST_F(EngineTest, ProcessesWithoutAWayAreNotWaitedFor) {
    module.steps = [&](Schedule& schedule) {
        const auto first = schedule.recv(data, 8, byte, 3);
        schedule.recv(data, 8, byte, 1);
        const auto last = schedule.send(data, 8, byte, 1);
        schedule.after(last, first);
        schedule.recv(data, 8, byte, 2);
        schedule.after(schedule.recv(data, 8, byte, 1), last);
        return MPI_SUCCESS;
    };
    pml.send_codes = {MPI_ERR_OTHER, MPI_ERR_OTHER};
    Request* request = start();
    ASSERT_EQ(started(), 3u);
    end(0);
    ASSERT_EQ(started(), 3u);
    EXPECT_TRUE(message(1).cancelled);
    EXPECT_FALSE(message(2).cancelled);
    EXPECT_FALSE(request->is_complete());
    end(2);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_OTHER);
    request->recycle();
}

// An error at plan time, such as exhausted memory for temporary data: all messages are sent, without elements.
TEST_F(EngineTest, ErrorsOfThePlanReachTheOthers) {
    module.steps = [&](Schedule& schedule) {
        schedule.send(data, 8, byte, 1);
        schedule.fail(MPI_ERR_NO_MEM, "no memory for temporary data");
        return MPI_SUCCESS;
    };
    Request* request = start();
    ASSERT_EQ(started(), 1u);
    EXPECT_EQ(message(0).count, 0);
    end(0);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_NO_MEM);
    EXPECT_EQ(request->cause(), "no memory for temporary data");
    request->recycle();
}

class CountingExecution final : public coll::Execution {
public:
    explicit CountingExecution(int& starts)
        : _starts(starts) {}
    void start(int, coll::Completion& done) noexcept override {
        ++_starts;
        done.end(MPI_SUCCESS);
    }

private:
    int& _starts;
};

// The steps of a failed plan may refer to memory that does not exist, so that only the engine may go through them.
TEST_F(EngineTest, FailedPlansAreNotExecutedElsewhere) {
    int starts = 0;
    int failure = MPI_SUCCESS;
    module.steps = [&](Schedule& schedule) {
        schedule.send(data, 8, byte, 1);
        schedule.fail(failure);
        schedule.run_by(std::make_unique<CountingExecution>(starts));
        return MPI_SUCCESS;
    };
    Request* request = start();
    poll();
    EXPECT_EQ(starts, 1);
    EXPECT_EQ(started(), 0u);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_SUCCESS);
    request->recycle();
    failure = MPI_ERR_NO_MEM;
    request = start();
    EXPECT_EQ(starts, 1);
    ASSERT_EQ(started(), 1u);
    EXPECT_EQ(message(0).count, 0);
    end(0);
    EXPECT_TRUE(request->is_complete());
    EXPECT_EQ(request->error, MPI_ERR_NO_MEM);
    request->recycle();
}

Ref<Datatype> pair() {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_CONTIGUOUS;
    recipe.integers = {2};
    recipe.types = {Ref<Datatype>::share(to_object<Datatype>(MPI_INT))};
    Ref<Datatype> type;
    EXPECT_EQ(Datatype::create(std::move(recipe), &type), MPI_SUCCESS);
    return type;
}

// As in a neighbourhood function, there may be fewer or more types than the communicator has processes.
TEST_F(EngineTest, AllTypesOfACallAreKept) {
    module.steps = [](Schedule&) { return MPI_SUCCESS; };
    const Ref<Datatype> sent = pair();
    const Ref<Datatype> received = pair();
    const std::vector<MPI_Datatype> send_types = {to_handle(sent.get())};
    std::vector<MPI_Datatype> recv_types(std::size_t(comm.remote_size) + 2, MPI_INT);
    recv_types.back() = to_handle(received.get());
    Call call;
    call.send_types = send_types.data();
    call.send_types_count = int(send_types.size());
    call.recv_types = recv_types.data();
    call.recv_types_count = int(recv_types.size());
    Request* request = nullptr;
    ASSERT_EQ(engine->init(module, call, comm, &request), MPI_SUCCESS);
    EXPECT_EQ(sent->references(), 2);
    EXPECT_EQ(received->references(), 2);
    request->recycle();
    EXPECT_EQ(sent->references(), 1);
    EXPECT_EQ(received->references(), 1);
}

// A handle that is released while the operation is active: the tag is free when it is complete.
TEST_F(EngineTest, FreedOperationsGoOn) {
    module.steps = [&](Schedule& schedule) {
        schedule.recv(data, 1, byte, 1);
        schedule.round();
        schedule.send(data, 1, byte, 1);
        return MPI_SUCCESS;
    };
    const int references = comm.references();
    Request* request = init();
    EXPECT_EQ(comm.references(), references + 1);
    request->start();
    request->recycle();
    end(0);
    ASSERT_EQ(started(), 2u);
    EXPECT_EQ(comm.references(), references + 1);
    end(1);
    EXPECT_EQ(comm.references(), references);
}

} // namespace
