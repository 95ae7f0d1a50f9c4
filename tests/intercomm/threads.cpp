// SPDX-License-Identifier: BSD-3-Clause
// Several threads make, use and free intercommunicators at once, each from parents of its own.
#include "tests/intercomm/sides.h"

#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 4;
constexpr int rounds = 40;
std::atomic<int> wrong{0};

void use(MPI_Comm inter, int value) {
    int got = -1;
    int size = 0;
    MPI_Comm_remote_size(inter, &size);
    if (MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, inter) != MPI_SUCCESS || got != value * size) {
        ++wrong;
    }
}

// The threads share the peer communicator and use different tags.
void work(MPI_Comm local, int leader, int thread) {
    for (int round = 0; round < rounds; ++round) {
        const int value = 1000 * thread + round;
        MPI_Comm inter = MPI_COMM_NULL;
        MPI_Comm dup = MPI_COMM_NULL;
        MPI_Comm merged = MPI_COMM_NULL;
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, leader, thread, &inter);
        MPI_Comm_dup(inter, &dup);
        use(inter, value);
        MPI_Intercomm_merge(inter, leader == 0, &merged);
        MPI_Comm_free(&inter);
        use(dup, value + 1);
        int sum = 0;
        int size = 0;
        MPI_Comm_size(merged, &size);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, merged);
        wrong += sum != value * size;
        MPI_Comm_free(&merged);
        MPI_Comm_free(&dup);
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    int rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool first = rank == 0;
    std::vector<MPI_Comm> locals(thread_count);
    for (MPI_Comm& local : locals) {
        MPI_Comm_split(MPI_COMM_WORLD, first, 0, &local);
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back(work, locals[std::size_t(t)], first ? 1 : 0, t);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    for (MPI_Comm& local : locals) {
        MPI_Comm_free(&local);
    }
    MPI_Finalize();
    return failures();
}
