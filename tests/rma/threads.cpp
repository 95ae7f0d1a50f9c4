// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: threads [ROUNDS]. Threads of each rank operate in one lock_all epoch, lock different targets of
// one window, and use windows of their own, all at once.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int cells = 64; // of each thread of each rank
int rank, size, rounds;

template <class Work>
void in_threads(Work&& work) {
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&work, thread] { work(thread); });
    }
    for (std::thread& one : all) {
        one.join();
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int value_of(int from, int thread, int round, int cell) {
    return from * 1000003 + thread * 10007 + round * 101 + cell;
}

// Counter 0, and behind it the cells of each thread of each rank.
int cells_of(int from, int thread) {
    return 1 + (from * threads + thread) * cells;
}

// Operations of one lock_all epoch: each thread writes its own cells of each target, reads them back, and adds to a
// counter.
void common_epoch(MPI_Win window) {
    MPI_Win_lock_all(0, window);
    in_threads([window](int thread) {
        for (int round = 0; round < rounds; ++round) {
            const int target = (rank + round + thread) % size;
            int out[cells], in[cells] = {}, one = 1, old = -1;
            for (int cell = 0; cell < cells; ++cell) {
                out[cell] = value_of(rank, thread, round, cell);
            }
            const int place = cells_of(rank, thread);
            MPI_Request request;
            MPI_Rput(out, cells, MPI_INT, target, place, cells, MPI_INT, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Win_flush(target, window);
            MPI_Rget(in, cells, MPI_INT, target, place, cells, MPI_INT, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(std::equal(in, in + cells, out));
            MPI_Fetch_and_op(&one, &old, MPI_INT, target, 0, MPI_SUM, window);
            MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window);
            MPI_Win_flush(target, window);
            CHECK(old >= 0);
        }
    });
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
}

void check_counters(MPI_Win window, int wanted) {
    int total = 0, sum = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    MPI_Get(&total, 1, MPI_INT, rank, 0, 1, MPI_INT, window);
    MPI_Win_unlock(rank, window);
    MPI_Allreduce(&total, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, wanted);
}

// Thread t locks the targets whose rank is t modulo the number of threads: no two threads use one target.
void locks_of_targets(MPI_Win window) {
    in_threads([window](int thread) {
        for (int round = 0; round < rounds; ++round) {
            for (int target = thread; target < size; target += threads) {
                int value = -1;
                MPI_Win_lock(round % 3 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, window);
                if (round % 3 != 0) {
                    MPI_Get(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
                    MPI_Win_flush(target, window);
                    ++value;
                    MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
                }
                MPI_Win_unlock(target, window);
            }
        }
    });
}

// Each thread uses a window of its own: fences, locks, and the constructor, beside the other threads.
void own_windows() {
    std::vector<MPI_Comm> comms;
    comms.resize(threads);
    for (MPI_Comm& comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    in_threads([&comms](int thread) {
        const MPI_Comm comm = comms[std::size_t(thread)];
        for (int time = 0; time < 5; ++time) {
            MPI_Win window;
            int* values;
            MPI_Win_allocate(MPI_Aint(sizeof(int)) * size, sizeof(int), MPI_INFO_NULL, comm, &values, &window);
            for (int round = 0; round < 10; ++round) {
                const int value = value_of(rank, thread, round, time);
                MPI_Win_fence(0, window);
                for (int target = 0; target < size; ++target) {
                    MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, window);
                }
                MPI_Win_fence(0, window);
                for (int from = 0; from < size; ++from) {
                    CHECK_EQUAL(values[from], value_of(from, thread, round, time));
                }
            }
            MPI_Win_free(&window);
        }
    });
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        std::printf("SKIPPED: threads: MPI_THREAD_MULTIPLE is not provided\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? std::atoi(argv[1]) : 60;
    for (const bool allocated : {true, false}) {
        const int count = cells_of(size, 0);
        std::vector<int> own;
        own.resize(std::size_t(count));
        int* base = own.data();
        MPI_Win window;
        if (allocated) {
            MPI_Win_allocate(MPI_Aint(sizeof(int)) * count, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
            std::fill(base, base + count, 0);
            MPI_Win_unlock(rank, window);
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            MPI_Win_create(base, MPI_Aint(sizeof(int)) * count, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        }
        common_epoch(window);
        const int after_epoch = 2 * rounds * threads * size;
        check_counters(window, after_epoch);
        MPI_Barrier(MPI_COMM_WORLD);
        locks_of_targets(window);
        check_counters(window, after_epoch + (rounds - (rounds + 2) / 3) * size * size);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&window);
    }
    own_windows();
    return finish();
}
