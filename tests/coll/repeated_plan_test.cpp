// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking operations whose plan is that of an earlier call: which calls are the same, and that the engine keeps no
// more than it may.
#include "frameworks/coll/engine.h"

#include "frameworks/coll/schedule.h"
#include "object/recipe.h"
#include "tests/coll/engine_fixture.h"

#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

using namespace patchbay;
using coll::Call;
using coll::Function;
using coll::Schedule;

namespace {

class CountingModule final : public coll::Module {
public:
    coll::Provided provides() const noexcept override { return {}; }
    int plan(const Call& call, Schedule& schedule) noexcept override {
        ++plans;
        schedule.at_start({&noted_is_wanted, &note, this, &schedule.comm(), 7});
        for (int step = 0; step < steps; ++step) {
            schedule.copy(call.send, call.send_count, *call.send_type, call.recv, call.send_count, *call.send_type);
        }
        if (scratch_bytes != 0) {
            schedule.scratch(scratch_bytes, *to_object<Datatype>(MPI_BYTE));
        }
        schedule.fail(code);
        schedule.may_repeat(says_for != nullptr ? *says_for : *this);
        return MPI_SUCCESS;
    }

    int plans = 0;
    int steps = 1;
    int scratch_bytes = 0;
    int code = MPI_SUCCESS;
    const Module* says_for = nullptr;
    std::atomic<bool> noted_is_wanted{true};
    int notes = 0;

private:
    static void note(void* context, const Communicator&, std::uint32_t what) noexcept {
        EXPECT_EQ(what, 7U);
        ++static_cast<CountingModule*>(context)->notes;
    }
};

class RepeatedPlanTest : public test::EngineFixture {
protected:
    RepeatedPlanTest()
        : EngineFixture(1) {
        call.function = Function::gather;
        call.send = from.data();
        call.send_count = 4;
        call.send_type = call.recv_type = to_object<Datatype>(MPI_BYTE);
        call.recv = into.data();
        call.recv_count = 4;
    }

    Request* start() {
        Request* request = nullptr;
        EXPECT_EQ(engine->start(module, call, comm, &request), MPI_SUCCESS);
        return request;
    }
    int run() {
        Request* request = start();
        poll();
        EXPECT_TRUE(request->is_complete());
        const int code = request->error;
        request->recycle();
        return code;
    }
    // How many of two runs of this call needed a plan.
    int plans_of_two() {
        const int before = module.plans;
        run();
        run();
        return module.plans - before;
    }

    CountingModule module;
    Call call;
    std::array<char, 64> from{1, 2, 3, 4, 5, 6, 7, 8};
    std::array<char, 64> into{};
};

TEST_F(RepeatedPlanTest, TheSameCallNeedsNoPlan) {
    for (char value = 1; value < 10; ++value) {
        from[0] = value;
        EXPECT_EQ(run(), MPI_SUCCESS);
        EXPECT_EQ(into[0], value);
    }
    EXPECT_EQ(module.plans, 1);
    EXPECT_EQ(module.notes, 8) << "of all that were not planned";
}

TEST_F(RepeatedPlanTest, EachArgumentCounts) {
    run();
    const Call first = call;
    const std::vector<std::function<void()>> changes{
        [this] { call.function = Function::scatter; },
        [this] { call.send = from.data() + 1; },
        [this] { call.recv = into.data() + 1; },
        [this] { call.send_count = 3; },
        [this] { call.recv_count = 3; },
        [this] { call.send_type = to_object<Datatype>(MPI_CHAR); },
        [this] { call.recv_type = to_object<Datatype>(MPI_CHAR); },
        [this] { call.op = to_object<Op>(MPI_SUM); },
        [this] { call.root = 1; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const int before = module.plans;
        call = first;
        changes[i]();
        run();
        EXPECT_EQ(module.plans, before + 1) << i;
    }
    CountingModule other;
    Request* request = nullptr;
    call = first;
    EXPECT_EQ(engine->start(other, call, comm, &request), MPI_SUCCESS);
    progress.poll();
    request->recycle();
    EXPECT_EQ(other.plans, 1);
}

TEST_F(RepeatedPlanTest, OperationsThatAreOutstandingHaveTheirOwn) {
    Request* first = start();
    Request* second = start();
    EXPECT_EQ(module.plans, 2);
    progress.poll();
    first->recycle();
    second->recycle();
    first = start();
    second = start();
    EXPECT_EQ(module.plans, 2);
    progress.poll();
    EXPECT_TRUE(first->is_complete() && second->is_complete());
    first->recycle();
    second->recycle();
}

// Its arrays may have other values, its type may be another one at the same address.
TEST_F(RepeatedPlanTest, WhatMayHaveChangedIsPlanned) {
    const int counts[] = {4};
    call.recv_counts = coll::CountArray(counts);
    EXPECT_EQ(plans_of_two(), 2);
    call.recv_counts = {};
    EXPECT_EQ(plans_of_two(), 1);
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_CONTIGUOUS;
    recipe.integers = {2};
    recipe.types = {Ref<Datatype>::share(to_object<Datatype>(MPI_BYTE))};
    Ref<Datatype> derived;
    ASSERT_EQ(Datatype::create(std::move(recipe), &derived), MPI_SUCCESS);
    call.send_type = derived.get();
    EXPECT_EQ(plans_of_two(), 2);
}

TEST_F(RepeatedPlanTest, OnlyTheModuleThatTheEngineCallsAllowsIt) {
    CountingModule inner;
    module.says_for = &inner;
    EXPECT_EQ(plans_of_two(), 2);
}

TEST_F(RepeatedPlanTest, FailedPlansAreMadeAnew) {
    module.code = MPI_ERR_NO_MEM;
    EXPECT_EQ(run(), MPI_ERR_NO_MEM);
    module.code = MPI_SUCCESS;
    EXPECT_EQ(run(), MPI_SUCCESS);
    EXPECT_EQ(module.plans, 2);
}

TEST_F(RepeatedPlanTest, LargePlansAreNotKept) {
    module.steps = 65;
    EXPECT_EQ(plans_of_two(), 2);
    module.steps = 64;
    call.root = 1;
    EXPECT_EQ(plans_of_two(), 1);
    module.scratch_bytes = 100'000;
    call.root = 2;
    EXPECT_EQ(plans_of_two(), 2);
}

TEST_F(RepeatedPlanTest, TheLastFourCallsAreKept) {
    const auto run_all = [this](int calls) {
        for (call.root = 0; call.root < calls; ++call.root) {
            run();
        }
    };
    run_all(4);
    run_all(4);
    EXPECT_EQ(module.plans, 4);
    run_all(5); // the fifth one takes the place of the one that was used first
    EXPECT_EQ(module.plans, 5);
    call.root = 0;
    run();
    EXPECT_EQ(module.plans, 6);
}

// So that thousands of communicators do not keep four each.
TEST_F(RepeatedPlanTest, AllCommunicatorsTogetherKeepALimitedNumber) {
    std::array<Communicator, 300> many;
    const auto run_on = [this](Communicator& on) {
        on.pml = &pml;
        on.size = on.remote_size = 1;
        Request* request = nullptr;
        EXPECT_EQ(engine->start(module, call, on, &request), MPI_SUCCESS);
        progress.poll();
        request->recycle();
    };
    for (int round = 0; round < 2; ++round) {
        for (Communicator& on : many) {
            run_on(on);
        }
    }
    EXPECT_EQ(module.plans, 300 + 300 - 256);
    coll::Engine::forget(many[0]); // gives its own back
    run_on(many[299]);
    run_on(many[299]);
    EXPECT_EQ(module.plans, 300 + 300 - 256 + 1);
    for (Communicator& on : many) {
        coll::Engine::forget(on);
    }
}

} // namespace
