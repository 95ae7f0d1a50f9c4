// SPDX-License-Identifier: BSD-3-Clause
#include "core/explain.h"

#include "core/core.h"

#include <gtest/gtest.h>

using namespace patchbay;

TEST(Explain, RecordsOnlyWhileEnabled) {
    DecisionLog log;
    log.record("coll", "job", "basic", Outcome::chosen, 10, "highest priority");
    EXPECT_TRUE(log.decisions().empty());
    EXPECT_EQ(log.take_table(), "");
    log.enable(true);
    log.record("coll", "job", "basic", Outcome::chosen, 10, "highest priority");
    EXPECT_EQ(log.decisions().size(), 1u);
}

TEST(Explain, TableHasEachDecisionOnce) {
    DecisionLog log;
    log.enable(true);
    log.record("coll", "MPI_COMM_WORLD", "tuned", Outcome::chosen, 30, "highest priority");
    log.record("coll", "MPI_COMM_WORLD", "basic", Outcome::lost, 10, "lower priority than tuned");
    log.record("btl", "job", "ofi", Outcome::declined, 0, "no provider");
    EXPECT_EQ(log.take_table(),
        "framework  for             candidate  outcome   priority  reason\n"
        "coll       MPI_COMM_WORLD  tuned      chosen    30        highest priority\n"
        "coll       MPI_COMM_WORLD  basic      lost      10        lower priority than tuned\n"
        "btl        job             ofi        declined  -         no provider\n");
    EXPECT_EQ(log.take_table(), "") << "printed already";
    log.record("cid", "job", "mask", Outcome::incompatible, 0, "wrong version");
    EXPECT_NE(log.take_table().find("incompatible"), std::string::npos);
}

TEST(Explain, ManyObjectsWithOneDecisionAreCounted) {
    DecisionLog log;
    log.enable(true);
    for (int i = 0; i < 1000; ++i) {
        log.record("coll", "communicator " + std::to_string(i), "basic", Outcome::chosen, 10, "highest priority");
    }
    ASSERT_EQ(log.decisions().size(), 1u);
    EXPECT_EQ(log.decisions()[0].times, 1000u);
    EXPECT_NE(log.take_table().find("communicator 0 and 999 more"), std::string::npos);
}

TEST(Explain, NonDefaultParametersWithOrigin) {
    ParamSources places;
    places.environment = {"PATCHBAY_MCA_verbose=0", "PATCHBAY_MCA_explain=yes"};
    auto core = Core::create({}, places, {});
    ASSERT_TRUE(core);
    EXPECT_EQ(non_default_params_table((*core)->params),
        "parameter  value  default  set by\n"
        "explain    yes    false    environment PATCHBAY_MCA_explain\n"
        "verbose    0      0        environment PATCHBAY_MCA_verbose\n");
    EXPECT_NE((*core)->take_explanation().find("explain    yes"), std::string::npos);
    EXPECT_EQ((*core)->take_explanation(), "");
}

TEST(Explain, NothingIsPrintedUnlessEnabled) {
    ParamSources places;
    places.environment = {"PATCHBAY_MCA_verbose=0"};
    auto core = Core::create({}, places, {});
    ASSERT_TRUE(core);
    EXPECT_EQ((*core)->take_explanation(), "");
}

TEST(CoreCreate, IllTypedCoreParameterIsAnError) {
    ParamSources places;
    places.environment = {"PATCHBAY_MCA_explain=perhaps"};
    auto core = Core::create({}, places, {});
    ASSERT_FALSE(core);
    EXPECT_EQ(core.error().text,
        "parameter explain (bool): 'perhaps' is not true or false "
        "[environment PATCHBAY_MCA_explain]");
}
