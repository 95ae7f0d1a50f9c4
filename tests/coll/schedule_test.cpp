// SPDX-License-Identifier: BSD-3-Clause
// What a plan becomes: which step waits for which other ones.
#include "frameworks/coll/schedule.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace patchbay;
using coll::no_step;
using coll::Schedule;
using coll::Step;
using coll::StepId;
using coll::StepKind;

namespace {

class ScheduleTest : public testing::Test {
protected:
    ScheduleTest() { schedule.clear(&comm); }

    StepId send(int dest) { return schedule.send(nullptr, 0, byte, dest); }
    StepId recv(int source) { return schedule.recv(nullptr, 0, byte, source); }

    // The steps in an order in which the engine may start them, where a step ends as soon as it is started, and those
    // in `late` end last.
    std::vector<StepId> order(const std::set<StepId>& late = {}) {
        EXPECT_EQ(schedule.finish(), MPI_SUCCESS);
        std::vector<std::uint32_t> waits;
        std::vector<StepId> ready;
        std::vector<StepId> started;
        for (const Step& step : schedule.steps()) {
            if (step.waits == 0) {
                ready.push_back(StepId(waits.size()));
            }
            waits.push_back(step.waits);
        }
        const auto release = [&](StepId id) {
            if (--waits[id] == 0) {
                ready.push_back(id);
            }
        };
        std::vector<StepId> unfinished;
        const auto end = [&](StepId id) {
            for (const StepId later : schedule.successors(schedule.steps()[id])) {
                release(later);
            }
        };
        while (!ready.empty() || !unfinished.empty()) {
            if (ready.empty()) {
                const StepId id = unfinished.front();
                unfinished.erase(unfinished.begin());
                end(id);
                continue;
            }
            const StepId id = ready.front();
            ready.erase(ready.begin());
            started.push_back(id);
            if (schedule.steps()[id].next_of_peer != no_step) {
                release(schedule.steps()[id].next_of_peer);
            }
            if (late.contains(id)) {
                unfinished.push_back(id);
            } else {
                end(id);
            }
        }
        EXPECT_EQ(started.size(), schedule.steps().size());
        return started;
    }
    static bool before(const std::vector<StepId>& order, StepId first, StepId second) {
        return std::find(order.begin(), order.end(), first) < std::find(order.begin(), order.end(), second);
    }

    Communicator comm;
    coll::ScratchPool pool;
    Schedule schedule{pool};
    const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
};

TEST_F(ScheduleTest, StepsOfOneRoundWaitForNothing) {
    send(1);
    recv(1);
    send(2);
    ASSERT_EQ(schedule.finish(), MPI_SUCCESS);
    for (const Step& step : schedule.steps()) {
        EXPECT_EQ(step.waits, 0u);
    }
}

TEST_F(ScheduleTest, StepsWaitForEarlierRounds) {
    const StepId a = send(1);
    const StepId b = recv(1);
    schedule.round();
    const StepId c = send(2);
    schedule.round();
    schedule.round(); // an empty one changes nothing
    const StepId d = send(3);
    const auto started = order({b});
    EXPECT_TRUE(before(started, a, c));
    EXPECT_TRUE(before(started, b, c));
    EXPECT_TRUE(before(started, c, d));
    EXPECT_EQ(schedule.steps().size(), 5u); // a round of one step needs no join
}

TEST_F(ScheduleTest, AfterOrdersTwoSteps) {
    const StepId a = recv(1);
    const StepId b = recv(2);
    const StepId c = send(3);
    schedule.after(c, b);
    schedule.after(c, no_step);
    const auto started = order({b, a});
    EXPECT_TRUE(before(started, b, c));
    ASSERT_EQ(schedule.successors(schedule.steps()[a]).size(), 0u);
    ASSERT_EQ(schedule.successors(schedule.steps()[b]).size(), 1u);
    EXPECT_EQ(schedule.successors(schedule.steps()[b])[0], c);
}

// As a component with a mistake may ask for it.
TEST_F(ScheduleTest, NoStepFollowsItselfOrALaterOne) {
    for (const auto& [step, earlier] : std::vector<std::pair<StepId, StepId>>{{0, 0}, {0, 1}, {1, 7}, {7, 0}}) {
        schedule.clear(&comm);
        send(1);
        recv(1);
        schedule.after(step, earlier);
        EXPECT_EQ(schedule.code(), MPI_ERR_INTERN) << step << " after " << earlier;
    }
}

// The message that waits for nothing is the second one in the plan, and the partner receives in the order of the plan.
TEST_F(ScheduleTest, MessagesBetweenTwoProcessesKeepTheOrderOfThePlan) {
    const StepId slow = recv(5);
    const StepId first = send(1);
    schedule.after(first, slow);
    const StepId second = send(1);
    const StepId other = send(2);
    const StepId back = recv(1);
    const auto started = order({slow});
    EXPECT_TRUE(before(started, first, second));
    EXPECT_EQ(schedule.steps()[first].next_of_peer, second);
    EXPECT_TRUE(before(started, other, first));
    EXPECT_TRUE(before(started, back, first));
}

TEST_F(ScheduleTest, MessagesOfOtherCommunicatorsAreNotOrdered) {
    Communicator local;
    const StepId slow = recv(5);
    const StepId first = send(1);
    schedule.after(first, slow);
    StepId second = no_step;
    {
        const Schedule::On on(schedule, local);
        EXPECT_EQ(&schedule.comm(), &local);
        second = send(1);
    }
    EXPECT_EQ(&schedule.comm(), &comm);
    EXPECT_TRUE(before(order({slow}), second, first));
}

TEST_F(ScheduleTest, SectionsRunAtTheSameTime) {
    const StepId begin = recv(9);
    schedule.round();
    StepId slow = no_step;
    StepId behind_slow = no_step;
    StepId fast = no_step;
    StepId behind_fast = no_step;
    {
        const Schedule::Section section(schedule);
        slow = recv(1);
        schedule.round();
        behind_slow = send(2);
    }
    {
        const Schedule::Section section(schedule);
        fast = recv(3);
        schedule.round();
        behind_fast = send(4);
    }
    schedule.round();
    const StepId end = send(9);
    const auto started = order({slow});
    EXPECT_TRUE(before(started, begin, slow));
    EXPECT_TRUE(before(started, begin, fast));
    EXPECT_TRUE(before(started, behind_fast, behind_slow));
    EXPECT_TRUE(before(started, behind_slow, end));
    EXPECT_TRUE(before(started, behind_fast, end));
}

TEST_F(ScheduleTest, BatchLimitsWhatIsUnderWay) {
    Schedule::Batch batch(schedule);
    std::vector<StepId> all;
    for (int peer = 0; peer < 65; ++peer) {
        batch.isend(nullptr, 0, byte, peer);
        all.push_back(StepId(peer));
    }
    batch.finish();
    const StepId end = send(0);
    const auto started = order({all[0]});
    EXPECT_EQ(started[64], all[64]);
    EXPECT_TRUE(before(started, all[64], end));
    ASSERT_EQ(schedule.successors(schedule.steps()[0]).size(), 1u);
    EXPECT_EQ(schedule.successors(schedule.steps()[0])[0], all[64]);
}

// An execution is for the plan as a whole.
TEST_F(ScheduleTest, StepsThatAreAddedRemoveTheExecution) {
    class Card final : public coll::Execution {
        void start(int, coll::Completion&) noexcept override {}
    };
    send(1);
    schedule.run_by(std::make_unique<Card>());
    ASSERT_EQ(schedule.finish(), MPI_SUCCESS);
    EXPECT_NE(schedule.execution(), nullptr);
    send(1);
    EXPECT_EQ(schedule.execution(), nullptr);
}

TEST_F(ScheduleTest, ScratchIsWhereElementZeroStands) {
    auto* doubles = static_cast<double*>(schedule.scratch(3, *to_object<Datatype>(MPI_DOUBLE)));
    doubles[0] = 1; // the address sanitizer checks these
    doubles[2] = 3;
    EXPECT_EQ(schedule.code(), MPI_SUCCESS);
    schedule.fail(MPI_ERR_NO_MEM, "first");
    schedule.fail(MPI_ERR_OTHER, "second");
    EXPECT_EQ(schedule.code(), MPI_ERR_NO_MEM);
    EXPECT_EQ(schedule.cause(), "first");
    schedule.clear(&comm);
    EXPECT_EQ(schedule.code(), MPI_SUCCESS);
}

} // namespace
