// SPDX-License-Identifier: BSD-3-Clause
// Many origins send one target more operations than it can take while it computes: its memory does not grow with them,
// and all arrive. Then the same with locks, which the target holds up.
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

int rank, size;
constexpr int operations = 4000;
constexpr int ints_each = 256; // 1 KiB in the control message

long resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return std::stol(line.substr(6));
        }
    }
    return 0;
}

void puts_and_sums(MPI_Win win, long long* memory) {
    if (rank == 0) {
        usleep(200000); // all origins have used up their credits
    }
    const std::vector<int> data(ints_each, rank);
    const long long one = 1;
    const long before = resident_kib();
    if (rank != 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (int i = 0; i < operations; ++i) {
            MPI_Put(data.data(), ints_each, MPI_INT, 0, MPI_Aint(1 + 128 * rank), ints_each, MPI_INT, win);
            MPI_Accumulate(&one, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_SUM, win);
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK_EQUAL(memory[0], (long long)(size - 1) * operations);
        for (int origin = 1; origin < size; ++origin) {
            int last;
            std::memcpy(&last, &memory[1 + 128 * origin + 127], sizeof last);
            CHECK_EQUAL(last, origin);
        }
        MPI_Win_unlock(0, win);
        // All the data together is size * 4 MiB.
        const long grown = resident_kib() - before;
        if (grown > 16 * 1024) {
            std::fprintf(stderr, "the target has grown by %ld KiB\n", grown);
            check_failed(__FILE__, __LINE__, "the memory of the target is bounded");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// The operations wait at the target until it gives back its own lock.
void behind_a_lock(MPI_Win win, long long* memory) {
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        memory[0] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const long long one = 1;
    if (rank != 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        long long before = -1, after = -1;
        for (int i = 0; i < 300; ++i) {
            MPI_Accumulate(&one, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_SUM, win);
            if (i == 0) {
                MPI_Get_accumulate(
                    nullptr, 0, MPI_LONG_LONG, &before, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_NO_OP, win);
            }
        }
        MPI_Fetch_and_op(nullptr, &after, MPI_LONG_LONG, 0, 0, MPI_NO_OP, win);
        MPI_Win_unlock(0, win);
        CHECK_EQUAL(after - before, 299); // no other origin came between
        CHECK_EQUAL(before % 300, 1);
    } else {
        for (int i = 0; i < 20; ++i) {
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); // the messages are handled
            usleep(5000);
        }
        CHECK_EQUAL(memory[0], 0);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK_EQUAL(memory[0], 300LL * (size - 1));
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// The process that has the memory waits in the same queue as the others.
void one_lock_for_all(MPI_Win win, long long* memory) {
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        memory[0] = 0;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100; ++i) {
        long long value = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win);
        MPI_Win_flush(0, win);
        ++value;
        MPI_Put(&value, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK_EQUAL(memory[0], 100LL * size);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<long long> memory(std::size_t(1 + 128 * (size + 1)), 0);
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory.data(), MPI_Aint(memory.size() * sizeof(long long)), sizeof(long long),
        MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    puts_and_sums(win, memory.data());
    behind_a_lock(win, memory.data());
    one_lock_for_all(win, memory.data());
    CHECK_OK(MPI_Win_free(&win));
    return finish();
}
