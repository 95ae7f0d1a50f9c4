/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions and external32 of LOGICALs whose .true. is -1, as a Fortran layer registers them; of other sizes, and of
 * C's bool, the values are those of C. */
#include "tests/mpi_check/check.h"

#include <string.h>

static void check_ops(MPI_Datatype type, int yes, int other) {
    const MPI_Op ops[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
    const int results[3][4] = {{0, 0, 0, 1}, {0, 1, 1, 1}, {0, 1, 1, 0}};
    for (int op = 0; op < 3; ++op) {
        for (int i = 0; i < 4; ++i) {
            const int in = i & 1 ? other : 0;
            int inout = i & 2 ? yes : 0;
            CHECK_OK(MPI_Reduce_local(&in, &inout, 1, type, ops[op]));
            CHECK_EQUAL(inout, results[op][i] ? yes : 0);
        }
    }
}

static void check_others(void) {
    const unsigned char in = 255;
    unsigned char inout = 3;
    CHECK_OK(MPI_Reduce_local(&in, &inout, 1, MPI_C_BOOL, MPI_LAND));
    CHECK_EQUAL(inout, 1);
    inout = 3;
    CHECK_OK(MPI_Reduce_local(&in, &inout, 1, MPI_LOGICAL1, MPI_LAND));
    CHECK_EQUAL(inout, 1);
}

static void check_all_ranks(int yes) {
    int rank, size, all = 0, mine;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank == size - 1 ? yes : 0;
    CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD));
    CHECK_EQUAL(all, yes);
}

static void check_external(int yes) {
    const int values[2] = {yes, 0};
    const unsigned char wanted[8] = {0, 0, 0, 1, 0, 0, 0, 0};
    unsigned char packed[8];
    int read[2] = {7, 7};
    MPI_Aint position = 0;
    CHECK_OK(MPI_Pack_external("external32", values, 2, MPI_LOGICAL, packed, sizeof packed, &position));
    CHECK(memcmp(packed, wanted, sizeof wanted) == 0);
    position = 0;
    CHECK_OK(MPI_Unpack_external("external32", packed, sizeof packed, &position, read, 2, MPI_LOGICAL));
    CHECK_EQUAL(read[0], yes);
    CHECK_EQUAL(read[1], 0);
}

int main(int argc, char** argv) {
    int yes = -1, no = 0;
    MPI_Init(&argc, &argv);
    check_ops(MPI_LOGICAL, 1, 5);
    check_others();
    check_all_ranks(1);
    check_external(1);
    CHECK_OK(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no));
    check_ops(MPI_LOGICAL, yes, 5);
    check_ops(MPI_LOGICAL4, yes, 1);
    check_others();
    check_all_ranks(yes);
    check_external(yes);
    return finish();
}
