// SPDX-License-Identifier: BSD-3-Clause
// All ranks lock the window of rank 0 for a fixed time: fairness [SECONDS]. Nobody starves: no rank acquires the lock
// more than a few times as often as another, whoever's memory it is, and an exclusive lock is acquired while others
// hold shared ones all the time. Ranks that wait leave the cores to the others: the job makes progress with more ranks
// than cores.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int rank, size;
double seconds = 1.0;
MPI_Win window;

struct Acquired {
    long count = 0;
    double longest = 0; // the longest wait, in seconds
};

// Each rank makes up its mind on its own clock, so that nobody waits for others between the locks.
template <class Lock>
Acquired contend(Lock&& lock) {
    Acquired acquired;
    MPI_Barrier(MPI_COMM_WORLD);
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
        const double start = MPI_Wtime();
        lock();
        acquired.longest = std::max(acquired.longest, MPI_Wtime() - start);
        ++acquired.count;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return acquired;
}

void exclusive() {
    long value;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
}

void shared() {
    long old;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
}

void all_shared() {
    MPI_Win_lock_all(0, window);
    MPI_Win_unlock_all(window);
}

std::vector<long> gathered(long mine) {
    std::vector<long> all{};
    all.resize(std::size_t(size));
    MPI_Allgather(&mine, 1, MPI_LONG, all.data(), 1, MPI_LONG, MPI_COMM_WORLD);
    return all;
}

void report(const char* what, const std::vector<long>& counts, double longest) {
    double worst;
    MPI_Reduce(&longest, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%s: %ld to %ld acquisitions, the longest wait %.1f ms\n", what,
            *std::min_element(counts.begin(), counts.end()), *std::max_element(counts.begin(), counts.end()),
            worst * 1e3);
    }
}

// The rank that owns the memory, and with it the lock, may be a little faster, but not much.
void check_even(const char* what, const std::vector<long>& counts) {
    const long least = *std::min_element(counts.begin(), counts.end());
    const long most = *std::max_element(counts.begin(), counts.end());
    if (least * 20 < most || least < 3) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            std::fprintf(stderr, "%s: rank %zu has acquired the lock %ld times\n", what, i, counts[i]);
        }
        CHECK_TEXT(false, "a rank starves");
    }
}

void check_writer(const char* what, void (*reader)()) {
    const Acquired mine = contend(rank == size - 1 ? exclusive : reader);
    const std::vector<long> counts = gathered(mine.count);
    report(what, counts, mine.longest);
    if (rank == 0 && size > 1) {
        CHECK(counts.back() >= 3);
        CHECK(*std::min_element(counts.begin(), counts.end()) >= 3);
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seconds = argc > 1 ? std::atof(argv[1]) : seconds;
    long* counter;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    *counter = 0;
    MPI_Win_unlock(rank, window);

    const Acquired mine = contend(exclusive);
    const std::vector<long> counts = gathered(mine.count);
    report("exclusive", counts, mine.longest);
    if (rank == 0) {
        check_even("exclusive", counts);
        long total = 0;
        for (const long count : counts) {
            total += count;
        }
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        CHECK_EQUAL(*counter, total);
        MPI_Win_unlock(0, window);
    }
    check_writer("one writer among readers", shared);
    check_writer("one writer among MPI_Win_lock_all", all_shared);
    MPI_Win_free(&window);
    return finish();
}
