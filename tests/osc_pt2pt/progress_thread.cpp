// SPDX-License-Identifier: BSD-3-Clause
// osc_pt2pt_progress=thread: targets that compute, and call nothing, still serve their origins; the thread sleeps while
// nothing happens, and is gone with the last window. With argument `none` there is no thread.
#define _GNU_SOURCE 1
#include "tests/mpi_check/check.h"
#include "tests/mpi_check/shared_ints.h"

#include <chrono>
#include <ctime>
#include <dirent.h>
#include <string_view>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

int rank, size;

int threads() {
    int count = 0;
    DIR* tasks = opendir("/proc/self/task");
    while (const dirent* entry = readdir(tasks)) {
        count += entry->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

double cpu_seconds() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Rank 0 calls no function of MPI until the others have finished their epochs.
void compute_meanwhile(int* done, bool threaded) {
    long long* memory = nullptr;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(8 * sizeof(long long), sizeof(long long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (threaded) {
            const auto limit = Clock::now() + std::chrono::seconds(30);
            while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < size - 1 && Clock::now() < limit) {
                usleep(100);
            }
            CHECK_EQUAL(__atomic_load_n(done, __ATOMIC_ACQUIRE), size - 1);
        }
    } else {
        for (int i = 0; i < 100; ++i) {
            const long long one = 1;
            long long before = -1;
            MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
            CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG_LONG, 0, 0, MPI_SUM, win));
            CHECK_OK(MPI_Win_unlock(0, win));
            CHECK(before >= 0);
        }
        __atomic_fetch_add(done, 1, __ATOMIC_ACQ_REL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK_EQUAL(memory[0], 100LL * (size - 1));
        MPI_Win_unlock(0, win);
    }
    CHECK_OK(MPI_Win_free(&win));
}

void sleeps_when_idle() {
    int number = 0;
    MPI_Win win;
    CHECK_OK(MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    const double before = cpu_seconds();
    usleep(1000000);
    const double used = cpu_seconds() - before;
    if (used > 0.1) {
        fprintf(stderr, "an idle second took %f s of processor time\n", used);
        check_failed(__FILE__, __LINE__, "the progress thread sleeps");
    }
    CHECK_OK(MPI_Win_free(&win));
}

// Windows that overlap share the thread.
void comes_and_goes(bool threaded) {
    const int before = threads();
    int numbers[2] = {0, 0};
    MPI_Win first, second;
    for (int i = 0; i < 10; ++i) {
        MPI_Win_create(&numbers[0], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &first);
        MPI_Win_create(&numbers[1], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
        CHECK_EQUAL(threads(), before + (threaded ? 1 : 0));
        MPI_Win_free(&first);
        CHECK_EQUAL(threads(), before + (threaded ? 1 : 0));
        MPI_Win_free(&second);
        CHECK_EQUAL(threads(), before);
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool threaded = argc < 2 || std::string_view(argv[1]) != "none";
    int* done = shared_ints(MPI_COMM_WORLD, 1);
    compute_meanwhile(done, threaded);
    sleeps_when_idle();
    comes_and_goes(threaded);
    return finish();
}
