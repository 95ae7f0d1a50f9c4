// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication against a sequential model: model [SEED [WINDOWS [STEPS]]]. Random windows, epochs,
// operations and datatypes, all derived from the seed; without one, or with 0, the time is the seed. The program prints
// the seed first, so that it is known after a time limit, too.
#include "tests/mpi_check/check.h"
#include "tests/rma/runner.h"

#include <algorithm>
#include <chrono>

namespace {

// So many windows take a job with a sanitizer some seconds, of which a test has tens, and with more processes than
// cores many more.
int affordable(int windows, int size) {
#ifdef __SANITIZE_ADDRESS__
    return size < 4 ? windows : size < 8 ? std::max(1, windows / 2) : std::max(1, windows / 6);
#else
    static_cast<void>(size);
    return windows;
#endif
}

bool run_window(std::uint64_t seed, int number, int steps, int size) {
    Plan plan(seed * 1000003u + std::uint64_t(number), size);
    MPI_Comm comm;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, plan.shape.backwards ? size - rank : rank, &comm);
    bool right = true;
    {
        Runner runner(plan, comm, seed + std::uint64_t(rank));
        for (int step = 0; step < steps && right; ++step) {
            const bool mine = runner.step();
            MPI_Allreduce(&mine, &right, 1, MPI_C_BOOL, MPI_LAND, comm);
            if (!mine) {
                std::fprintf(stderr, "seed %llu, window %d (flavor %d%s), step %d\n",
                    static_cast<unsigned long long>(seed), number, plan.shape.flavor,
                    plan.shape.no_locks ? ", no_locks" : "", step);
            }
        }
    }
    MPI_Comm_free(&comm);
    return right;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const int windows = affordable(argc > 2 ? std::atoi(argv[2]) : 24, size);
    const int steps = argc > 3 ? std::atoi(argv[3]) : 6;
    const int first = argc > 4 ? std::atoi(argv[4]) : 0;
    if (seed == 0) {
        seed = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count()) % 1000000000;
    }
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
        std::fflush(stdout);
    }
    bool right = true;
    for (int number = first; number < first + windows && right; ++number) {
        right = run_window(seed, number, steps, size);
    }
    CHECK(right);
    return finish();
}
