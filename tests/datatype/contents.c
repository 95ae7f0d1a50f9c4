// SPDX-License-Identifier: BSD-3-Clause
// Every constructor, plain and large: the results of MPI_Type_get_envelope and _contents make the same type again.
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

#define MOST 64

struct arguments {
    int combiner;
    MPI_Count num_integers, num_addresses, num_counts, num_types;
    int i[MOST];
    MPI_Aint a[MOST];
    MPI_Count c[MOST];
    MPI_Datatype t[MOST];
};

static struct arguments decode(MPI_Datatype type) {
    struct arguments args;
    memset(&args, 0, sizeof args);
    CHECK_OK(MPI_Type_get_envelope_c(
        type, &args.num_integers, &args.num_addresses, &args.num_counts, &args.num_types, &args.combiner));
    CHECK_OK(MPI_Type_get_contents_c(type, MOST, MOST, MOST, MOST, args.i, args.a, args.c, args.t));
    return args;
}

static int is_named(MPI_Datatype type) {
    int n, a, d, combiner;
    CHECK_OK(MPI_Type_get_envelope(type, &n, &a, &d, &combiner));
    return combiner == MPI_COMBINER_NAMED;
}

static void drop(struct arguments* args) {
    for (MPI_Count k = 0; k < args->num_types; ++k) {
        if (!is_named(args->t[k])) {
            CHECK_OK(MPI_Type_free(&args->t[k]));
        }
    }
}

static MPI_Datatype plain(const struct arguments* x) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int* i = x->i;
    switch (x->combiner) {
    case MPI_COMBINER_DUP:
        MPI_Type_dup(x->t[0], &made);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        MPI_Type_contiguous(i[0], x->t[0], &made);
        break;
    case MPI_COMBINER_VECTOR:
        MPI_Type_vector(i[0], i[1], i[2], x->t[0], &made);
        break;
    case MPI_COMBINER_HVECTOR:
        MPI_Type_create_hvector(i[0], i[1], x->a[0], x->t[0], &made);
        break;
    case MPI_COMBINER_INDEXED:
        MPI_Type_indexed(i[0], i + 1, i + 1 + i[0], x->t[0], &made);
        break;
    case MPI_COMBINER_HINDEXED:
        MPI_Type_create_hindexed(i[0], i + 1, x->a, x->t[0], &made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI_Type_create_indexed_block(i[0], i[1], i + 2, x->t[0], &made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block(i[0], i[1], x->a, x->t[0], &made);
        break;
    case MPI_COMBINER_STRUCT:
        MPI_Type_create_struct(i[0], i + 1, x->a, x->t, &made);
        break;
    case MPI_COMBINER_SUBARRAY:
        MPI_Type_create_subarray(i[0], i + 1, i + 1 + i[0], i + 1 + 2 * i[0], i[1 + 3 * i[0]], x->t[0], &made);
        break;
    case MPI_COMBINER_DARRAY: {
        const int n = i[2];
        MPI_Type_create_darray(
            i[0], i[1], n, i + 3, i + 3 + n, i + 3 + 2 * n, i + 3 + 3 * n, i[3 + 4 * n], x->t[0], &made);
        break;
    }
    case MPI_COMBINER_RESIZED:
        MPI_Type_create_resized(x->t[0], x->a[0], x->a[1], &made);
        break;
    default:
        CHECK(!"combiner");
    }
    return made;
}

static MPI_Datatype large(const struct arguments* x) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const MPI_Count* c = x->c;
    switch (x->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        MPI_Type_contiguous_c(c[0], x->t[0], &made);
        break;
    case MPI_COMBINER_VECTOR:
        MPI_Type_vector_c(c[0], c[1], c[2], x->t[0], &made);
        break;
    case MPI_COMBINER_HVECTOR:
        MPI_Type_create_hvector_c(c[0], c[1], c[2], x->t[0], &made);
        break;
    case MPI_COMBINER_INDEXED:
        MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], x->t[0], &made);
        break;
    case MPI_COMBINER_HINDEXED:
        MPI_Type_create_hindexed_c(c[0], c + 1, c + 1 + c[0], x->t[0], &made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, x->t[0], &made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block_c(c[0], c[1], c + 2, x->t[0], &made);
        break;
    case MPI_COMBINER_STRUCT:
        MPI_Type_create_struct_c(c[0], c + 1, c + 1 + c[0], x->t, &made);
        break;
    case MPI_COMBINER_SUBARRAY: {
        const int n = x->i[0];
        MPI_Type_create_subarray_c(n, c, c + n, c + 2 * n, x->i[1], x->t[0], &made);
        break;
    }
    case MPI_COMBINER_DARRAY: {
        const int* i = x->i;
        const int n = i[2];
        MPI_Type_create_darray_c(i[0], i[1], n, c, i + 3, i + 3 + n, i + 3 + 2 * n, i[3 + 3 * n], x->t[0], &made);
        break;
    }
    case MPI_COMBINER_RESIZED:
        MPI_Type_create_resized_c(x->t[0], c[0], c[1], &made);
        break;
    default:
        CHECK(!"combiner");
    }
    return made;
}

static void compare(MPI_Datatype a, MPI_Datatype b) {
    enum { bytes = 1 << 14 };
    static unsigned char memory[bytes], packed_a[bytes], packed_b[bytes];
    for (int k = 0; k < bytes; ++k) {
        memory[k] = (unsigned char)(k * 7 + k / 256);
    }
    MPI_Aint lb_a, lb_b, extent_a, extent_b;
    MPI_Type_get_extent(a, &lb_a, &extent_a);
    MPI_Type_get_extent(b, &lb_b, &extent_b);
    CHECK_EQUAL(lb_a, lb_b);
    CHECK_EQUAL(extent_a, extent_b);
    int size_a, size_b, at_a = 0, at_b = 0;
    MPI_Type_size(a, &size_a);
    MPI_Type_size(b, &size_b);
    CHECK_EQUAL(size_a, size_b);
    MPI_Type_commit(&a);
    MPI_Type_commit(&b);
    CHECK_OK(MPI_Pack(memory + bytes / 2, 2, a, packed_a, bytes, &at_a, MPI_COMM_SELF));
    CHECK_OK(MPI_Pack(memory + bytes / 2, 2, b, packed_b, bytes, &at_b, MPI_COMM_SELF));
    CHECK_EQUAL(at_a, at_b);
    CHECK_EQUAL(at_a, 2 * size_a);
    CHECK(memcmp(packed_a, packed_b, (size_t)at_a) == 0);
}

/* Takes the type apart, makes it again, compares, frees both. The numbers of arguments must be these. */
static void round_trip(MPI_Datatype type, int combiner, MPI_Count i, MPI_Count a, MPI_Count c, MPI_Count t) {
    struct arguments args = decode(type);
    CHECK_EQUAL(args.combiner, combiner);
    CHECK_EQUAL(args.num_integers, i);
    CHECK_EQUAL(args.num_addresses, a);
    CHECK_EQUAL(args.num_counts, c);
    CHECK_EQUAL(args.num_types, t);
    int ni, na, nt, plain_combiner;
    if (c == 0) {
        CHECK_OK(MPI_Type_get_envelope(type, &ni, &na, &nt, &plain_combiner));
        CHECK_EQUAL(ni, i);
        CHECK_EQUAL(na, a);
        CHECK_EQUAL(nt, t);
        CHECK_EQUAL(plain_combiner, combiner);
    } else {
        /* Large counts have no place in the plain calls. */
        CHECK_CLASS(MPI_Type_get_envelope(type, &ni, &na, &nt, &plain_combiner), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Type_get_contents(type, MOST, MOST, MOST, args.i, args.a, args.t), MPI_ERR_TYPE);
    }
    MPI_Datatype again = c == 0 ? plain(&args) : large(&args);
    compare(type, again);
    drop(&args);
    CHECK_OK(MPI_Type_free(&again));
    CHECK_OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
}

static void plain_constructors(MPI_Datatype old) {
    const int lengths[3] = {2, 0, 1};
    const int places[3] = {4, 9, -3};
    const MPI_Aint bytes[3] = {64, 0, -80};
    const MPI_Datatype types[3] = {old, MPI_CHAR, MPI_DOUBLE_INT};
    const int sizes[2] = {4, 5}, part[2] = {2, 3}, from[2] = {1, 2};
    const int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int dargs[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 3};
    MPI_Datatype type;

    MPI_Type_dup(old, &type);
    round_trip(type, MPI_COMBINER_DUP, 0, 0, 0, 1);
    MPI_Type_contiguous(3, old, &type);
    round_trip(type, MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1);
    MPI_Type_vector(3, 2, -4, old, &type);
    round_trip(type, MPI_COMBINER_VECTOR, 3, 0, 0, 1);
    MPI_Type_create_hvector(3, 2, 120, old, &type);
    round_trip(type, MPI_COMBINER_HVECTOR, 2, 1, 0, 1);
    MPI_Type_indexed(3, lengths, places, old, &type);
    round_trip(type, MPI_COMBINER_INDEXED, 7, 0, 0, 1);
    MPI_Type_create_hindexed(3, lengths, bytes, old, &type);
    round_trip(type, MPI_COMBINER_HINDEXED, 4, 3, 0, 1);
    MPI_Type_create_indexed_block(3, 2, places, old, &type);
    round_trip(type, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 0, 1);
    MPI_Type_create_hindexed_block(3, 2, bytes, old, &type);
    round_trip(type, MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 0, 1);
    MPI_Type_create_struct(3, lengths, bytes, types, &type);
    round_trip(type, MPI_COMBINER_STRUCT, 4, 3, 0, 3);
    MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_FORTRAN, old, &type);
    round_trip(type, MPI_COMBINER_SUBARRAY, 8, 0, 0, 1);
    MPI_Type_create_darray(6, 4, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, old, &type);
    round_trip(type, MPI_COMBINER_DARRAY, 12, 0, 0, 1);
    MPI_Type_create_resized(old, -8, 48, &type);
    round_trip(type, MPI_COMBINER_RESIZED, 0, 2, 0, 1);
}

static void large_constructors(MPI_Datatype old) {
    const MPI_Count lengths[3] = {2, 0, 1};
    const MPI_Count places[3] = {4, 9, -3};
    const MPI_Count bytes[3] = {64, 0, -80};
    const MPI_Datatype types[3] = {old, MPI_CHAR, MPI_DOUBLE_INT};
    const MPI_Count sizes[2] = {4, 5}, part[2] = {2, 3}, from[2] = {1, 2};
    const int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int dargs[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 3};
    MPI_Datatype type;

    MPI_Type_contiguous_c(3, old, &type);
    round_trip(type, MPI_COMBINER_CONTIGUOUS, 0, 0, 1, 1);
    MPI_Type_vector_c(3, 2, -4, old, &type);
    round_trip(type, MPI_COMBINER_VECTOR, 0, 0, 3, 1);
    MPI_Type_create_hvector_c(3, 2, 120, old, &type);
    round_trip(type, MPI_COMBINER_HVECTOR, 0, 0, 3, 1);
    MPI_Type_indexed_c(3, lengths, places, old, &type);
    round_trip(type, MPI_COMBINER_INDEXED, 0, 0, 7, 1);
    MPI_Type_create_hindexed_c(3, lengths, bytes, old, &type);
    round_trip(type, MPI_COMBINER_HINDEXED, 0, 0, 7, 1);
    MPI_Type_create_indexed_block_c(3, 2, places, old, &type);
    round_trip(type, MPI_COMBINER_INDEXED_BLOCK, 0, 0, 5, 1);
    MPI_Type_create_hindexed_block_c(3, 2, bytes, old, &type);
    round_trip(type, MPI_COMBINER_HINDEXED_BLOCK, 0, 0, 5, 1);
    MPI_Type_create_struct_c(3, lengths, bytes, types, &type);
    round_trip(type, MPI_COMBINER_STRUCT, 0, 0, 7, 3);
    MPI_Type_create_subarray_c(2, sizes, part, from, MPI_ORDER_C, old, &type);
    round_trip(type, MPI_COMBINER_SUBARRAY, 2, 0, 6, 1);
    MPI_Type_create_darray_c(6, 4, 2, sizes, distribs, dargs, grid, MPI_ORDER_FORTRAN, old, &type);
    round_trip(type, MPI_COMBINER_DARRAY, 10, 0, 2, 1);
    MPI_Type_create_resized_c(old, -8, 48, &type);
    round_trip(type, MPI_COMBINER_RESIZED, 0, 0, 2, 1);
}

static void named_and_fortran_types(void) {
    int n, a, d, combiner, values[2];
    CHECK_OK(MPI_Type_get_envelope(MPI_DOUBLE, &n, &a, &d, &combiner));
    CHECK_EQUAL(combiner, MPI_COMBINER_NAMED);
    CHECK_EQUAL(n + a + d, 0);
    CHECK_CLASS(MPI_Type_get_contents(MPI_DOUBLE, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);

    MPI_Datatype real;
    CHECK_OK(MPI_Type_create_f90_real(10, 200, &real));
    CHECK_OK(MPI_Type_get_envelope(real, &n, &a, &d, &combiner));
    CHECK_EQUAL(combiner, MPI_COMBINER_F90_REAL);
    CHECK_EQUAL(n, 2);
    CHECK_EQUAL(a + d, 0);
    CHECK_OK(MPI_Type_get_contents(real, 2, 0, 0, values, NULL, NULL));
    CHECK_EQUAL(values[0], 10);
    CHECK_EQUAL(values[1], 200);
    CHECK_CLASS(MPI_Type_free(&real), MPI_ERR_TYPE);
}

/* What is handed out is the caller's: freeing it does not affect the original, nor the reverse. */
static void components_are_new_types(void) {
    MPI_Datatype inner, outer;
    MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_free(&inner);
    struct arguments args = decode(outer);
    MPI_Type_free(&outer);
    int n, a, d, combiner;
    CHECK_OK(MPI_Type_get_envelope(args.t[0], &n, &a, &d, &combiner));
    CHECK_EQUAL(combiner, MPI_COMBINER_VECTOR);
    CHECK_OK(MPI_Type_free(&args.t[0]));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype derived;
    MPI_Type_vector(2, 1, 2, MPI_SHORT, &derived);
    plain_constructors(MPI_INT);
    plain_constructors(derived);
    large_constructors(MPI_INT);
    large_constructors(derived);
    MPI_Type_free(&derived);
    named_and_fortran_types();
    components_are_new_types();
    return finish();
}
