/* SPDX-License-Identifier: BSD-3-Clause */
/* A process with a child of fork(), which has duplicates of its descriptors, when a process to which it had connections
   ends: a wait sleeps still. */
#include "tests/mpi_check/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double wait_for_message(void) {
    int value;
    const clock_t begin = clock();
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, value = 1;
    MPI_Comm parent, child;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, parent));
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_disconnect(&parent));
    } else if (rank == 1) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sleep(2);
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
    } else {
        CHECK_OK(
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE));
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE));
        const pid_t forked = fork();
        if (forked == 0) {
            pause();
            _exit(0);
        }
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, child));
        CHECK_OK(MPI_Comm_disconnect(&child));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
        CHECK(wait_for_message() < 1); /* of the processor, of two seconds */
        kill(forked, SIGKILL);
        waitpid(forked, NULL, 0);
    }
    MPI_Finalize();
    return failures();
}
