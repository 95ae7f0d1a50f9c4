/* SPDX-License-Identifier: BSD-3-Clause */
/* Parents that leave while their children work, without MPI_Comm_disconnect; and children that leave first. The
 * children get what the parents have sent, and spawn children of their own afterwards. */
#include "tests/spawn/family.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { small = 10, large = 1 << 20 };

static int rank;

static void doze(void) {
    const struct timespec time = {0, 100 * 1000 * 1000};
    nanosleep(&time, NULL);
}

static void send_to_all(MPI_Comm inter, int children) {
    int* values = calloc(large, sizeof *values);
    for (int i = 0; i < large; ++i) {
        values[i] = i;
    }
    for (int peer = 0; rank == 0 && peer < children; ++peer) {
        CHECK_OK(MPI_Send(values, small, MPI_INT, peer, 1, inter));
        CHECK_OK(MPI_Send(values, large, MPI_INT, peer, 2, inter));
        CHECK_OK(MPI_Send(values, small, MPI_INT, peer, 3, inter));
    }
    free(values);
}

static void receive(MPI_Comm parent, int count, int tag) {
    int* values = calloc(large, sizeof *values);
    CHECK_OK(MPI_Recv(values, count, MPI_INT, 0, tag, parent, MPI_STATUS_IGNORE));
    CHECK_EQUAL(values[count - 1], count - 1);
    free(values);
}

static int child(const char* what, MPI_Comm parent) {
    if (strcmp(what, "first") == 0) { /* the children end at once */
        return finish();
    }
    receive(parent, small, 1);
    receive(parent, large, 2);
    doze(); /* the parents are in MPI_Finalize, or gone */
    receive(parent, small, 3);
    if (strcmp(what, "spawn") == 0) {
        char* argv[] = {"last", NULL};
        MPI_Comm inter = MPI_COMM_NULL;
        CHECK_OK(MPI_Comm_spawn(self_path(), argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
        send_to_all(inter, 1);
    }
    return finish();
}

static void spawn(const char* what, int children) {
    char* argv[] = {(char*)what, NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK_OK(
        MPI_Comm_spawn(self_path(), argv, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    if (strcmp(what, "first") == 0) {
        MPI_Comm_free(&inter);
        doze();
    } else {
        send_to_all(inter, children);
    }
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        return child(argv[1], parent);
    }
    spawn("first", 2);
    spawn("spawn", 2);
    return finish();
}
