/* SPDX-License-Identifier: BSD-3-Clause */
/* A program has closed the descriptors that it was started with, and opened files of its own: the library does not take
 * one of them for the descriptor that mpirun announces, and leaves them alone. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { files = 40 };

int main(int argc, char** argv) {
    static const char data[] = "of the program";
    const int is_empty = argc > 1 && strcmp(argv[1], "empty") == 0;
    int opened[files];
    for (int i = 3; i < files; ++i) {
        close(i);
    }
    for (int i = 0; i < files; ++i) {
        char name[] = "/tmp/reused_descriptors.XXXXXX";
        opened[i] = mkstemp(name);
        CHECK(opened[i] >= 0);
        unlink(name);
        CHECK(is_empty || write(opened[i], data, sizeof data) == sizeof data);
    }
    MPI_Session session;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS);
    for (int i = 0; i < files; ++i) {
        struct stat file;
        CHECK_EQUAL(fstat(opened[i], &file), 0);
        CHECK_EQUAL(file.st_size, is_empty ? 0 : (long)sizeof data);
        CHECK_EQUAL(fcntl(opened[i], F_GETFD), 0);
    }
    return failures();
}
