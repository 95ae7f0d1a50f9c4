/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic windows: the table of regions grows and shrinks while others access it; accesses outside of it. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Each rank attaches `count` regions; the right one writes to all of them, and to those that remain after every second
 * one has been detached. */
static void many_regions(MPI_Win win, int count) {
    enum { ints = 100 };
    int** mine = malloc((size_t)count * sizeof *mine);
    MPI_Aint* addresses = malloc((size_t)count * sizeof *addresses);
    MPI_Aint* theirs = malloc((size_t)count * sizeof *theirs);
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    for (int i = 0; i < count; ++i) {
        mine[i] = calloc(ints, sizeof(int));
        CHECK_OK(MPI_Win_attach(win, mine[i], ints * sizeof(int)));
        MPI_Get_address(mine[i], &addresses[i]);
    }
    MPI_Sendrecv(
        addresses, count, MPI_AINT, left, 1, theirs, count, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int values[ints];
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < ints; ++k) {
            values[k] = i * ints + k + rank;
        }
        CHECK_OK(MPI_Put(values, ints, MPI_INT, right, theirs[i], ints, MPI_INT, win));
        CHECK_OK(MPI_Win_flush(right, win));
    }
    CHECK_OK(MPI_Win_unlock(right, win));
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < ints; ++k) {
            wrong += mine[i][k] != i * ints + k + left;
        }
    }
    CHECK_EQUAL(wrong, 0);
    for (int i = 0; i < count; i += 2) {
        CHECK_OK(MPI_Win_detach(win, mine[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    for (int i = 0; i < count; ++i) {
        int value = -1;
        CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, right, theirs[i] + 4, 1, MPI_INT, win),
            i % 2 == 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
        CHECK_OK(MPI_Win_flush(right, win));
        CHECK_EQUAL(value, i % 2 == 0 ? -1 : i * ints + 1 + rank);
    }
    CHECK_OK(MPI_Win_unlock(right, win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
        if (i % 2 == 1) {
            CHECK_OK(MPI_Win_detach(win, mine[i]));
        }
        free(mine[i]);
    }
    free(mine);
    free(addresses);
    free(theirs);
}

/* At both ends of a region, and with a type whose blocks are in several of them. */
static void edges(MPI_Win win) {
    char memory[3][64];
    memset(memory, 1, sizeof memory);
    MPI_Aint mine[3];
    MPI_Aint theirs[3];
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    for (int i = 0; i < 3; ++i) {
        MPI_Get_address(memory[i], &mine[i]);
    }
    CHECK_OK(MPI_Win_attach(win, memory[0], 64));
    CHECK_OK(MPI_Win_attach(win, memory[2], 64));
    MPI_Sendrecv(mine, 3, MPI_AINT, left, 1, theirs, 3, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char values[64];
    memset(values, 5, sizeof values);
    CHECK_OK(MPI_Win_lock_all(0, win));
    const struct {
        int region, offset, bytes, error;
    } accesses[] = {{0, 0, 64, MPI_SUCCESS}, {0, 63, 1, MPI_SUCCESS}, {0, 63, 2, MPI_ERR_RMA_RANGE},
        {2, -1, 2, MPI_ERR_RMA_RANGE}, {2, -1, 1, MPI_ERR_RMA_RANGE}, {2, 64, 1, MPI_ERR_RMA_RANGE},
        {1, 0, 64, MPI_ERR_RMA_RANGE}, {2, 0, 64, MPI_SUCCESS}};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; ++i) {
        for (int target = rank; target >= 0; target = target == rank && right != rank ? right : -1) {
            const MPI_Aint place = (target == rank ? mine : theirs)[accesses[i].region] + accesses[i].offset;
            CHECK_CLASS(MPI_Put(values, accesses[i].bytes, MPI_CHAR, target, place, accesses[i].bytes, MPI_CHAR, win),
                accesses[i].error);
            if (accesses[i].bytes == 1) {
                char old;
                CHECK_CLASS(MPI_Fetch_and_op(values, &old, MPI_SIGNED_CHAR, target, place, MPI_REPLACE, win),
                    accesses[i].error);
            }
        }
    }
    CHECK_OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    const int lengths[2] = {10, 20};
    MPI_Datatype two;
    MPI_Datatype three;
    const MPI_Aint places[2] = {theirs[0] + 5, theirs[2] + 7};
    MPI_Type_create_hindexed(2, lengths, places, MPI_CHAR, &two);
    MPI_Type_commit(&two);
    MPI_Type_create_hindexed(2, lengths, theirs, MPI_CHAR, &three);
    MPI_Type_commit(&three);
    for (int i = 0; i < 30; ++i) {
        values[i] = (char)(50 + i);
    }
    CHECK_OK(MPI_Put(values, 30, MPI_CHAR, right, 0, 1, two, win));
    CHECK_CLASS(MPI_Put(values, 30, MPI_CHAR, right, 0, 1, three, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_flush(right, win));
    char back[30];
    memset(back, 0, sizeof back);
    CHECK_OK(MPI_Get(back, 30, MPI_CHAR, right, 0, 1, two, win));
    CHECK_OK(MPI_Win_flush(right, win));
    CHECK(memcmp(back, values, 30) == 0);
    signed char ones[30];
    memset(ones, 1, sizeof ones);
    MPI_Datatype numbers;
    MPI_Type_create_hindexed(2, lengths, places, MPI_SIGNED_CHAR, &numbers);
    MPI_Type_commit(&numbers);
    CHECK_OK(MPI_Accumulate(ones, 30, MPI_SIGNED_CHAR, right, 0, 1, numbers, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(memory[0][5], 51);
    CHECK_EQUAL(memory[0][14], 60);
    CHECK_EQUAL(memory[0][15], 5);
    CHECK_EQUAL(memory[1][0], 1);
    CHECK_EQUAL(memory[2][6], 5);
    CHECK_EQUAL(memory[2][7], 61);
    CHECK_EQUAL(memory[2][26], 80);
    MPI_Type_free(&numbers);
    MPI_Type_free(&two);
    MPI_Type_free(&three);
    CHECK_OK(MPI_Win_detach(win, memory[0]));
    CHECK_OK(MPI_Win_detach(win, memory[2]));
}

/* An operation may extend over regions that lie side by side. */
static void side_by_side(MPI_Win win) {
    char memory[3][64];
    char values[150];
    MPI_Aint mine, theirs;
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    memset(memory, 1, sizeof memory);
    memset(values, 7, sizeof values);
    MPI_Get_address(memory, &mine);
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(MPI_Win_attach(win, memory[(i + 1) % 3], 64));
    }
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 1, &theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(values, 150, MPI_CHAR, right, theirs + 20, 150, MPI_CHAR, win));
    CHECK_CLASS(MPI_Put(values, 150, MPI_CHAR, right, theirs + 43, 150, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(memory[0][19], 1);
    CHECK_EQUAL(memory[0][20], 7);
    CHECK_EQUAL(memory[2][41], 7);
    CHECK_EQUAL(memory[2][42], 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(win, memory[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Put(values, 64, MPI_CHAR, right, theirs + 128, 64, MPI_CHAR, win));
    CHECK_CLASS(MPI_Put(values, 65, MPI_CHAR, right, theirs, 65, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(win, memory[0]));
    CHECK_OK(MPI_Win_detach(win, memory[2]));
}

/* Rank 0 attaches and detaches all the time; the others copy its table meanwhile, and find the region that stays. */
static void table_that_changes(MPI_Win win) {
    enum { rounds = 300 };
    static int stays;
    static int others[40][4];
    static int stop;
    MPI_Aint place;
    stays = 0;
    CHECK_OK(MPI_Win_attach(win, &stays, sizeof stays));
    CHECK_OK(MPI_Win_attach(win, &stop, sizeof stop));
    MPI_Get_address(&stays, &place);
    MPI_Bcast(&place, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < 40; ++i) {
                CHECK_OK(MPI_Win_attach(win, others[i], sizeof others[i]));
            }
            for (int i = 0; i < 40; ++i) {
                CHECK_OK(MPI_Win_detach(win, others[i]));
            }
        }
    } else {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        const int one = 1;
        for (int round = 0; round < rounds; ++round) {
            int old;
            CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, place, MPI_SUM, win));
        }
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_EQUAL(stays, rounds * (size - 1));
    }
    CHECK_OK(MPI_Win_detach(win, &stays));
    CHECK_OK(MPI_Win_detach(win, &stop));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win win;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    edges(win);
    side_by_side(win);
    many_regions(win, 1);
    many_regions(win, 70);
    table_that_changes(win);
    CHECK_OK(MPI_Win_free(&win));
    return finish();
}
