// SPDX-License-Identifier: BSD-3-Clause
// The ports of MPI_Open_port, without processes and without PMIx's server.
#include "launch/pmix/port_service.h"

#include <gtest/gtest.h>
#include <optional>

using namespace patchbay;
using namespace patchbay::launch;

namespace {

struct Reply {
    std::optional<pmix_status_t> status;
    std::string peer;
};

class PortServiceTest : public testing::Test {
protected:
    PortServiceTest()
        : ports(loop, jobs, 1) {
        jobs.add(0, "parent", 1);
        jobs.add(1, "child", 1);
        EXPECT_EQ(ports.open(owner, "port"), PMIX_SUCCESS);
    }

    // What the process gets, once it is there.
    std::shared_ptr<Reply> wait(PortService::Side side, ProcessId process) {
        auto reply = std::make_shared<Reply>();
        ports.wait(side, "port", {process, {}, [reply](pmix_status_t status, const PortService::Pair* pair) {
                                      *reply = {status, pair == nullptr ? "" : pair->peer.nspace};
                                  }});
        return reply;
    }

    static constexpr ProcessId owner{0, 0};
    static constexpr ProcessId child{1, 0};
    EventLoop loop;
    JobDirectory jobs;
    PortService ports;
};

} // namespace

TEST_F(PortServiceTest, brings_two_together) {
    const auto accepting = wait(PortService::Side::accept, child);
    EXPECT_FALSE(accepting->status);
    const auto connecting = wait(PortService::Side::connect, owner);
    EXPECT_EQ(connecting->status, PMIX_SUCCESS);
    EXPECT_EQ(connecting->peer, "child");
    EXPECT_EQ(accepting->status, PMIX_SUCCESS);
    EXPECT_EQ(accepting->peer, "parent");
}

// The request of a process that is killed right after it may be read when its end is known, and its job forgotten.
TEST_F(PortServiceTest, a_process_that_has_ended_waits_for_nothing) {
    jobs.ended(child);
    ports.ended(child);
    for (const bool is_known : {true, false}) {
        for (const auto side : {PortService::Side::accept, PortService::Side::connect}) {
            EXPECT_EQ(wait(side, child)->status, PMIX_ERR_NOT_FOUND) << is_known;
        }
        EXPECT_FALSE(wait(PortService::Side::connect, owner)->status) << is_known;
        ports.ended(owner); // so that it waits no longer
        ASSERT_EQ(ports.open(owner, "port"), PMIX_SUCCESS);
        jobs.remove(child.job);
    }
}
