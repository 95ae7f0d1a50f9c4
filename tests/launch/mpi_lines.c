/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program for mpi_lines_test.py: a rank writes a part of a line before it spawns a process, which writes a line,
 * and its rest after that. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&other);
    if (other == MPI_COMM_NULL) {
        printf("the beginning");
        fflush(stdout);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
        MPI_Barrier(other);
        puts("the rest");
    } else {
        puts("a line");
        fflush(stdout);
        MPI_Barrier(other);
    }
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
}
