// SPDX-License-Identifier: BSD-3-Clause
// The library, world model included, is initialized and finalized a thousand times in one process, and holds no more
// resources afterwards. MPI_Init may be called once only, so every cycle has a root of its own. A message of one
// cycle's world cannot be distinguished from one of the next, so no process sends in a world before all have left the
// last one.
#include "core/runtime/runtime.h"
#include "mpi/library/world.h"
#include "tests/init/footprint.h"
#include "tests/mpi_check/check.h"

namespace {

constexpr int warm_up = 50;
constexpr int cycles = 1000;
// What the PMIx library's thread may be using at any time.
constexpr long busy_pmix = 4096;

void exchange() {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int got = -1;
    CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0,
              MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got == (rank + size - 1) % size);
    MPI_Comm dup;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup) == MPI_SUCCESS);
    CHECK(MPI_Barrier(dup) == MPI_SUCCESS);
    // Every other cycle does not free it: the library does that when it is finalized.
    static int turn = 0;
    if (++turn % 2 == 0) {
        CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
    }
}

bool singleton = false;

bool cycle() {
    patchbay::Library root;
    if (const patchbay::Status started = root.world().init(MPI_THREAD_MULTIPLE); !started) {
        std::fprintf(stderr, "%s\n", started.error().text.c_str());
        return false;
    }
    patchbay::Runtime& runtime = root.instance()->runtime();
    singleton = runtime.is_singleton();
    CHECK(bool(runtime.fence({}, false)));
    exchange();
    return root.world().finalize() == MPI_SUCCESS;
}

} // namespace

int main() {
    Footprint before = Footprint::now(); // the first look at oneself costs something, too
    for (int i = 0; i < warm_up + cycles; ++i) {
        if (i == warm_up) {
            before = Footprint::now();
        }
        if (!cycle()) {
            return 1;
        }
    }
    const Footprint after = Footprint::now();
    before.print("before");
    after.print("after");
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads == before.threads);
    CHECK(after.mappings <= before.mappings);
    CHECK(after.mapped_kib <= before.mapped_kib);
    CHECK(after.heap_bytes <= before.heap_bytes + (singleton ? 0 : lost_by_pmix * cycles + busy_pmix));
    return failures();
}
