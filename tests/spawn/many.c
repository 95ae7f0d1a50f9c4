/* SPDX-License-Identifier: BSD-3-Clause */
/* Many jobs, one after the other: nothing of a job that has ended is left in its parents, and its shared memory is used
 * again. */
#include "tests/spawn/family.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { warm_up = 4, jobs = 16, children = 2 };

static int open_descriptors(void) {
    int count = 0;
    DIR* directory = opendir("/proc/self/fd");
    while (readdir(directory) != NULL) {
        ++count;
    }
    closedir(directory);
    return count;
}

/* KiB of the memory that the processes of all jobs share. */
static long shared_memory(void) {
    long blocks = -1;
    DIR* directory = opendir("/proc/self/fd");
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char target[256] = "";
        struct stat file;
        if (readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1) > 0 &&
            strncmp(target, "/memfd:", 7) == 0 && fstatat(dirfd(directory), entry->d_name, &file, 0) == 0) {
            blocks = file.st_blocks > blocks ? file.st_blocks : blocks;
        }
    }
    closedir(directory);
    return blocks / 2;
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
    long memory = 0;
    const long at_start = shared_memory();
    for (int i = 0; i < jobs; ++i) {
        if (i == warm_up) {
            before = open_descriptors();
            memory = shared_memory();
        }
        spawn_and_part();
    }
    CHECK_EQUAL(open_descriptors(), before);
    /* A job takes about 60 KiB, and twelve more would take 700. The processes of a job may still be ending while those
     * of the next one start, so that two or three jobs have memory at a time. */
    const long grown = shared_memory() - memory;
    char text[100];
    snprintf(text, sizeof text, "%ld KiB at the start, %ld after %d jobs, %ld more after %d", at_start, memory, warm_up,
        grown, jobs);
    CHECK_TEXT(at_start > 0 && grown <= 256, text);
    if (argc > 1) {
        puts(text);
    }
    return finish();
}
