/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that end before they have called MPI_Init, with whichever status, are an error of MPI_Comm_spawn, and of
 * nothing else: the run goes on. */
#include "tests/spawn/family.h"

#include <unistd.h>

static void spawn(const char* script, int processes) {
    char* argv[] = {"-c", (char*)script, NULL};
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_CLASS(
        MPI_Comm_spawn("/bin/sh", argv, processes, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
        MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    spawn("exit 0", 1);
    spawn("exit 1", 1);
    spawn("sleep 0.2; exit 127", 2);
    spawn("kill -9 $$", 2);
    usleep(200000); /* mpirun has noticed all of them */
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
