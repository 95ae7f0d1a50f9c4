/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of the functions of chapter 8: each call returns an error of the right class to the right handler,
 * and the library goes on. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int rank, size;
static MPI_Comm world, plain, cart, graph, lopsided, dist; /* no topology; each kind of topology */
static int handled;
static MPI_Comm handled_on;

static void handler(MPI_Comm* comm, int* code, ...) {
    (void)code;
    ++handled;
    handled_on = *comm;
}

#define FAILS(call, error_class, comm)                                                                                 \
    do {                                                                                                               \
        handled = 0;                                                                                                   \
        CHECK_CLASS(call, error_class);                                                                                \
        CHECK_TEXT(handled == 1 && handled_on == (comm), "the handler of " #comm " gets the error of " #call);         \
    } while (0)

/* The text of the last error has all of these words. */
static void says(int code, const char* function, const char* argument, const char* value) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (strstr(text, function) == NULL || strstr(text, argument) == NULL || strstr(text, value) == NULL) {
        check_failed(__FILE__, __LINE__, text);
    }
}

static void test_dims(void) {
    int dims[3] = {0, 0, 0};
    FAILS(MPI_Dims_create(0, 3, dims), MPI_ERR_ARG, MPI_COMM_SELF);
    FAILS(MPI_Dims_create(-4, 3, dims), MPI_ERR_ARG, MPI_COMM_SELF);
    FAILS(MPI_Dims_create(4, -1, dims), MPI_ERR_DIMS, MPI_COMM_SELF);
    FAILS(MPI_Dims_create(4, 3, NULL), MPI_ERR_ARG, MPI_COMM_SELF);
    dims[1] = -2;
    FAILS(MPI_Dims_create(4, 3, dims), MPI_ERR_DIMS, MPI_COMM_SELF);
    dims[1] = 3;
    FAILS(MPI_Dims_create(7, 3, dims), MPI_ERR_DIMS, MPI_COMM_SELF);
    CHECK(dims[0] == 0 && dims[1] == 3 && dims[2] == 0);
    dims[0] = dims[2] = 1;
    FAILS(MPI_Dims_create(6, 3, dims), MPI_ERR_DIMS, MPI_COMM_SELF);
}

static void test_cart(void) {
    MPI_Comm made = MPI_COMM_WORLD;
    int dims[2] = {size, 1}, periods[2] = {0, 0}, value, other;
    FAILS(MPI_Cart_create(world, -1, dims, periods, 0, &made), MPI_ERR_DIMS, world);
    CHECK(made == MPI_COMM_NULL);
    FAILS(MPI_Cart_create(world, 2, NULL, periods, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Cart_create(world, 2, dims, NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Cart_create(world, 2, dims, periods, 0, NULL), MPI_ERR_ARG, world);
    FAILS(MPI_Cart_create(MPI_COMM_NULL, 2, dims, periods, 0, &made), MPI_ERR_COMM, MPI_COMM_SELF);
    dims[1] = 0;
    FAILS(MPI_Cart_create(world, 2, dims, periods, 0, &made), MPI_ERR_DIMS, world);
    dims[1] = -1;
    FAILS(MPI_Cart_create(world, 2, dims, periods, 0, &made), MPI_ERR_DIMS, world);
    dims[1] = 2;
    const int code = MPI_Cart_create(world, 2, dims, periods, 0, &made);
    CHECK_CLASS(code, MPI_ERR_DIMS);
    char product[20];
    snprintf(product, sizeof product, "%d", 2 * size);
    says(code, "MPI_Cart_create", "dims", product);
    dims[0] = dims[1] = 1 << 30; /* the product does not fit into 64 bits with a few more */
    FAILS(MPI_Cart_create(world, 2, dims, periods, 0, &made), MPI_ERR_DIMS, world);
    FAILS(MPI_Cart_map(world, 2, dims, periods, &value), MPI_ERR_DIMS, world);
    FAILS(MPI_Cart_map(world, 0, dims, periods, NULL), MPI_ERR_ARG, world);

    FAILS(MPI_Cart_sub(cart, NULL, &made), MPI_ERR_ARG, cart);
    FAILS(MPI_Cart_sub(cart, dims, NULL), MPI_ERR_ARG, cart);
    FAILS(MPI_Cart_get(cart, 1, dims, periods, dims), MPI_ERR_ARG, cart);
    FAILS(MPI_Cart_get(cart, 2, NULL, periods, dims), MPI_ERR_ARG, cart);
    FAILS(MPI_Cart_coords(cart, size, 2, dims), MPI_ERR_RANK, cart);
    FAILS(MPI_Cart_coords(cart, -1, 2, dims), MPI_ERR_RANK, cart);
    FAILS(MPI_Cart_coords(cart, MPI_PROC_NULL, 2, dims), MPI_ERR_RANK, cart);
    FAILS(MPI_Cart_coords(cart, 0, 1, dims), MPI_ERR_ARG, cart);
    dims[0] = 0;
    dims[1] = 1; /* the second dimension is not periodic, and has the size 1 */
    FAILS(MPI_Cart_rank(cart, dims, &value), MPI_ERR_ARG, cart);
    dims[1] = -1;
    FAILS(MPI_Cart_rank(cart, dims, &value), MPI_ERR_ARG, cart);
    FAILS(MPI_Cart_rank(cart, NULL, &value), MPI_ERR_ARG, cart);
    FAILS(MPI_Cart_shift(cart, 2, 1, &value, &other), MPI_ERR_DIMS, cart);
    FAILS(MPI_Cart_shift(cart, -1, 1, &value, &other), MPI_ERR_DIMS, cart);
    FAILS(MPI_Cart_shift(cart, 0, 1, NULL, &other), MPI_ERR_ARG, cart);
    FAILS(MPI_Cartdim_get(cart, NULL), MPI_ERR_ARG, cart);
    FAILS(MPI_Topo_test(cart, NULL), MPI_ERR_ARG, cart);
}

static void test_graph(void) {
    MPI_Comm made = MPI_COMM_WORLD;
    int index[2] = {1, 1}, edges[2] = {0, 0}, value, other;
    FAILS(MPI_Graph_create(world, -1, index, edges, 0, &made), MPI_ERR_ARG, world);
    CHECK(made == MPI_COMM_NULL);
    FAILS(MPI_Graph_create(world, size + 1, index, edges, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Graph_create(world, 1, NULL, edges, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Graph_create(world, 1, index, NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Graph_create(world, 1, index, edges, 0, NULL), MPI_ERR_ARG, world);
    edges[0] = 1; /* there is one node */
    FAILS(MPI_Graph_create(world, 1, index, edges, 0, &made), MPI_ERR_RANK, world);
    edges[0] = -1;
    FAILS(MPI_Graph_create(world, 1, index, edges, 0, &made), MPI_ERR_RANK, world);
    FAILS(MPI_Graph_map(world, 1, index, edges, &value), MPI_ERR_RANK, world);
    index[0] = -1;
    FAILS(MPI_Graph_create(world, 1, index, edges, 0, &made), MPI_ERR_ARG, world);
    if (size > 1) {
        index[0] = 1;
        index[1] = 0;
        FAILS(MPI_Graph_create(world, 2, index, edges, 0, &made), MPI_ERR_ARG, world);
    }
    FAILS(MPI_Graph_get(graph, size - 1, size, index, edges), MPI_ERR_ARG, graph);
    FAILS(MPI_Graph_get(graph, size, size - 1, index, edges), MPI_ERR_ARG, graph);
    FAILS(MPI_Graph_neighbors_count(graph, size, &value), MPI_ERR_RANK, graph);
    FAILS(MPI_Graph_neighbors(graph, -1, 1, &value), MPI_ERR_RANK, graph);
    FAILS(MPI_Graph_neighbors(graph, 0, 0, &value), MPI_ERR_ARG, graph);
    FAILS(MPI_Graph_neighbors(graph, 0, 1, NULL), MPI_ERR_ARG, graph);
    FAILS(MPI_Graphdims_get(graph, NULL, &other), MPI_ERR_ARG, graph);
}

static void test_distributed_graph(void) {
    MPI_Comm made = MPI_COMM_WORLD;
    const int none = -1, self[1] = {rank}, beyond[1] = {size}, below[1] = {-1}, one[1] = {1};
    int value[1], other;
    FAILS(
        MPI_Dist_graph_create(world, -1, self, one, self, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG, world);
    CHECK(made == MPI_COMM_NULL);
    FAILS(MPI_Dist_graph_create(world, 1, beyond, one, self, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_RANK,
        world);
    FAILS(MPI_Dist_graph_create(world, 1, self, one, below, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_RANK,
        world);
    FAILS(MPI_Dist_graph_create(world, 1, self, &none, self, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG,
        world);
    FAILS(MPI_Dist_graph_create(world, 1, self, one, self, &none, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Dist_graph_create(world, 1, self, one, self, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG,
        world);
    FAILS(MPI_Dist_graph_create(world, 1, self, one, self, NULL, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(
        MPI_Dist_graph_create(world, 1, NULL, one, self, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(
        MPI_Dist_graph_create(world, 1, self, NULL, self, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(
        MPI_Dist_graph_create(world, 1, self, one, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG, world);
    FAILS(MPI_Dist_graph_create(world, 1, self, one, self, MPI_UNWEIGHTED, (MPI_Info)&other, 0, &made), MPI_ERR_INFO,
        world);
    FAILS(MPI_Dist_graph_create_adjacent(
              world, -1, self, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
        MPI_ERR_ARG, world);
    FAILS(MPI_Dist_graph_create_adjacent(
              world, 1, beyond, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
        MPI_ERR_RANK, world);
    FAILS(MPI_Dist_graph_create_adjacent(
              world, 0, NULL, MPI_UNWEIGHTED, 1, below, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
        MPI_ERR_RANK, world);
    FAILS(MPI_Dist_graph_create_adjacent(world, 0, NULL, MPI_WEIGHTS_EMPTY, 1, self, &none, MPI_INFO_NULL, 0, &made),
        MPI_ERR_ARG, world);
    FAILS(MPI_Dist_graph_neighbors(dist, -1, value, MPI_UNWEIGHTED, 1, value, MPI_UNWEIGHTED), MPI_ERR_ARG, dist);
    FAILS(MPI_Dist_graph_neighbors(dist, 1, NULL, MPI_UNWEIGHTED, 1, value, MPI_UNWEIGHTED), MPI_ERR_ARG, dist);
    FAILS(MPI_Dist_graph_neighbors_count(dist, NULL, value, value), MPI_ERR_ARG, dist);
}

/* The function needs a topology of another kind. */
static void test_kinds(void) {
    int a[4], b[4], c[4], remain[2] = {1, 1};
    MPI_Comm made;
    const MPI_Comm no_cart[] = {plain, graph, dist}, no_graph[] = {plain, cart, dist}, no_dist[] = {plain, cart, graph};
    for (int i = 0; i < 3; ++i) {
        FAILS(MPI_Cartdim_get(no_cart[i], a), MPI_ERR_TOPOLOGY, no_cart[i]);
        FAILS(MPI_Cart_get(no_cart[i], 2, a, b, c), MPI_ERR_TOPOLOGY, no_cart[i]);
        FAILS(MPI_Cart_rank(no_cart[i], a, b), MPI_ERR_TOPOLOGY, no_cart[i]);
        FAILS(MPI_Cart_coords(no_cart[i], 0, 2, a), MPI_ERR_TOPOLOGY, no_cart[i]);
        FAILS(MPI_Cart_shift(no_cart[i], 0, 1, a, b), MPI_ERR_TOPOLOGY, no_cart[i]);
        FAILS(MPI_Cart_sub(no_cart[i], remain, &made), MPI_ERR_TOPOLOGY, no_cart[i]);
        CHECK(made == MPI_COMM_NULL);
        FAILS(MPI_Graphdims_get(no_graph[i], a, b), MPI_ERR_TOPOLOGY, no_graph[i]);
        FAILS(MPI_Graph_get(no_graph[i], 4, 4, a, b), MPI_ERR_TOPOLOGY, no_graph[i]);
        FAILS(MPI_Graph_neighbors_count(no_graph[i], 0, a), MPI_ERR_TOPOLOGY, no_graph[i]);
        FAILS(MPI_Graph_neighbors(no_graph[i], 0, 4, a), MPI_ERR_TOPOLOGY, no_graph[i]);
        FAILS(MPI_Dist_graph_neighbors_count(no_dist[i], a, b, c), MPI_ERR_TOPOLOGY, no_dist[i]);
        FAILS(MPI_Dist_graph_neighbors(no_dist[i], 4, a, a, 4, b, b), MPI_ERR_TOPOLOGY, no_dist[i]);
    }
}

static void test_neighborhood(MPI_Comm comm, int expected) {
    int in[8] = {0}, out[8] = {0}, counts[8] = {0}, places[8] = {0};
    MPI_Aint addresses[8] = {0};
    MPI_Datatype types[8];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 8; ++i) {
        types[i] = MPI_INT;
    }
    FAILS(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm), expected, comm);
    FAILS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, comm), expected, comm);
    FAILS(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm), expected, comm);
    FAILS(MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm), expected, comm);
    FAILS(MPI_Neighbor_alltoallw(out, counts, addresses, types, in, counts, addresses, types, comm), expected, comm);
    FAILS(MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request), expected, comm);
    FAILS(MPI_Ineighbor_alltoallw(out, counts, addresses, types, in, counts, addresses, types, comm, &request),
        expected, comm);
    FAILS(MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &request), expected, comm);
    FAILS(MPI_Neighbor_allgatherv_init(out, 1, MPI_INT, in, counts, places, MPI_INT, comm, MPI_INFO_NULL, &request),
        expected, comm);
    CHECK(request == MPI_REQUEST_NULL);
}

static void test_arguments_of_neighborhood(void) {
    int in[8] = {0}, out[8] = {0}, counts[4] = {1, 1, 1, 1}, bad_counts[4] = {1, -1, 1, 1}, places[4] = {0, 1, 2, 3};
    MPI_Aint addresses[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT},
                 bad_types[4] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT, MPI_INT};
    MPI_Request request;
    FAILS(MPI_Neighbor_allgather(out, -1, MPI_INT, in, 1, MPI_INT, cart), MPI_ERR_COUNT, cart);
    FAILS(MPI_Neighbor_allgather(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, cart), MPI_ERR_TYPE, cart);
    FAILS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, cart), MPI_ERR_BUFFER, cart);
    FAILS(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, in, 1, MPI_INT, cart), MPI_ERR_BUFFER, cart);
    FAILS(MPI_Neighbor_alltoall(in, 1, MPI_INT, in, 1, MPI_INT, cart), MPI_ERR_BUFFER, cart);
    FAILS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, bad_counts, places, MPI_INT, cart), MPI_ERR_COUNT, cart);
    FAILS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, counts, NULL, MPI_INT, cart), MPI_ERR_ARG, cart);
    FAILS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, NULL, places, MPI_INT, cart), MPI_ERR_ARG, cart);
    FAILS(MPI_Neighbor_alltoallv(MPI_IN_PLACE, counts, places, MPI_INT, in, counts, places, MPI_INT, cart),
        MPI_ERR_BUFFER, cart);
    FAILS(MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, bad_counts, places, MPI_INT, cart), MPI_ERR_COUNT,
        cart);
    FAILS(MPI_Neighbor_alltoallw(out, counts, addresses, bad_types, in, counts, addresses, types, cart), MPI_ERR_TYPE,
        cart);
    FAILS(MPI_Neighbor_alltoallw(MPI_IN_PLACE, counts, addresses, types, in, counts, addresses, types, cart),
        MPI_ERR_BUFFER, cart);
    FAILS(MPI_Neighbor_alltoallw(out, counts, addresses, NULL, in, counts, addresses, types, cart), MPI_ERR_ARG, cart);
    FAILS(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart, NULL), MPI_ERR_ARG, cart);
    FAILS(
        MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, cart, (MPI_Info)&in, &request), MPI_ERR_INFO, cart);
}

int main(int argc, char** argv) {
    MPI_Errhandler errhandler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, errhandler);
    MPI_Comm_dup(world, &plain);
    const int dims[2] = {size, 1}, periods[2] = {1, 0};
    CHECK_OK(MPI_Cart_create(world, 2, dims, periods, 0, &cart));
    int index[64], edges[64];
    for (int i = 0; i < size; ++i) { /* symmetric: each process with itself */
        index[i] = i + 1;
        edges[i] = i;
    }
    CHECK_OK(MPI_Graph_create(world, size, index, edges, 0, &graph));
    for (int i = 0; i < size; ++i) {
        edges[i] = (i + 1) % size; /* not symmetric from three processes on */
    }
    CHECK_OK(MPI_Graph_create(world, size, index, edges, 0, &lopsided));
    CHECK_OK(MPI_Dist_graph_create_adjacent(
        world, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist));
    test_dims();
    test_cart();
    test_graph();
    test_distributed_graph();
    test_kinds();
    test_neighborhood(plain, MPI_ERR_TOPOLOGY);
    if (size > 2) {
        test_neighborhood(lopsided, MPI_ERR_TOPOLOGY);
    }
    test_arguments_of_neighborhood();
    /* The library goes on. */
    int out[4] = {rank, rank, rank, rank}, in[4] = {-1, -1, -1, -1};
    CHECK_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart));
    CHECK_EQUAL(in[0], (rank + size - 1) % size);
    CHECK_EQUAL(in[1], (rank + 1) % size);
    MPI_Comm* const all[] = {&world, &plain, &cart, &graph, &lopsided, &dist};
    for (int i = 0; i < 6; ++i) {
        MPI_Comm_free(all[i]);
    }
    MPI_Errhandler_free(&errhandler);
    return finish();
}
