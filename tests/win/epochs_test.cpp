// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/epochs.h"
#include "object/communicator.h"

#include "core/progress/progress.h"
#include "include/mpi.h"
#include "object/error_cause.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

// The communicators of this test have no handles.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

namespace patchbay::osc {

namespace {

class EpochsTest : public testing::Test {
protected:
    Progress progress;
    Epochs epochs{4, 1, progress.threads()};
};

void expect_refused(int code, std::string_view part) {
    EXPECT_EQ(code, MPI_ERR_RMA_SYNC);
    EXPECT_NE(noted_cause(code).find(part), std::string_view::npos) << noted_cause(code);
    forget_cause();
}

} // namespace

TEST_F(EpochsTest, NothingIsOpenInTheBeginning) {
    for (int rank = 0; rank < 4; ++rank) {
        EXPECT_FALSE(epochs.may_access(rank));
        EXPECT_FALSE(epochs.is_locked(rank));
    }
    EXPECT_TRUE(epochs.open_epoch().empty());
}

TEST_F(EpochsTest, LocksOfDifferentMembersOverlap) {
    EXPECT_EQ(epochs.lock(0), MPI_SUCCESS);
    EXPECT_EQ(epochs.lock(3), MPI_SUCCESS);
    expect_refused(epochs.lock(3), "already");
    EXPECT_TRUE(epochs.may_access(3));
    EXPECT_FALSE(epochs.may_access(2));
    EXPECT_EQ(epochs.unlock(3), MPI_SUCCESS);
    expect_refused(epochs.unlock(3), "has not locked");
    EXPECT_FALSE(epochs.may_access(3));
    EXPECT_TRUE(epochs.is_locked(0));
    EXPECT_EQ(epochs.check_flush_all(), MPI_SUCCESS);
    EXPECT_FALSE(epochs.open_epoch().empty());
    EXPECT_EQ(epochs.unlock(0), MPI_SUCCESS);
    EXPECT_TRUE(epochs.open_epoch().empty());
}

TEST_F(EpochsTest, FenceWithoutOperationsIsNoEpoch) {
    EXPECT_EQ(epochs.begin_fence(0), MPI_SUCCESS);
    epochs.end_fence(0);
    EXPECT_TRUE(epochs.open_epoch().empty());
    EXPECT_EQ(epochs.start({2}), MPI_SUCCESS);
    EXPECT_TRUE(epochs.may_access(2));
    EXPECT_FALSE(epochs.may_access(0)); // the group of start() counts, and not the fence
    EXPECT_EQ(epochs.complete(), MPI_SUCCESS);
    EXPECT_FALSE(epochs.may_access(0));
}

TEST_F(EpochsTest, FenceWithOperationsIsOne) {
    EXPECT_EQ(epochs.begin_fence(0), MPI_SUCCESS);
    epochs.end_fence(0);
    EXPECT_TRUE(epochs.may_access(0));
    EXPECT_FALSE(epochs.is_locked(0));
    EXPECT_FALSE(epochs.open_epoch().empty());
    expect_refused(epochs.lock(0), "MPI_Win_fence");
    expect_refused(epochs.start({0}), "MPI_Win_fence");
    expect_refused(epochs.post(), "MPI_Win_fence");
    EXPECT_EQ(epochs.begin_fence(MPI_MODE_NOPRECEDE), MPI_ERR_ASSERT);
    EXPECT_EQ(epochs.begin_fence(MPI_MODE_NOSUCCEED), MPI_SUCCESS);
    epochs.end_fence(MPI_MODE_NOSUCCEED);
    EXPECT_FALSE(epochs.may_access(0));
    EXPECT_TRUE(epochs.open_epoch().empty());
}

TEST_F(EpochsTest, AccessAndExposureOverlap) {
    EXPECT_EQ(epochs.post(), MPI_SUCCESS);
    EXPECT_EQ(epochs.start({0, 1}), MPI_SUCCESS);
    expect_refused(epochs.post(), "MPI_Win_wait");
    expect_refused(epochs.start({3}), "MPI_Win_complete");
    expect_refused(epochs.begin_fence(0), "MPI_Win_start");
    EXPECT_EQ(epochs.complete(), MPI_SUCCESS);
    EXPECT_EQ(epochs.lock(0), MPI_SUCCESS); // another process
    expect_refused(epochs.lock(1), "exposed");
    EXPECT_EQ(epochs.unlock(0), MPI_SUCCESS);
    expect_refused(epochs.lock_all(), "exposed");
    EXPECT_EQ(epochs.wait(), MPI_SUCCESS);
    expect_refused(epochs.wait(), "MPI_Win_post");
}

TEST_F(EpochsTest, LocksOfAll) {
    EXPECT_EQ(epochs.lock_all(), MPI_SUCCESS);
    EXPECT_TRUE(epochs.is_locked(2));
    expect_refused(epochs.unlock(2), "MPI_Win_unlock_all");
    expect_refused(epochs.lock(2), "MPI_Win_lock_all");
    expect_refused(epochs.post(), "locked its own memory");
    EXPECT_EQ(epochs.unlock_all(), MPI_SUCCESS);
    expect_refused(epochs.unlock_all(), "MPI_Win_lock_all");
    epochs.forbid_locks(true);
    expect_refused(epochs.lock(0), "no_locks");
    expect_refused(epochs.lock_all(), "no_locks");
}

// Of two threads that end the same epoch, one gets the error.
TEST_F(EpochsTest, ThreadsLockAndUnlock) {
    progress.enable_threads();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 4; ++rank) {
        threads.emplace_back([this, rank] {
            for (int i = 0; i < 10000; ++i) {
                EXPECT_EQ(epochs.lock(rank), MPI_SUCCESS);
                EXPECT_TRUE(epochs.may_access(rank));
                EXPECT_EQ(epochs.unlock(rank), MPI_SUCCESS);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(epochs.open_epoch().empty());
}

} // namespace patchbay::osc
