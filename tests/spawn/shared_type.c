/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a communicator of MPI_COMM_TYPE_SHARED, or of the resource type mpi_shared_memory, have memory in
 * common, of whatever jobs they are. */
#include "tests/spawn/family.h"

#include <string.h>

/* `processes`: how many of them have memory in common. */
static void check_memory(MPI_Comm comm, int processes) {
    MPI_Win window;
    int *memory, rank, size, sum = 0;
    CHECK(comm != MPI_COMM_NULL);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_EQUAL(size, processes);
    CHECK_OK(MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &window));
    *memory = rank;
    CHECK_OK(MPI_Win_fence(0, window));
    for (int i = 0; i < size; ++i) {
        MPI_Aint bytes;
        int unit, *theirs;
        CHECK_OK(MPI_Win_shared_query(window, i, &bytes, &unit, &theirs));
        sum += *theirs;
    }
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Win_fence(0, window));
    CHECK_OK(MPI_Win_free(&window));
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Comm family, shared;
    MPI_Info info;
    int processes;
    MPI_Init(&argc, &argv);
    MPI_Comm merged = merge_with_children(2, &family);
    /* `file`: each job has a segment of its own. */
    const int is_one = strcmp(getenv("PATCHBAY_MCA_shm_backing"), "file") != 0;
    MPI_Comm_size(is_one ? merged : MPI_COMM_WORLD, &processes);
    CHECK_OK(MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared));
    check_memory(shared, processes);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    CHECK_OK(MPI_Comm_split_type(merged, MPI_COMM_TYPE_HW_GUIDED, 0, info, &shared));
    check_memory(shared, processes);
    MPI_Info_free(&info);
    MPI_Comm_free(&merged);
    CHECK_OK(MPI_Comm_disconnect(&family));
    return finish();
}
