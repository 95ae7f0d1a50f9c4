// SPDX-License-Identifier: BSD-3-Clause
// Windows that are made, used and freed leave nothing behind, and nothing runs while there is none.
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <fstream>
#include <malloc.h>
#include <string>
#include <vector>

namespace {

int rank, size;

long resident_kib() {
    malloc_trim(0);
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) {
            return std::stol(line.substr(6));
        }
    }
    return 0;
}

void use_a_window(std::vector<int>& memory, MPI_Datatype type) {
    MPI_Win win;
    CHECK_OK(MPI_Win_create(
        memory.data(), MPI_Aint(memory.size() * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    const int next = (rank + 1) % size;
    const std::vector<int> data(2000, rank);
    std::vector<int> back(2000, -1);
    MPI_Win_fence(0, win);
    MPI_Put(data.data(), 2000, MPI_INT, next, 0, 2000, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Get(back.data(), 2000, MPI_INT, next, 0, 2000, MPI_INT, win);
    MPI_Put(data.data(), 10, MPI_INT, next, 2000, 1, type, win);
    MPI_Win_unlock(next, win);
    CHECK_EQUAL(back[1999], rank);
    CHECK_OK(MPI_Win_free(&win));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> memory(4000);
    MPI_Datatype type;
    MPI_Type_vector(10, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 100; ++i) {
        use_a_window(memory, type);
    }
    const long before = resident_kib();
    for (int i = 0; i < 1000; ++i) {
        use_a_window(memory, type);
    }
    const long grown = resident_kib() - before;
    if (grown > 512) {
        std::fprintf(stderr, "1000 windows have left %ld KiB\n", grown);
        check_failed(__FILE__, __LINE__, "windows leave no memory behind");
    }
    MPI_Type_free(&type);
    return finish();
}
