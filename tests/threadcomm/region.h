// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// A parallel region of std::thread on a thread communicator, for the tests of this folder.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <thread>
#include <vector>

// The number of threads that a process has: not the same in all of them unless `uniform`.
inline int threads_of(int process, int threads, bool uniform) {
    return uniform ? threads : 1 + (process + threads - 1) % threads;
}

// What a rank of a thread communicator knows.
struct Here {
    MPI_Comm comm;
    int rank;
    int size;
    int thread; // of std::thread: not the order in which the ranks are
};

// Runs `body` on `threads` threads between start and finish.
template <class Body>
void run_threads(MPI_Comm comm, int threads, const Body& body) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
            CHECK_OK(MPIX_Threadcomm_start(comm));
            Here here{comm, -1, -1, i};
            CHECK_OK(MPI_Comm_rank(comm, &here.rank));
            CHECK_OK(MPI_Comm_size(comm, &here.size));
            body(here);
            CHECK_OK(MPIX_Threadcomm_finish(comm));
        });
    }
    for (std::thread& one : all) {
        one.join();
    }
}

// The same with a thread communicator of its own over MPI_COMM_WORLD.
template <class Body>
void in_region(int threads, bool uniform, const Body& body) {
    int process = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    const int mine = threads_of(process, threads, uniform);
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, mine, &comm));
    run_threads(comm, mine, body);
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
}
