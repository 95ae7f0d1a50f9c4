/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that mpi_cleanup_test.py kills: mpi_rank PID_FILE WHAT. It uses shared memory, writes its process id
 * and its parent's to PID_FILE.RANK, and then runs for ever with WHAT: "receive" (each rank waits for a message that
 * no rank sends), "messages" (large and small ones go round), "barrier", "groups" (the constructor of communicators
 * from groups; the last rank takes no part, so that all others wait in it), or "spawn" (two more processes, whose ranks
 * in the names of files follow those of the parents, exchange messages with these). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { bytes = 1 << 20 };

static int rank, size;

static void go_round(int n) {
    static char out[bytes], in[bytes];
    MPI_Sendrecv(out, n, MPI_BYTE, (rank + 1) % size, 1, in, n, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE);
}

/* All at once, so that a reader never sees half of it. */
static void write_pid(const char* file, int number) {
    char name[4096], made[4200];
    snprintf(name, sizeof name, "%s.%d", file, number);
    snprintf(made, sizeof made, "%s.tmp", name);
    FILE* out = fopen(made, "w");
    if (out == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    fprintf(out, "%d %d\n", (int)getpid(), (int)getppid());
    fclose(out);
    rename(made, name);
}

static void make_from_group(void) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    if (rank + 1 < size) {
        MPI_Comm_create_from_group(group, "tests://launch", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    }
    for (;;) {
        pause();
    }
}

/* The parents and their children, which are started with a third argument. */
static void be_a_family(char** argv) {
    char* words[] = {argv[1], argv[2], "child", NULL};
    MPI_Comm inter, merged;
    MPI_Comm_get_parent(&inter);
    const int is_child = inter != MPI_COMM_NULL;
    if (!is_child) {
        MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    }
    MPI_Intercomm_merge(inter, is_child, &merged);
    MPI_Comm_rank(merged, &rank);
    write_pid(argv[1], rank);
    for (;;) {
        MPI_Barrier(merged);
        MPI_Barrier(inter);
    }
}

int main(int argc, char** argv) {
    int value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    go_round(bytes); /* segments, single copy and what else a message needs are there */
    const char* what = argv[2];
    if (strcmp(what, "spawn") == 0) {
        be_a_family(argv);
    }
    write_pid(argv[1], rank);
    if (strcmp(what, "receive") == 0) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "groups") == 0) {
        make_from_group();
    }
    for (;;) {
        if (strcmp(what, "barrier") == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            go_round(8);
            go_round(bytes);
        }
    }
}
