/* SPDX-License-Identifier: BSD-3-Clause */
/* 1,000 windows of each flavor made and freed: no memory, descriptor or mapping is left behind, and none of the node's
 * shared memory. growth [WINDOWS] */
#include "tests/mpi_check/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

struct used {
    long resident; /* KiB */
    long descriptors, mappings;
};

static long entries(const char* path) {
    long count = 0;
    DIR* folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL) {
        ++count;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static struct used usage(void) {
    struct used now = {0, 0, 0};
    char line[512];
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "VmRSS: %ld", &now.resident);
    }
    if (file != NULL) {
        fclose(file);
    }
    file = fopen("/proc/self/maps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        now.mappings += strchr(line, '\n') != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    now.descriptors = entries("/proc/self/fd");
    return now;
}

enum flavor { create, allocate, allocate_shared, dynamic, flavors };
static const char* const names[] = {"create", "allocate", "allocate_shared", "dynamic"};

static void make_and_free(enum flavor flavor, int round) {
    enum { ints = 2000 };
    static int memory[ints];
    MPI_Win window;
    int *base = memory, value = round;
    MPI_Aint address = 0;
    const MPI_Aint bytes = sizeof memory;
    const int to = (rank + 1) % size;
    switch (flavor) {
    case create:
        CHECK_OK(MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        break;
    case allocate:
        CHECK_OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
        break;
    case allocate_shared:
        CHECK_OK(MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
        break;
    default:
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        CHECK_OK(MPI_Win_attach(window, memory, bytes));
        MPI_Get_address(memory, &address);
        if (round % 16 == 0) {
            MPI_Aint mine = address;
            MPI_Sendrecv(&mine, 1, MPI_AINT, (rank + size - 1) % size, 0, &address, 1, MPI_AINT, to, 0, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE);
        }
    }
    if (round % 16 == 0) { /* so that what is made at the first use is made */
        base[7] = -1;
        MPI_Win_fence(0, window);
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, to,
            flavor == dynamic ? MPI_Aint_add(address, 7 * (MPI_Aint)sizeof(int)) : 7, 1, MPI_INT, window));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        CHECK_EQUAL(base[7], round);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
        MPI_Win_unlock(to, window);
    }
    if (flavor == dynamic) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_detach(window, memory));
    }
    CHECK_OK(MPI_Win_free(&window));
}

static void check_growth(enum flavor flavor, int windows) {
    for (int i = 0; i < 500; ++i) { /* pools grow until they hold what the slowest member has not handled yet */
        make_and_free(flavor, i);
    }
    const struct used before = usage();
    for (int i = 0; i < windows; ++i) {
        make_and_free(flavor, i);
    }
    const struct used after = usage();
    if (rank == 0) {
        printf("%s: %ld KiB, %ld descriptors, %ld mappings more\n", names[flavor], after.resident - before.resident,
            after.descriptors - before.descriptors, after.mappings - before.mappings);
    }
    /* 1 KiB for each window would be a leak. */
    CHECK_TEXT(after.resident - before.resident < windows / 2 + 256, names[flavor]);
    CHECK_TEXT(after.descriptors - before.descriptors <= 2, names[flavor]);
    CHECK_TEXT(after.mappings - before.mappings <= 8, names[flavor]);
}

/* Many at the same time: what is freed can be used for the next ones. */
static void check_many(void) {
    enum { many = 100, bytes = 4096 };
    MPI_Win windows[many];
    int* base;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < many; ++i) {
            CHECK_OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &windows[i]));
            base[0] = rank + i;
        }
        for (int i = 0; i < many; ++i) {
            int value = -1;
            const int from = (rank + i) % size;
            MPI_Win_fence(0, windows[i]);
            MPI_Get(&value, 1, MPI_INT, from, 0, 1, MPI_INT, windows[i]);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, windows[i]);
            CHECK_EQUAL(value, from + i);
        }
        for (int i = 0; i < many; ++i) {
            CHECK_OK(MPI_Win_free(&windows[(i * 37) % many]));
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int windows = argc > 1 ? atoi(argv[1]) : 1000;
    for (int flavor = 0; flavor < flavors; ++flavor) {
        check_growth((enum flavor)flavor, windows);
    }
    check_many();
    return finish();
}
