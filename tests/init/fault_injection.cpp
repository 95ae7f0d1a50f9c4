// SPDX-License-Identifier: BSD-3-Clause
// Every step of the way up is made to fail, one after the other: nothing may be left behind, and the next try succeeds.
#include "core/runtime/runtime.h"
#include "mpi/library/world.h"
#include "tests/init/footprint.h"
#include "tests/mpi_check/check.h"

#include <cstdlib>

namespace {

// The step that failed is named in the text; empty: nothing failed.
std::string try_with(int fault_step) {
    setenv("PATCHBAY_MCA_fault_step", std::to_string(fault_step).c_str(), 1);
    patchbay::Library root;
    if (const patchbay::Status started = root.world().init(MPI_THREAD_SINGLE); !started) {
        CHECK(!root.world().initialized() && root.instance() == nullptr && root.core() == nullptr);
        return started.error().text;
    }
    CHECK(bool(root.instance()->runtime().fence({}, false))); // everybody has left the world before
    int size = 0;
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS &&
        size == int(root.instance()->communicators().find(0)->size));
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(root.world().finalize() == MPI_SUCCESS);
    return {};
}

void expect_equal(const Footprint& now, const Footprint& before, int step) {
    if (now.descriptors != before.descriptors || now.threads != before.threads || now.mappings > before.mappings) {
        std::fprintf(stderr, "left behind by a failure of step %d\n", step);
        before.print("before");
        now.print("after");
        CHECK(false);
    }
}

} // namespace

int main() {
    CHECK(try_with(0).empty());
    CHECK(try_with(0).empty());
    int step = 1;
    for (;; ++step) {
        const Footprint before = Footprint::now();
        const std::string failure = try_with(step);
        if (failure.empty()) {
            break;
        }
        if (failure.find("was made to fail") == std::string::npos) {
            std::fprintf(stderr, "step %d: %s\n", step, failure.c_str());
            CHECK(false);
            break;
        }
        expect_equal(Footprint::now(), before, step);
        CHECK(try_with(0).empty());
    }
    std::fprintf(stderr, "%d steps\n", step - 1);
    // The builder's own steps, the predefined communicators and MPI_INFO_ENV, at least.
    CHECK(step > 9);
    return failures();
}
