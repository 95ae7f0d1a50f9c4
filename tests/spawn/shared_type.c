/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a communicator of MPI_COMM_TYPE_SHARED, or of the resource type mpi_shared_memory, have memory in
 * common, of whatever jobs they are. */
#include "tests/spawn/family.h"

static void check_memory(MPI_Comm comm, const char* what) {
    MPI_Win window;
    int *memory, rank, size, sum = 0;
    CHECK_TEXT(comm != MPI_COMM_NULL, what);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
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
    MPI_Comm family, merged, shared;
    MPI_Info info;
    int processes;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&family);
    const int is_child = family != MPI_COMM_NULL;
    if (!is_child) {
        CHECK_OK(MPI_Comm_spawn(
            self_path(), MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &family, MPI_ERRCODES_IGNORE));
    }
    CHECK_OK(MPI_Intercomm_merge(family, is_child, &merged));
    CHECK_OK(MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared));
    MPI_Comm_size(shared, &processes);
    CHECK(processes >= (is_child ? 2 : 1)); /* those of a job of this node have memory in common in any case */
    check_memory(shared, "MPI_COMM_TYPE_SHARED");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    CHECK_OK(MPI_Comm_split_type(merged, MPI_COMM_TYPE_HW_GUIDED, 0, info, &shared));
    check_memory(shared, "mpi_shared_memory");
    MPI_Info_free(&info);
    MPI_Comm_free(&merged);
    CHECK_OK(MPI_Comm_disconnect(&family));
    return finish();
}
