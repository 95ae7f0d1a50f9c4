// SPDX-License-Identifier: BSD-3-Clause
// Every step of the way up is made to fail, one after the other: nothing may be left behind, not a byte of the heap,
// and the next try succeeds.
#include "core/runtime/runtime.h"
#include "mpi/library/world.h"
#include "tests/init/footprint.h"
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

// Nothing here may stand on the heap while the footprint is taken, and setenv() never gives back what it has taken.
char parameter[40] = "PATCHBAY_MCA_fault_step=00";
char failure[1000];

bool singleton = false;

// The step that failed is named in `failure`; false: nothing failed.
bool fails_with(int fault_step) {
    std::snprintf(parameter, sizeof parameter, "PATCHBAY_MCA_fault_step=%u", unsigned(fault_step) % 100);
    patchbay::Library root;
    if (const patchbay::Status started = root.world().init(MPI_THREAD_SINGLE); !started) {
        CHECK(!root.world().initialized() && root.instance() == nullptr && root.core() == nullptr);
        std::snprintf(failure, sizeof failure, "%s", started.error().text.c_str());
        return true;
    }
    singleton = root.instance()->runtime().is_singleton();
    CHECK(bool(root.instance()->runtime().fence({}, false))); // all processes have left the world before
    int size = 0;
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS &&
        size == int(root.instance()->communicators().find(0)->size));
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(root.world().finalize() == MPI_SUCCESS);
    return false;
}

// Whether nothing of ours is among the bytes that the heap has grown by. A block that PMIx loses is 16 bytes larger
// where malloc takes a free one whose remainder would be too small for a block. A singleton, where PMIx loses nothing,
// goes through the same steps and may not grow at all.
[[maybe_unused]] bool is_not_ours(long growth) {
    constexpr long remainders = 2 * 16;
    return growth <= 0 ||
        (!singleton && (growth < 32 || (growth >= lost_by_pmix && growth <= lost_by_pmix + remainders)));
}

bool is_equal(const Footprint& now, const Footprint& before) {
#ifdef __SANITIZE_ADDRESS__
    // Its allocator has mappings of its own, and its leak check looks at the heap when the process ends.
    return now.descriptors == before.descriptors && now.threads == before.threads;
#else
    return now.descriptors == before.descriptors && now.threads == before.threads && now.mappings <= before.mappings &&
        now.mapped_kib <= before.mapped_kib && is_not_ours(now.heap_bytes - before.heap_bytes);
#endif
}

void expect_equal(const Footprint& before, int step) {
    Footprint now = Footprint::now();
    // The PMIx library's thread, which a singleton does not have, may still give back what it has used.
    for (int tries = 0; tries < 2000 && !singleton && !is_equal(now, before); ++tries) {
        usleep(1000);
        now = Footprint::now();
    }
    if (!is_equal(now, before)) {
        std::fprintf(stderr, "left behind by a failure of step %d\n", step);
        before.print("before");
        now.print("after");
        CHECK(false);
    }
}

} // namespace

int main() {
    putenv(parameter);
    CHECK(!fails_with(0));
    CHECK(!fails_with(0));
    int step = 1;
    for (;; ++step) {
        const Footprint before = Footprint::now();
        if (!fails_with(step)) {
            break;
        }
        if (std::strstr(failure, "was made to fail") == nullptr) {
            std::fprintf(stderr, "step %d: %s\n", step, failure);
            CHECK(false);
            break;
        }
        expect_equal(before, step);
        CHECK(!fails_with(0));
    }
    std::fprintf(stderr, "%d steps\n", step - 1);
    // The builder's own steps, the predefined communicators and MPI_INFO_ENV, at least.
    CHECK(step > 9);
    return failures();
}
