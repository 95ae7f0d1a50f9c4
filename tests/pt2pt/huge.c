/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of more than 4 GiB: bytes, doubles out of a strided type, and structs, whose layouts differ on both sides.
 */
#include "tests/mpi_check/check.h"

#include <stdlib.h>

enum { sampled = 4093 };

/* Where the data byte k stands: in units of `data` bytes that take `extent` bytes of memory; inside a unit the bytes
 * from `gap_at` on stand `gap` bytes further back. */
struct layout {
    MPI_Count data, extent, gap_at, gap;
};

static const struct layout plain = {1, 1, 1, 0};
static const struct layout strided = {248, 256, 248, 0};
static const struct layout aligned = {124, 128, 4, 4};

static MPI_Count place(const struct layout* layout, MPI_Count k) {
    const MPI_Count inside = k % layout->data;
    return k / layout->data * layout->extent + inside + (inside >= layout->gap_at ? layout->gap : 0);
}

static unsigned char value(MPI_Count k) {
    return (unsigned char)(k * 131 + (k >> 12) + (k >> 31));
}

/* The sampled bytes of a message of n bytes: every 4093rd, and those around 2 and 4 GiB and at the end. */
static MPI_Count next_sample(MPI_Count k, MPI_Count n) {
    const MPI_Count edges[] = {((MPI_Count)1 << 31) - 2, ((MPI_Count)1 << 32) - 2, n - 4};
    for (int i = 0; i < 3; i++) {
        if (k >= edges[i] && k < edges[i] + 4) {
            return k + 1;
        }
    }
    MPI_Count next = k + sampled;
    for (int i = 0; i < 3; i++) {
        next = k < edges[i] && next > edges[i] ? edges[i] : next;
    }
    return next;
}

static void fill(unsigned char* memory, const struct layout* layout, MPI_Count n, int with_values) {
    for (MPI_Count k = 0; k < n; k = next_sample(k, n)) {
        memory[place(layout, k)] = (unsigned char)(with_values ? value(k) : ~value(k));
    }
}

static int is_right(const unsigned char* memory, const struct layout* layout, MPI_Count n) {
    for (MPI_Count k = 0; k < n; k = next_sample(k, n)) {
        if (memory[place(layout, k)] != value(k)) {
            fprintf(stderr, "data byte %lld is %d, not %d\n", (long long)k, memory[place(layout, k)], value(k));
            return 0;
        }
    }
    return 1;
}

/* An int and 15 doubles, as a compiler lays them out or without a gap. */
static MPI_Datatype make_struct(const struct layout* layout) {
    const int lengths[2] = {1, 15};
    const MPI_Aint places[2] = {0, 4 + layout->gap};
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype packed, type;
    MPI_Type_create_struct(2, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, layout->extent, &type);
    MPI_Type_free(&packed);
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype make_strided(void) {
    MPI_Datatype block, type;
    MPI_Type_contiguous(31, MPI_DOUBLE, &block);
    MPI_Type_create_resized(block, 0, 256, &type);
    MPI_Type_free(&block);
    return type;
}

/* All of it as one element. */
static MPI_Datatype make_whole(MPI_Count units, MPI_Datatype* unit) {
    MPI_Datatype type;
    MPI_Type_contiguous_c(units, *unit, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(unit);
    return type;
}

static void send(unsigned char* memory, const struct layout* layout, MPI_Count n, MPI_Count count, MPI_Datatype type) {
    fill(memory, layout, n, 1);
    MPI_Send_c(memory, count, type, 1, 1, MPI_COMM_WORLD);
}

static void receive(unsigned char* memory, const struct layout* layout, MPI_Count n, MPI_Count count, MPI_Datatype type,
    MPI_Count elements) {
    MPI_Status status;
    MPI_Count got = -1;
    int small = 0;
    fill(memory, layout, n, 0);
    MPI_Recv_c(memory, count, type, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, type, &got);
    CHECK(got == count);
    MPI_Get_elements_c(&status, type, &got);
    CHECK(got == elements);
    MPI_Get_count(&status, MPI_BYTE, &small);
    CHECK(small == MPI_UNDEFINED);
    CHECK(is_right(memory, layout, n));
}

static void bytes(unsigned char* memory, int rank) {
    const MPI_Count n = ((MPI_Count)1 << 32) + 12345;
    if (rank == 0) {
        send(memory, &plain, n, n, MPI_BYTE);
    } else {
        receive(memory, &plain, n, n, MPI_BYTE, n);
    }
}

static void vector(unsigned char* memory, int rank) {
    const MPI_Count units = ((MPI_Count)1 << 32) / 248 + 77, doubles = 31 * units;
    if (rank == 0) {
        MPI_Datatype unit = make_strided(), whole = make_whole(units, &unit);
        send(memory, &strided, 8 * doubles, 1, whole);
        MPI_Type_free(&whole);
    } else {
        receive(memory, &plain, 8 * doubles, doubles, MPI_DOUBLE, doubles);
    }
}

static void structs(unsigned char* memory, int rank) {
    const struct layout packed = {124, 124, 124, 0};
    const MPI_Count units = ((MPI_Count)1 << 32) / 124 + 77;
    if (rank == 0) {
        MPI_Datatype unit = make_struct(&aligned);
        send(memory, &aligned, 124 * units, units, unit);
        MPI_Type_free(&unit);
    } else {
        MPI_Datatype unit = make_struct(&packed), whole = make_whole(units, &unit);
        receive(memory, &packed, 124 * units, 1, whole, 16 * units);
        MPI_Type_free(&whole);
    }
}

/* What the kernel could give without swapping, the page cache included. */
static unsigned long long available_bytes(void) {
    char line[256];
    unsigned long long kib = 0;
    FILE* file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib * 1024;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, enough;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t most = ((size_t)1 << 32) / 124 * 128 + (1 << 20);
    enough = available_bytes() > 2 * most + ((size_t)1 << 30);
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    unsigned char* memory = enough ? malloc(most) : NULL;
    enough = memory != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!enough) {
        if (rank == 0) {
            printf("SKIPPED: pt2pt/huge: two ranks need %zu bytes each, %llu are available\n", most, available_bytes());
        }
        free(memory);
        return finish();
    }
    bytes(memory, rank);
    vector(memory, rank);
    structs(memory, rank);
    free(memory);
    return finish();
}
