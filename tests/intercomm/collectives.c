/* SPDX-License-Identifier: BSD-3-Clause */
/* Every blocking collective on intercommunicators, with each root in both groups. The argument `root` is MPI_ROOT at
 * the root, MPI_PROC_NULL in the rest of its group, and the root's rank in the remote group. */
#include "tests/intercomm/sides.h"

#include <stdlib.h>

enum { guard = -77 };

static int* guarded(int n) {
    int* v = malloc(sizeof(int) * (size_t)(n + 1));
    for (int i = 0; i <= n; ++i) {
        v[i] = guard;
    }
    return v;
}

/* Element i of the data of rank r of a side for rank p of the other side. */
static int value(int side, int r, int p, int i) {
    return 100000 * (side + 1) + 1000 * r + 10 * p + i % 7;
}

static int root_argument(struct sides* s, int root_side, int root) {
    return s->side != root_side ? root : s->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void test_bcast(struct sides* s, int root_side, int root, int n) {
    int* v = guarded(n);
    const int how = root_argument(s, root_side, root);
    if (how == MPI_ROOT) {
        for (int i = 0; i < n; ++i) {
            v[i] = value(root_side, root, 0, i);
        }
    }
    CHECK(MPI_Bcast(how == MPI_PROC_NULL ? NULL : v, n, MPI_INT, how, s->inter) == MPI_SUCCESS);
    for (int i = 0; i < n && how != MPI_PROC_NULL; ++i) {
        CHECK(v[i] == value(root_side, root, 0, i));
    }
    CHECK(v[n] == guard);
    free(v);
}

static void test_gather(struct sides* s, int root_side, int root, int n) {
    const int how = root_argument(s, root_side, root);
    int *in = guarded(n), *out = guarded(s->remote_size * n), *outv = guarded(s->remote_size * (n + 1));
    int counts[64], places[64];
    for (int i = 0; i < n; ++i) {
        in[i] = value(s->side, s->rank, root, i);
    }
    /* Arguments that are not significant have wrong values. */
    const MPI_Datatype send_type = how == MPI_ROOT ? MPI_DATATYPE_NULL : MPI_INT;
    const MPI_Datatype recv_type = how == MPI_ROOT ? MPI_INT : MPI_DATATYPE_NULL;
    if (how == MPI_PROC_NULL) {
        CHECK(MPI_Gather(NULL, -1, MPI_DATATYPE_NULL, NULL, -1, MPI_DATATYPE_NULL, how, s->inter) == MPI_SUCCESS);
        CHECK(MPI_Gatherv(NULL, -1, MPI_DATATYPE_NULL, NULL, NULL, NULL, MPI_DATATYPE_NULL, how, s->inter) ==
            MPI_SUCCESS);
    } else {
        CHECK(MPI_Gather(how == MPI_ROOT ? NULL : in, n, send_type, how == MPI_ROOT ? out : NULL, n, recv_type, how,
                  s->inter) == MPI_SUCCESS);
        for (int p = 0; p < s->remote_size; ++p) {
            counts[p] = n;
            places[p] = (s->remote_size - 1 - p) * (n + 1); /* backwards, with a gap */
        }
        CHECK(MPI_Gatherv(how == MPI_ROOT ? NULL : in, n, send_type, how == MPI_ROOT ? outv : NULL,
                  how == MPI_ROOT ? counts : NULL, how == MPI_ROOT ? places : NULL, recv_type, how,
                  s->inter) == MPI_SUCCESS);
    }
    for (int p = 0; p < s->remote_size && how == MPI_ROOT; ++p) {
        for (int i = 0; i < n; ++i) {
            CHECK(out[p * n + i] == value(1 - s->side, p, s->rank, i));
            CHECK(outv[places[p] + i] == value(1 - s->side, p, s->rank, i));
        }
        CHECK(outv[places[p] + n] == guard);
    }
    CHECK(out[s->remote_size * n] == guard);
    free(in);
    free(out);
    free(outv);
}

static void test_scatter(struct sides* s, int root_side, int root, int n) {
    const int how = root_argument(s, root_side, root);
    int *in = guarded(s->remote_size * n), *out = guarded(n), *outv = guarded(n);
    int counts[64], places[64];
    for (int p = 0; p < s->remote_size; ++p) {
        for (int i = 0; i < n; ++i) {
            in[p * n + i] = value(s->side, s->rank, p, i);
        }
        counts[p] = p % 2 == 0 ? n : 0;
        places[p] = p * n;
    }
    const int own = s->rank % 2 == 0 ? n : 0;
    if (how == MPI_ROOT) {
        CHECK(MPI_Scatter(in, n, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, how, s->inter) == MPI_SUCCESS);
        CHECK(MPI_Scatterv(in, counts, places, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, how, s->inter) == MPI_SUCCESS);
    } else if (how == MPI_PROC_NULL) {
        CHECK(MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, NULL, -1, MPI_DATATYPE_NULL, how, s->inter) == MPI_SUCCESS);
        CHECK(MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, NULL, -1, MPI_DATATYPE_NULL, how, s->inter) ==
            MPI_SUCCESS);
    } else {
        CHECK(MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, out, n, MPI_INT, how, s->inter) == MPI_SUCCESS);
        CHECK(MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, outv, own, MPI_INT, how, s->inter) == MPI_SUCCESS);
        for (int i = 0; i < n; ++i) {
            CHECK(out[i] == value(root_side, root, s->rank, i));
            CHECK(outv[i] == (i < own ? value(root_side, root, s->rank, i) : guard));
        }
    }
    CHECK(out[n] == guard && outv[n] == guard);
    free(in);
    free(out);
    free(outv);
}

static void multiply(void* a, void* b, int* n, MPI_Datatype* type) {
    /* (x, y) stands for x * t + y modulo 97: composing such functions is associative, but does not commute. */
    (void)type;
    const int* left = a;
    int* right = b;
    for (int i = 0; i < 2 * *n; i += 2) {
        const int x = left[i] * right[i] % 97, y = (left[i] * right[i + 1] + left[i + 1]) % 97;
        right[i] = x;
        right[i + 1] = y;
    }
}

/* The same composition, computed locally, of the contributions of ranks 0 .. size - 1 of `side`. */
static void product_of(int side, int size, int i, int result[2]) {
    int sum[2] = {(side + 2 + size - 1) % 97, (3 * (size - 1) + i) % 97};
    int one = 1;
    for (int r = size - 2; r >= 0; --r) {
        int left[2] = {(side + 2 + r) % 97, (3 * r + i) % 97};
        multiply(left, sum, &one, NULL);
    }
    result[0] = sum[0];
    result[1] = sum[1];
}

static MPI_Datatype pair;
static MPI_Op product;

static void test_reduce(struct sides* s, int root_side, int root, int n) {
    const int how = root_argument(s, root_side, root);
    int *in = guarded(2 * n), *out = guarded(2 * n), *sum = guarded(n);
    for (int i = 0; i < n; ++i) {
        in[2 * i] = (s->side + 2 + s->rank) % 97;
        in[2 * i + 1] = (3 * s->rank + i) % 97;
    }
    if (how == MPI_PROC_NULL) {
        CHECK(MPI_Reduce(NULL, NULL, n, MPI_INT, MPI_SUM, how, s->inter) == MPI_SUCCESS);
        CHECK(MPI_Reduce(NULL, NULL, n, pair, product, how, s->inter) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Reduce(how == MPI_ROOT ? NULL : in, how == MPI_ROOT ? sum : NULL, n, MPI_INT, MPI_SUM, how,
                  s->inter) == MPI_SUCCESS);
        CHECK(MPI_Reduce(how == MPI_ROOT ? NULL : in, how == MPI_ROOT ? out : NULL, n, pair, product, how, s->inter) ==
            MPI_SUCCESS);
    }
    for (int i = 0; i < n && how == MPI_ROOT; ++i) {
        int wanted[2], total = 0;
        product_of(1 - s->side, s->remote_size, i, wanted);
        CHECK(out[2 * i] == wanted[0] && out[2 * i + 1] == wanted[1]);
        for (int r = 0; r < s->remote_size; ++r) {
            total += i % 2 == 0 ? (1 - s->side + 2 + r) % 97 : (3 * r + i / 2) % 97;
        }
        CHECK(sum[i] == total);
    }
    CHECK(out[2 * n] == guard && sum[n] == guard);
    free(in);
    free(out);
    free(sum);
}

static void test_allreduce(struct sides* s, int n) {
    int *in = guarded(2 * n), *out = guarded(2 * n);
    for (int i = 0; i < n; ++i) {
        in[2 * i] = (s->side + 2 + s->rank) % 97;
        in[2 * i + 1] = (3 * s->rank + i) % 97;
    }
    CHECK(MPI_Allreduce(in, out, n, pair, product, s->inter) == MPI_SUCCESS);
    for (int i = 0; i < n; ++i) {
        int wanted[2];
        product_of(1 - s->side, s->remote_size, i, wanted);
        CHECK(out[2 * i] == wanted[0] && out[2 * i + 1] == wanted[1]);
    }
    CHECK(out[2 * n] == guard);
    free(in);
    free(out);
}

/* Blocks of different sizes on the two sides, the same total. */
static void test_reduce_scatter(struct sides* s) {
    const int total = s->size * s->remote_size * 3, block = s->remote_size * 3;
    int *in = guarded(total), *out = guarded(block), *outv = guarded(total);
    int counts[64];
    for (int i = 0; i < total; ++i) {
        in[i] = 10 * s->rank + i + 1000 * s->side;
    }
    for (int p = 0; p < s->size; ++p) {
        counts[p] = block;
    }
    if (s->size > 1) { /* blocks of different sizes */
        counts[0] = 0;
        counts[1] = 2 * block;
    }
    int first = 0;
    for (int p = 0; p < s->rank; ++p) {
        first += counts[p];
    }
    CHECK(MPI_Reduce_scatter_block(in, out, block, MPI_INT, MPI_SUM, s->inter) == MPI_SUCCESS);
    CHECK(MPI_Reduce_scatter(in, outv, counts, MPI_INT, MPI_SUM, s->inter) == MPI_SUCCESS);
    const int ranks = 10 * s->remote_size * (s->remote_size - 1) / 2 + 1000 * (1 - s->side) * s->remote_size;
    for (int i = 0; i < block; ++i) {
        CHECK(out[i] == ranks + s->remote_size * (s->rank * block + i));
    }
    for (int i = 0; i < counts[s->rank]; ++i) {
        CHECK(outv[i] == ranks + s->remote_size * (first + i));
    }
    CHECK(out[block] == guard && outv[counts[s->rank]] == guard);
    free(in);
    free(out);
    free(outv);
}

/* The two groups may contribute different amounts; one group may contribute nothing. */
static void test_allgather(struct sides* s, int own, int theirs) {
    int *in = guarded(own), *out = guarded(s->remote_size * theirs), *outv = guarded(s->remote_size * (theirs + 1));
    int counts[64], places[64];
    for (int i = 0; i < own; ++i) {
        in[i] = value(s->side, s->rank, 0, i);
    }
    CHECK(MPI_Allgather(in, own, MPI_INT, out, theirs, MPI_INT, s->inter) == MPI_SUCCESS);
    for (int p = 0; p < s->remote_size; ++p) {
        counts[p] = theirs;
        places[p] = p * (theirs + 1);
    }
    CHECK(MPI_Allgatherv(in, own, MPI_INT, outv, counts, places, MPI_INT, s->inter) == MPI_SUCCESS);
    for (int p = 0; p < s->remote_size; ++p) {
        for (int i = 0; i < theirs; ++i) {
            CHECK(out[p * theirs + i] == value(1 - s->side, p, 0, i));
            CHECK(outv[places[p] + i] == value(1 - s->side, p, 0, i));
        }
        CHECK(outv[places[p] + theirs] == guard);
    }
    CHECK(out[s->remote_size * theirs] == guard);
    free(in);
    free(out);
    free(outv);
}

static void test_alltoall(struct sides* s, int n) {
    const int remote_size = s->remote_size;
    int *in = guarded(remote_size * n), *out = guarded(remote_size * n), *outv = guarded(remote_size * n),
        *outw = guarded(remote_size * n);
    int counts[64], places[64], bytes[64];
    MPI_Datatype types[64];
    for (int p = 0; p < remote_size; ++p) {
        for (int i = 0; i < n; ++i) {
            in[p * n + i] = value(s->side, s->rank, p, i);
        }
        counts[p] = n;
        places[p] = p * n;
        bytes[p] = (int)sizeof(int) * p * n;
        types[p] = MPI_INT;
    }
    CHECK(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, s->inter) == MPI_SUCCESS);
    CHECK(MPI_Alltoallv(in, counts, places, MPI_INT, outv, counts, places, MPI_INT, s->inter) == MPI_SUCCESS);
    CHECK(MPI_Alltoallw(in, counts, bytes, types, outw, counts, bytes, types, s->inter) == MPI_SUCCESS);
    for (int p = 0; p < remote_size; ++p) {
        for (int i = 0; i < n; ++i) {
            const int wanted = value(1 - s->side, p, s->rank, i);
            CHECK(out[p * n + i] == wanted && outv[p * n + i] == wanted && outw[p * n + i] == wanted);
        }
    }
    CHECK(out[remote_size * n] == guard && outv[remote_size * n] == guard && outw[remote_size * n] == guard);
    free(in);
    free(out);
    free(outv);
    free(outw);
}

/* No process leaves MPI_Barrier before the last process of the remote group has entered it. */
static void test_barrier(struct sides* s) {
    for (int i = 0; i < 20; ++i) {
        CHECK(MPI_Barrier(s->inter) == MPI_SUCCESS);
    }
    int flag = 0, token = 1;
    const int late = s->remote_size - 1;
    MPI_Request request;
    if (s->side == 0 && s->rank == 0) { /* sent before the barrier, so that it has arrived after the barrier */
        MPI_Isend(&token, 1, MPI_INT, late, 3, s->inter, &request);
    }
    CHECK(MPI_Barrier(s->inter) == MPI_SUCCESS);
    if (s->side == 1 && s->rank == s->size - 1) {
        MPI_Iprobe(0, 3, s->inter, &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
        MPI_Recv(&token, 1, MPI_INT, 0, 3, s->inter, MPI_STATUS_IGNORE);
    }
    if (s->side == 0 && s->rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    static const int lengths[] = {1, 5, 3000};
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(multiply, 0, &product);
    for (int first = 1; first < size; ++first) {
        struct sides s = make_sides(first, 0, 0);
        test_barrier(&s);
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; ++l) {
            const int n = lengths[l];
            for (int root = 0; root < size; ++root) {
                const int side = root >= first, rank = side ? root - first : root;
                test_bcast(&s, side, rank, n);
                test_gather(&s, side, rank, n);
                test_scatter(&s, side, rank, n);
                test_reduce(&s, side, rank, n);
            }
            test_allreduce(&s, n);
            test_allgather(&s, n, n);
            test_allgather(&s, s.side == 0 ? n : 2 * n, s.side == 0 ? 2 * n : n);
            test_allgather(&s, s.side == 0 ? n : 0, s.side == 0 ? 0 : n);
            test_alltoall(&s, n);
        }
        test_reduce_scatter(&s);
        free_sides(&s);
    }
    MPI_Op_free(&product);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return failures();
}
