/* SPDX-License-Identifier: BSD-3-Clause */
/* mpirun --no-oversubscribe: more processes than there are cores are an error. */
#include "tests/spawn/family.h"

#include <string.h>

int main(int argc, char** argv) {
    enum { processes = 5000 };
    static int codes[processes];
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int code =
        MPI_Comm_spawn(self_path(), MPI_ARGV_NULL, processes, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_CLASS(code, MPI_ERR_SPAWN);
    CHECK_EQUAL(codes[processes - 1], MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Error_string(code, text, &length);
    CHECK_TEXT(strstr(text, "--no-oversubscribe") != NULL, text);
    return finish();
}
