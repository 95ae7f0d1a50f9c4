// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/core.h"
#include "core/progress/progress.h"
#include "frameworks/coll/engine.h"
#include "tests/coll/fake_pml.h"

#include <gtest/gtest.h>
#include <memory>
#include <utility>

namespace patchbay::test {

// An engine, and rank 0 of a communicator over a pml that the test controls.
class EngineFixture : public testing::Test {
protected:
    explicit EngineFixture(int size) { comm.size = comm.remote_size = size; }
    void SetUp() override {
        auto made = Core::create({}, ParamSources(), {});
        ASSERT_TRUE(made) << made.error().text;
        core = std::move(*made);
        core->progress = &progress;
        engine = std::make_unique<coll::Engine>(*core);
        comm.pml = &pml;
        comm.rank = 0;
    }
    void TearDown() override { coll::Engine::forget(comm); }

    void poll() {
        for (int i = 0; i < 10; ++i) {
            progress.poll();
        }
    }

    Progress progress;
    FakePml pml{progress};
    Communicator comm;
    std::unique_ptr<Core> core;
    std::unique_ptr<coll::Engine> engine;
};

} // namespace patchbay::test
