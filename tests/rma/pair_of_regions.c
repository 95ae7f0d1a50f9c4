/* SPDX-License-Identifier: BSD-3-Clause */
/* The two members of a pair are attached each by itself: the hole between them belongs to no region. */
#include "tests/mpi_check/check.h"

#include <stddef.h>

struct pair {
    short value;
    int index;
};

int main(int argc, char** argv) {
    static struct pair memory = {7, 70};
    struct pair operand = {3, 30}, result = {0, 0};
    int rank, size;
    MPI_Win window;
    MPI_Aint place, places[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    CHECK_OK(MPI_Win_attach(window, &memory.value, sizeof memory.value));
    CHECK_OK(MPI_Win_attach(window, &memory.index, sizeof memory.index));
    MPI_Get_address(&memory, &place);
    MPI_Allgather(&place, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    const int target = (rank + 1) % size;
    CHECK_OK(MPI_Win_lock_all(0, window));
    CHECK_OK(MPI_Fetch_and_op(&operand, &result, MPI_SHORT_INT, target, places[target], MPI_MINLOC, window));
    CHECK_OK(MPI_Win_flush_all(window));
    CHECK_EQUAL(result.value, 7);
    CHECK_EQUAL(result.index, 70);
    CHECK_OK(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(memory.value, 3);
    CHECK_EQUAL(memory.index, 30);
    MPI_Win_free(&window);
    return finish();
}
