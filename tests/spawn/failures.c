/* SPDX-License-Identifier: BSD-3-Clause */
/* A spawned process fails, and the others go on (mpirun --enable-recovery): what waits for it returns an error. A
 * process that was killed in the middle of MPI_Init ends the spawn with an error, too, and one that was killed in the
 * middle of the spawn ends the MPI_Init of its children. */
#include "tests/spawn/family.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static int child(const char* what) {
    MPI_Comm parent = MPI_COMM_NULL;
    int value = 0, child_rank = 0;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &child_rank);
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE));
    if (child_rank == 0 || strcmp(what, "all") == 0) {
        kill(getpid(), SIGKILL);
    }
    CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 3, parent));
    MPI_Comm merged = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_merge(parent, 1, &merged) != MPI_SUCCESS);
    MPI_Comm_disconnect(&parent);
    return finish();
}

static void check(const char* what) {
    char* argv[] = {(char*)what, NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    int value = 1;
    CHECK_OK(MPI_Comm_spawn(self_path(), argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (rank == 0) {
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 1, inter));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 1, 1, inter));
        CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        if (strcmp(what, "all") == 0) {
            CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        } else {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE));
        }
    }
    /* No process of this job waits for ever for one that has an error. */
    MPI_Comm merged = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_merge(inter, 0, &merged) != MPI_SUCCESS);
    CHECK(merged == MPI_COMM_NULL);
    MPI_Comm_disconnect(&inter);
    if (inter != MPI_COMM_NULL) {
        MPI_Comm_free(&inter);
    }
}

/* Started by a process that is in MPI_Comm_spawn, and kills it: MPI_Init must return. */
static int orphan(const char* parent) {
    kill((pid_t)atoi(parent), SIGKILL);
    CHECK(MPI_Init(NULL, NULL) != MPI_SUCCESS);
    return failures();
}

static int parent_of_orphans(void) {
    char pid[16];
    char* argv[] = {"orphan", pid, NULL};
    MPI_Info info;
    MPI_Comm inter;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_return");
    MPI_Comm_spawn(self_path(), argv, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    CHECK(0 && "it was to be killed");
    return finish();
}

static void check_orphans(void) {
    char* argv[] = {"parent", NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    int value = 1;
    CHECK_OK(MPI_Comm_spawn(self_path(), argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    MPI_Comm_free(&inter);
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "orphan") == 0) {
        return orphan(argv[2]);
    }
    if (argc > 1 && strcmp(argv[1], "fails early") == 0) {
        kill(getpid(), SIGKILL);
    }
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1) {
        return strcmp(argv[1], "parent") == 0 ? parent_of_orphans() : child(argv[1]);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check("one");
    check("all");
    check_orphans();
    char* early[] = {"fails early", NULL};
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_CLASS(MPI_Comm_spawn(self_path(), early, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
        MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    printf("survived %d\n", failures());
    return finish();
}
