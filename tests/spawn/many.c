/* SPDX-License-Identifier: BSD-3-Clause */
/* Many jobs, one after the other: nothing of a job that has ended is left in its parents but a few numbers. */
#include "tests/spawn/family.h"

#include <dirent.h>
#include <stdlib.h>

enum { warm_up = 3, jobs = 8, children = 2 };

static int open_descriptors(void) {
    int count = 0;
    DIR* directory = opendir("/proc/self/fd");
    while (readdir(directory) != NULL) {
        ++count;
    }
    closedir(directory);
    return count;
}

static void spawn_and_part(void) {
    char* argv[] = {"child", NULL};
    MPI_Comm inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    CHECK_OK(
        MPI_Comm_spawn(self_path(), argv, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Intercomm_merge(inter, 0, &merged));
    CHECK_OK(MPI_Barrier(merged));
    CHECK_OK(MPI_Comm_disconnect(&merged));
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm parent = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        CHECK_OK(MPI_Intercomm_merge(parent, 1, &merged));
        CHECK_OK(MPI_Barrier(merged));
        CHECK_OK(MPI_Comm_disconnect(&merged));
        CHECK_OK(MPI_Comm_disconnect(&parent));
        return finish();
    }
    int before = 0;
    for (int i = 0; i < jobs; ++i) {
        if (i == warm_up) {
            before = open_descriptors();
        }
        spawn_and_part();
    }
    CHECK_EQUAL(open_descriptors(), before);
    return finish();
}
