/* SPDX-License-Identifier: BSD-3-Clause */
/* More processes than a node can have are an error of MPI_Comm_spawn, and the run goes on. */
#include "tests/spawn/family.h"

int main(int argc, char** argv) {
    enum { processes = 70000 };
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&inter);
    if (inter == MPI_COMM_NULL) {
        CHECK_CLASS(MPI_Comm_spawn(self_path(), MPI_ARGV_NULL, processes, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                        MPI_ERRCODES_IGNORE),
            MPI_ERR_SPAWN);
        CHECK(inter == MPI_COMM_NULL);
        CHECK_OK(MPI_Comm_spawn(
            self_path(), MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    }
    CHECK_OK(MPI_Comm_disconnect(&inter));
    return finish();
}
