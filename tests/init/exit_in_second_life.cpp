// SPDX-License-Identifier: BSD-3-Clause
// A process that has used MPI before and uses it again exits without finalizing: the launcher must not take it for one
// that has done its part, or the others would wait for it for ever.
#include "core/runtime/runtime.h"
#include "mpi/library/world.h"

#include <cstdio>
#include <cstdlib>

namespace {

bool init(patchbay::Library& root) {
    const patchbay::Status started = root.world().init(MPI_THREAD_SINGLE);
    if (!started) {
        std::fprintf(stderr, "%s\n", started.error().text.c_str());
    }
    return bool(started);
}

} // namespace

int main() {
    {
        patchbay::Library first;
        if (!init(first) || first.world().finalize() != MPI_SUCCESS) {
            return 2;
        }
    }
    static patchbay::Library& second = *new patchbay::Library; // never finalized, and not destroyed, as the real root
    if (!init(second) || !second.instance()->runtime().fence({}, false)) {
        return 2;
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        std::exit(7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 3; // rank 1 was not waited for
}
