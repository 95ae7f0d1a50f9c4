/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions against the world model. The argument chooses the figure:
     init     with MPI_Init: from main to a communicator of all ranks
              (start_up), and to the end of a barrier on it (first_barrier), which no rank leaves before the last
              rank has entered it, whether start-up or the barrier waits for that rank
     session  the same with MPI_Session_init, MPI_Group_from_session_pset("mpi://WORLD") and
              MPI_Comm_create_from_group
     create   create_from_group: that constructor and MPI_Comm_free, again and again
   The figure is that of the slowest rank. With a library older than MPI-4.0 `session` and `create` print nothing. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "repeat.h"
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void state_start_up(double start, MPI_Comm comm) {
    double mine[2], longest[2];
    int rank;
    mine[0] = 1e3 * (now() - start);
    MPI_Barrier(comm);
    mine[1] = 1e3 * (now() - start);
    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(mine, longest, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (rank == 0) {
        metric("start_up", longest[0], "ms", "lower");
        metric("first_barrier", longest[1], "ms", "lower");
    }
}

static int with_init(int argc, char** argv, double start) {
    MPI_Init(&argc, &argv);
    state_start_up(start, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

#if MPI_VERSION >= 4
static MPI_Comm create(MPI_Group group) {
    MPI_Comm comm;
    MPI_Comm_create_from_group(group, "bench.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    return comm;
}

static void create_free(void* context) {
    MPI_Comm comm = create(*(MPI_Group*)context);
    MPI_Comm_free(&comm);
}

static int with_session(int loop, double start) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm comm = create(group);
    if (loop) {
        const struct repeated what = {"create_from_group", create_free, NULL, &group, 5000};
        repeat(&what, comm);
    } else {
        state_start_up(start, comm);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
#else
static int with_session(int loop, double start) {
    (void)loop, (void)start;
    return 0;
}
#endif

int main(int argc, char** argv) {
    const double start = now();
    const char* figure = argc > 1 ? argv[1] : "";
    if (strcmp(figure, "init") == 0) {
        return with_init(argc, argv, start);
    }
    if (strcmp(figure, "session") == 0 || strcmp(figure, "create") == 0) {
        return with_session(strcmp(figure, "create") == 0, start);
    }
    fprintf(stderr, "usage: sessions init|session|create\n");
    return 2;
}
