/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies: construction and inquiry, at any number of ranks. */
#include "tests/mpi_check/check.h"

#include <limits.h>

static int rank, size;

static int kind_of(MPI_Comm comm) {
    int kind = -1;
    CHECK_OK(MPI_Topo_test(comm, &kind));
    return kind;
}

static int size_of(MPI_Comm comm) {
    int value = -1;
    MPI_Comm_size(comm, &value);
    return value;
}

static int rank_in(MPI_Comm comm) {
    int value = -1;
    MPI_Comm_rank(comm, &value);
    return value;
}

static MPI_Comm cart(MPI_Comm parent, int ndims, const int* dims, const int* periods) {
    MPI_Comm comm = MPI_COMM_WORLD;
    CHECK_OK(MPI_Cart_create(parent, ndims, dims, periods, 0, &comm));
    return comm;
}

static void test_kinds(void) {
    const int period = 0;
    CHECK_EQUAL(kind_of(MPI_COMM_WORLD), MPI_UNDEFINED);
    CHECK_EQUAL(kind_of(MPI_COMM_SELF), MPI_UNDEFINED);
    MPI_Comm comm = cart(MPI_COMM_WORLD, 1, &size, &period);
    CHECK_EQUAL(kind_of(comm), MPI_CART);
    MPI_Comm_free(&comm);
}

/* The answers of all inquiries agree with each other, and are the same in all processes. */
static void test_inquiry(void) {
    int dims[3] = {0, 0, 0}, periods[3] = {1, 0, -5};
    CHECK_OK(MPI_Dims_create(size, 3, dims));
    MPI_Comm comm = cart(MPI_COMM_WORLD, 3, dims, periods);
    CHECK_EQUAL(size_of(comm), size);
    int ndims = 0, got_dims[4] = {0, 0, 0, 77}, got_periods[4] = {0, 0, 0, 77}, coords[4] = {0, 0, 0, 77};
    CHECK_OK(MPI_Cartdim_get(comm, &ndims));
    CHECK_EQUAL(ndims, 3);
    CHECK_OK(MPI_Cart_get(comm, 4, got_dims, got_periods, coords));
    for (int d = 0; d < 3; ++d) {
        CHECK_EQUAL(got_dims[d], dims[d]);
        CHECK_EQUAL(got_periods[d], periods[d] != 0);
    }
    CHECK(got_dims[3] == 77 && got_periods[3] == 77 && coords[3] == 77);
    int own = -1;
    CHECK_OK(MPI_Cart_rank(comm, coords, &own));
    CHECK_EQUAL(own, rank_in(comm));
    CHECK_EQUAL(own, rank);
    for (int other = 0; other < size; ++other) {
        int place[3], found = -1;
        CHECK_OK(MPI_Cart_coords(comm, other, 3, place));
        CHECK_EQUAL((place[0] * dims[1] + place[1]) * dims[2] + place[2], other);
        place[0] += 3 * dims[0]; /* periodic */
        place[2] -= 5 * dims[2];
        CHECK_OK(MPI_Cart_rank(comm, place, &found));
        CHECK_EQUAL(found, other);
    }
    MPI_Comm_free(&comm);
}

static void check_shift(MPI_Comm comm, int direction, int disp, int source, int dest) {
    int got_source = -77, got_dest = -77;
    CHECK_OK(MPI_Cart_shift(comm, direction, disp, &got_source, &got_dest));
    CHECK_EQUAL(got_source, source);
    CHECK_EQUAL(got_dest, dest);
}

static int in_line(int place) {
    return place >= 0 && place < size ? place : MPI_PROC_NULL;
}

static void test_shift(void) {
    const int dims[2] = {size, 1}, periodic[2] = {1, 1}, open[2] = {0, 0};
    MPI_Comm ring = cart(MPI_COMM_WORLD, 2, dims, periodic);
    MPI_Comm line = cart(MPI_COMM_WORLD, 2, dims, open);
    for (int disp = -2 * size; disp <= 2 * size; ++disp) {
        check_shift(ring, 0, disp, (rank - disp + 2 * size) % size, (rank + disp + 2 * size) % size);
        check_shift(ring, 1, disp, rank, rank);
        check_shift(line, 0, disp, in_line(rank - disp), in_line(rank + disp));
        check_shift(line, 1, disp, disp == 0 ? rank : MPI_PROC_NULL, disp == 0 ? rank : MPI_PROC_NULL);
    }
    check_shift(line, 0, INT_MAX, MPI_PROC_NULL, MPI_PROC_NULL);
    check_shift(line, 0, INT_MIN, MPI_PROC_NULL, MPI_PROC_NULL);
    const long long far = INT_MIN;
    check_shift(
        ring, 0, INT_MIN, (int)(((rank - far) % size + size) % size), (int)(((rank + far) % size + size) % size));
    /* The results are ranks to send to and receive from. */
    int source, dest, got = -1;
    CHECK_OK(MPI_Cart_shift(line, 0, 1, &source, &dest));
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, dest, 0, &got, 1, MPI_INT, source, 0, line, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, rank > 0 ? rank - 1 : -1);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&line);
}

/* Processes beyond the grid get MPI_COMM_NULL. */
static void test_smaller_grid(void) {
    const int dim = size > 1 ? size - 1 : 1, period = 1;
    MPI_Comm comm = cart(MPI_COMM_WORLD, 1, &dim, &period);
    CHECK_EQUAL(comm == MPI_COMM_NULL, rank >= dim);
    int mapped = -77;
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &dim, &period, &mapped));
    CHECK(rank >= dim ? mapped == MPI_UNDEFINED : mapped >= 0 && mapped < dim);
    if (comm != MPI_COMM_NULL) {
        CHECK_EQUAL(size_of(comm), dim);
        MPI_Comm_free(&comm);
    }
    const int one = 1;
    comm = cart(MPI_COMM_SELF, 1, &one, &period);
    CHECK_EQUAL(size_of(comm), 1);
    MPI_Comm_free(&comm);
}

static void test_no_dimensions(void) {
    MPI_Comm comm = cart(MPI_COMM_WORLD, 0, NULL, NULL);
    CHECK_EQUAL(comm == MPI_COMM_NULL, rank != 0);
    int mapped = -77;
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &mapped));
    CHECK_EQUAL(mapped, rank == 0 ? 0 : MPI_UNDEFINED);
    if (comm == MPI_COMM_NULL) {
        return;
    }
    int ndims = -1, own = -1;
    CHECK_EQUAL(kind_of(comm), MPI_CART);
    CHECK_OK(MPI_Cartdim_get(comm, &ndims));
    CHECK_EQUAL(ndims, 0);
    CHECK_OK(MPI_Cart_get(comm, 0, NULL, NULL, NULL));
    CHECK_OK(MPI_Cart_rank(comm, NULL, &own));
    CHECK_EQUAL(own, 0);
    CHECK_OK(MPI_Cart_coords(comm, 0, 0, NULL));
    MPI_Comm sub = MPI_COMM_NULL;
    CHECK_OK(MPI_Cart_sub(comm, NULL, &sub));
    CHECK_EQUAL(size_of(sub), 1);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&comm);
}

static void test_sub(void) {
    int dims[3] = {0, 0, 0};
    const int periods[3] = {0, 1, 0};
    CHECK_OK(MPI_Dims_create(size, 3, dims));
    MPI_Comm whole = cart(MPI_COMM_WORLD, 3, dims, periods);
    int coords[3];
    CHECK_OK(MPI_Cart_coords(whole, rank, 3, coords));
    for (int mask = 0; mask < 8; ++mask) {
        int remain[3], kept = 0, wanted_size = 1;
        for (int d = 0; d < 3; ++d) {
            remain[d] = mask >> d & 1 ? 4 : 0;
            kept += remain[d] != 0;
            wanted_size *= remain[d] != 0 ? dims[d] : 1;
        }
        MPI_Comm part = MPI_COMM_NULL;
        CHECK_OK(MPI_Cart_sub(whole, remain, &part));
        CHECK_EQUAL(kind_of(part), MPI_CART);
        CHECK_EQUAL(size_of(part), wanted_size);
        int ndims = -1, got_dims[3], got_periods[3], got_coords[3];
        CHECK_OK(MPI_Cartdim_get(part, &ndims));
        CHECK_EQUAL(ndims, kept);
        CHECK_OK(MPI_Cart_get(part, 3, got_dims, got_periods, got_coords));
        for (int d = 0, next = 0; d < 3; ++d) {
            if (remain[d]) {
                CHECK_EQUAL(got_dims[next], dims[d]);
                CHECK_EQUAL(got_periods[next], periods[d]);
                CHECK_EQUAL(got_coords[next], coords[d]);
                ++next;
            }
        }
        /* All members have the same coordinates in the other dimensions. */
        int others[3], least[3], greatest[3];
        for (int d = 0; d < 3; ++d) {
            others[d] = remain[d] ? 0 : coords[d];
        }
        MPI_Allreduce(others, least, 3, MPI_INT, MPI_MIN, part);
        MPI_Allreduce(others, greatest, 3, MPI_INT, MPI_MAX, part);
        for (int d = 0; d < 3; ++d) {
            CHECK_EQUAL(least[d], greatest[d]);
        }
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&whole);
}

/* A duplicate has the topology of its parent, also when the parent has been freed; a split has none. */
static void test_copies(void) {
    const int period = 1;
    MPI_Comm copies[3], split, request_comm;
    MPI_Request request;
    MPI_Comm comm = cart(MPI_COMM_WORLD, 1, &size, &period);
    CHECK_OK(MPI_Comm_dup(comm, &copies[0]));
    CHECK_OK(MPI_Comm_idup(comm, &request_comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    copies[1] = request_comm;
    CHECK_OK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copies[2]));
    CHECK_OK(MPI_Comm_split(comm, 0, 0, &split));
    CHECK_EQUAL(kind_of(split), MPI_UNDEFINED);
    MPI_Comm_free(&split);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 3; ++i) {
        int ndims = 0, dim, wraps, place;
        CHECK_EQUAL(kind_of(copies[i]), MPI_CART);
        CHECK_OK(MPI_Cartdim_get(copies[i], &ndims));
        CHECK_EQUAL(ndims, 1);
        CHECK_OK(MPI_Cart_get(copies[i], 1, &dim, &wraps, &place));
        CHECK(dim == size && wraps == 1 && place == rank);
        int both[2] = {-1, -1};
        CHECK_OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, both, 1, MPI_INT, copies[i]));
        CHECK_EQUAL(both[0], (rank + size - 1) % size);
        CHECK_EQUAL(both[1], (rank + 1) % size);
        MPI_Comm_free(&copies[i]);
    }
}

/* Components of framework coll are selected anew for a communicator with a topology: a table of one without cannot
 * serve it. */
static void test_tables(void) {
    const int period = 0;
    MPI_Comm plain, comm, again;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &plain));
    CHECK_OK(MPI_Barrier(plain));
    for (int i = 0; i < 3; ++i) {
        int both[2] = {-1, -1};
        comm = cart(plain, 1, &size, &period);
        CHECK_OK(MPI_Neighbor_alltoall(both, 0, MPI_INT, both, 0, MPI_INT, comm));
        CHECK_OK(MPI_Comm_split(comm, 0, 0, &again));
        CHECK_OK(MPI_Barrier(again));
        MPI_Comm_free(&again);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&plain);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_kinds();
    test_inquiry();
    test_shift();
    test_smaller_grid();
    test_no_dimensions();
    test_sub();
    test_copies();
    test_tables();
    return finish();
}
