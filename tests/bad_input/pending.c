/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize with operations that can never end: it says which, and on which communicators, and ends all the same.
 * Operations that end by themselves, and requests that the program has not completed, are not among them. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char* printed(FILE* file) {
    static char text[4096];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    return text;
}

int main(int argc, char** argv) {
    static int value[3];
    MPI_Request receives[2], sent;
    MPI_Comm quiet, lost;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    MPI_Comm_dup(MPI_COMM_WORLD, &lost);
    MPI_Comm_set_name(quiet, "quiet");
    MPI_Comm_set_name(lost, "lost");
    /* These end: a send whose request is freed, and one that is received. */
    CHECK_OK(MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, quiet, &sent));
    CHECK_OK(MPI_Request_free(&sent));
    CHECK_OK(MPI_Recv(&value[0], 1, MPI_INT, (rank + size - 1) % size, 1, quiet, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    const int nothing = argc > 1 && strcmp(argv[1], "none") == 0;
    if (!nothing) {
        CHECK_OK(MPI_Irecv(&value[1], 1, MPI_INT, MPI_ANY_SOURCE, 4711, lost, &receives[0]));
        CHECK_OK(MPI_Irecv(&value[2], 1, MPI_INT, rank, 4712, lost, &receives[1]));
    }
    FILE* file = tmpfile();
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    CHECK_OK(MPI_Finalize());
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    const char* text = printed(file);
    if (nothing) {
        CHECK_TEXT(text[0] == 0, text);
    } else {
        char wanted[200];
        snprintf(wanted, sizeof wanted,
            "lost are pending and can never end: a receive from MPI_ANY_SOURCE, tag 4711; "
            "a receive from rank %d, tag 4712;",
            rank);
        CHECK_TEXT(strstr(text, "MPI_Finalize: 2 operations on") != NULL && strstr(text, wanted) != NULL, text);
        CHECK_TEXT(strstr(text, "quiet") == NULL, text);
    }
    fclose(file);
    return failures();
}
