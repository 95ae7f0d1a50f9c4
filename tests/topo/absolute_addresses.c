/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_BOTTOM as the buffer of collectives whose displacements are addresses (MPI-5.0, 2.5.6): of the forms with
   MPI_Aint displacements, among all processes and among neighbours. The datatypes have no address. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

static int rank, size;
static int *out, *in;           /* an int for each process, somewhere in memory */
static MPI_Count *ones, *bytes; /* counts of MPI_INT and MPI_BYTE */
static MPI_Aint *out_places, *in_places;
static MPI_Datatype* types;

static void clear(void) {
    for (int i = 0; i < size; i++) {
        in[i] = -1;
    }
}

static void check_all(void) {
    for (int i = 0; i < size; i++) {
        CHECK_EQUAL(in[i], 100 * i + rank);
    }
    clear();
}

static void all_to_all(void) {
    CHECK_OK(MPI_Alltoallw_c(MPI_BOTTOM, ones, out_places, types, MPI_BOTTOM, ones, in_places, types, MPI_COMM_WORLD));
    check_all();
    CHECK_OK(MPI_Alltoallv_c(
        MPI_BOTTOM, bytes, out_places, MPI_BYTE, MPI_BOTTOM, bytes, in_places, MPI_BYTE, MPI_COMM_WORLD));
    check_all();
    MPI_Request request;
    CHECK_OK(MPI_Ialltoallw_c(
        MPI_BOTTOM, ones, out_places, types, MPI_BOTTOM, ones, in_places, types, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_all();
    /* A block at no address is a mistake. */
    const MPI_Aint place = out_places[size - 1];
    out_places[size - 1] = 0;
    CHECK_CLASS(
        MPI_Alltoallw_c(MPI_BOTTOM, ones, out_places, types, MPI_BOTTOM, ones, in_places, types, MPI_COMM_WORLD),
        MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoallv_c(
                    MPI_BOTTOM, bytes, out_places, MPI_BYTE, MPI_BOTTOM, bytes, in_places, MPI_BYTE, MPI_COMM_WORLD),
        MPI_ERR_BUFFER);
    out_places[size - 1] = place;
}

static void rooted(void) {
    CHECK_OK(MPI_Allgatherv_c(&out[0], 4, MPI_BYTE, MPI_BOTTOM, bytes, in_places, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) {
        CHECK_EQUAL(in[i], 100 * i);
    }
    clear();
    CHECK_OK(MPI_Gatherv_c(&out[0], 4, MPI_BYTE, MPI_BOTTOM, bytes, in_places, MPI_BYTE, 0, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) {
        CHECK_EQUAL(in[i], rank == 0 ? 100 * i : -1);
    }
    clear();
    CHECK_OK(MPI_Scatterv_c(MPI_BOTTOM, bytes, out_places, MPI_BYTE, &in[0], 4, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK_EQUAL(in[0], rank);
    clear();
}

static void check_neighbors(int previous, int next) {
    CHECK_EQUAL(in[0], 100 * previous + 1); /* what the previous process has for its next one */
    CHECK_EQUAL(in[1], 100 * next);
    in[0] = in[1] = -1;
}

/* On a ring: block 0 is for the previous process, block 1 for the next one. */
static void neighbors(void) {
    const int periodic = 1;
    int previous, next;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    MPI_Cart_shift(ring, 0, 1, &previous, &next);
    const int one[2] = {1, 1};
    CHECK_OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, one, out_places, types, MPI_BOTTOM, one, in_places, types, ring));
    check_neighbors(previous, next);
    CHECK_OK(MPI_Neighbor_alltoallv_c(
        MPI_BOTTOM, bytes, out_places, MPI_BYTE, MPI_BOTTOM, bytes, in_places, MPI_BYTE, ring));
    check_neighbors(previous, next);
    MPI_Request request;
    CHECK_OK(MPI_Neighbor_alltoallw_init(
        MPI_BOTTOM, one, out_places, types, MPI_BOTTOM, one, in_places, types, ring, MPI_INFO_NULL, &request));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_neighbors(previous, next);
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Neighbor_allgatherv_c(&out[0], 4, MPI_BYTE, MPI_BOTTOM, bytes, in_places, MPI_BYTE, ring));
    CHECK_EQUAL(in[0], 100 * previous);
    CHECK_EQUAL(in[1], 100 * next);
    MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    out = malloc(sizeof(int) * (unsigned)size);
    in = malloc(sizeof(int) * (unsigned)size);
    ones = malloc(sizeof *ones * (unsigned)size);
    bytes = malloc(sizeof *bytes * (unsigned)size);
    out_places = malloc(sizeof *out_places * (unsigned)size);
    in_places = malloc(sizeof *in_places * (unsigned)size);
    types = malloc(sizeof(MPI_Datatype) * (unsigned)size);
    for (int i = 0; i < size; i++) {
        out[i] = 100 * rank + i;
        ones[i] = 1;
        bytes[i] = 4;
        types[i] = MPI_INT;
        MPI_Get_address(&out[i], &out_places[i]);
        MPI_Get_address(&in[i], &in_places[i]);
    }
    clear();
    all_to_all();
    rooted();
    neighbors();
    MPI_Finalize();
    free(out), free(in), free(ones), free(bytes), free(out_places), free(in_places), free(types);
    return failures();
}
