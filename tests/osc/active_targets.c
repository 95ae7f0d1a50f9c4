/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges between fences and in epochs of post and start, whose groups differ and overlap. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

enum { rounds = 50 };

static int rank, size;

static void fences(MPI_Win win, const int* memory) {
    for (int round = 0; round < rounds; ++round) {
        const int value = round * 1000 + rank;
        MPI_Win_fence(round == 0 ? MPI_MODE_NOPRECEDE : 0, win);
        for (int target = 0; target < size; ++target) {
            MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, win);
        }
        MPI_Win_fence(0, win);
        for (int origin = 0; origin < size; ++origin) {
            CHECK_EQUAL(memory[origin], round * 1000 + origin);
        }
    }
    int got = -1;
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, rank, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, win);
    CHECK_EQUAL(got, (rounds - 1) * 1000 + rank);
}

static MPI_Group neighbours(int distance) {
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int ranks[2] = {(rank + distance) % size, (rank + size - distance) % size};
    MPI_Group_incl(all, ranks[0] == ranks[1] ? 1 : 2, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

/* In each round the neighbours are others; a fast process begins its next epoch before others have ended theirs. */
static void posts(MPI_Win win, const int* memory) {
    for (int round = 0; round < rounds; ++round) {
        const int distance = 1 + round % (size > 2 ? size - 1 : 1);
        const int value = -(round * 1000 + rank);
        MPI_Group group = neighbours(distance % size);
        int ranks[2] = {(rank + distance) % size, (rank + size - distance % size) % size};
        MPI_Win_post(group, round % 2 == 0 ? 0 : MPI_MODE_NOSTORE, win);
        MPI_Win_start(group, 0, win);
        for (int i = 0; i < (ranks[0] == ranks[1] ? 1 : 2); ++i) {
            MPI_Put(&value, 1, MPI_INT, ranks[i], rank, 1, MPI_INT, win);
        }
        MPI_Win_complete(win);
        if (round % 3 == 0) {
            for (int done = 0; !done;) {
                MPI_Win_test(win, &done);
            }
        } else {
            MPI_Win_wait(win);
        }
        for (int i = 0; i < 2; ++i) {
            CHECK_EQUAL(memory[ranks[i]], -(round * 1000 + ranks[i]));
        }
        MPI_Group_free(&group);
    }
}

/* Two targets and many origins, some of which have both targets. */
static void overlapping(MPI_Win win, int* memory) {
    if (size < 3) {
        return;
    }
    MPI_Group all, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const int two[2] = {0, 1}, first[1] = {0};
    int others[2][64], counts[2] = {0, 0};
    for (int i = 2; i < size && i < 64; ++i) {
        others[0][counts[0]++] = i;
        if (i % 2 == 0) {
            others[1][counts[1]++] = i;
        }
    }
    for (int round = 0; round < rounds; ++round) {
        const int one = 1;
        if (rank < 2) {
            memory[0] = 0;
            MPI_Group_incl(all, counts[rank], others[rank], &origins);
            MPI_Win_post(origins, 0, win);
            MPI_Win_wait(win);
            CHECK_EQUAL(memory[0], counts[rank]);
            MPI_Group_free(&origins);
            continue;
        }
        MPI_Group_incl(all, rank % 2 == 0 ? 2 : 1, rank % 2 == 0 ? two : first, &targets);
        MPI_Win_start(targets, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        if (rank % 2 == 0) {
            MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
        }
        MPI_Win_complete(win);
        MPI_Group_free(&targets);
    }
    MPI_Group_free(&all);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)sizeof(int) * size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, sizeof(int) * (size_t)size);
    fences(win, memory);
    MPI_Barrier(MPI_COMM_WORLD);
    posts(win, memory);
    MPI_Barrier(MPI_COMM_WORLD);
    overlapping(win, memory);
    MPI_Win_free(&win);
    return finish();
}
