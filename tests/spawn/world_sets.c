/* SPDX-License-Identifier: BSD-3-Clause */
/* Each job has a set mpi://WORLD of its own: MPI_Comm_split_type by it gives a communicator for each of them. */
#include "tests/mpi_check/check.h"

int main(int argc, char** argv) {
    MPI_Comm parent, inter, both, part;
    MPI_Info info;
    int world, size, compared;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_get_parent(&parent);
    inter = parent;
    if (parent == MPI_COMM_NULL) {
        CHECK_OK(
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    }
    CHECK_OK(MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &both));
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    CHECK_OK(MPI_Comm_split_type(both, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part));
    CHECK_OK(MPI_Comm_size(part, &size));
    CHECK_EQUAL(size, world);
    CHECK_OK(MPI_Comm_compare(part, MPI_COMM_WORLD, &compared));
    CHECK_EQUAL(compared, MPI_CONGRUENT);
    MPI_Comm_free(&part);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    CHECK_OK(MPI_Comm_split_type(both, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part));
    CHECK_OK(MPI_Comm_size(part, &size));
    CHECK_EQUAL(size, 1);
    MPI_Comm_free(&part);
    MPI_Info_free(&info);
    MPI_Comm_free(&both);
    MPI_Comm_free(&inter);
    return finish();
}
