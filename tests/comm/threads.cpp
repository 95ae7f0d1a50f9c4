// SPDX-License-Identifier: BSD-3-Clause
// Several threads make and free communicators at once, each from a parent of its own.
#include "tests/mpi_check/check.h"

#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 4;
constexpr int rounds = 100;
std::atomic<int> wrong{0};

void use(MPI_Comm comm, int value) {
    int sum = 0;
    int size = 0;
    MPI_Comm_size(comm, &size);
    if (MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS || sum != size * value) {
        ++wrong;
    }
}

void work(MPI_Comm parent, int thread) {
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm dup = MPI_COMM_NULL;
        MPI_Comm half = MPI_COMM_NULL;
        int rank = 0;
        MPI_Comm_dup(parent, &dup);
        MPI_Comm_rank(dup, &rank);
        MPI_Comm_split(dup, rank % 2, 0, &half);
        use(dup, thread * 1000 + round);
        use(half, thread * 1000 + round);
        MPI_Comm_free(&half);
        MPI_Comm_free(&dup);
    }
}

// All threads make communicators of all processes from one parent at once; the tags of MPI_Comm_create_group differ.
void work_in_group(MPI_Group group, int thread) {
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_create_group(MPI_COMM_WORLD, group, thread, &comm);
        use(comm, thread * 1000 + round);
        MPI_Comm_free(&comm);
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    std::vector<MPI_Comm> parents(thread_count);
    for (MPI_Comm& parent : parents) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back(work, parents[std::size_t(t)], t);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    threads.clear();
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back(work_in_group, group, t);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    MPI_Group_free(&group);
    for (MPI_Comm& parent : parents) {
        MPI_Comm_free(&parent);
    }
    CHECK(wrong == 0);
    MPI_Finalize();
    return failures();
}
