/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack, MPI_Unpack and half round trips of derived datatypes, by type and by bytes of data.
     datatype.c pack|pingpong [TYPE,...|all [SIZE,...]]
   Each figure is the least of the means of some chunks, because whatever else runs on the machine only adds time. Both
   halves of a round trip send from one array and receive into another, so that each message is packed and unpacked. */
#include "metric.h"
#include <mpi.h>
#include <string.h>

enum { chunks = 7, tag = 1 };

/* A datatype whose element holds about as many bytes as asked for, and the memory that it spans. */
struct shape {
    MPI_Datatype type;
    size_t span;
};

static int count_of(size_t bytes, size_t piece) {
    return bytes < piece ? 1 : (int)(bytes / piece);
}

static struct shape every_other_double(size_t bytes) {
    const int n = count_of(bytes, 8);
    struct shape made = {MPI_DATATYPE_NULL, (size_t)n * 16};
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &made.type);
    return made;
}

static struct shape eight_doubles(size_t bytes) {
    const int n = count_of(bytes, 64);
    struct shape made = {MPI_DATATYPE_NULL, (size_t)n * 128};
    MPI_Type_vector(n, 8, 16, MPI_DOUBLE, &made.type);
    return made;
}

static struct shape subarray(int dimensions, const int* sizes, const int* subsizes, const int* starts) {
    struct shape made = {MPI_DATATYPE_NULL, 8};
    for (int d = 0; d < dimensions; d++) {
        made.span *= (size_t)sizes[d];
    }
    MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &made.type);
    return made;
}

/* One column of a matrix with 16 columns. */
static struct shape column(size_t bytes) {
    const int sizes[] = {count_of(bytes, 8), 16}, subsizes[] = {sizes[0], 1}, starts[] = {0, 5};
    return subarray(2, sizes, subsizes, starts);
}

/* The left half of a square matrix. */
static struct shape half_matrix(size_t bytes) {
    int n = 2;
    while ((size_t)n * (size_t)n * 4 < bytes) {
        n += 2;
    }
    const int sizes[] = {n, n}, subsizes[] = {n, n / 2}, starts[] = {0, 0};
    return subarray(2, sizes, subsizes, starts);
}

static int side_of_face(size_t bytes) {
    int n = 1;
    while ((size_t)(n + 1) * (size_t)(n + 1) * 8 <= bytes) {
        n++;
    }
    return n;
}

/* Faces of a block of n*n*8 doubles inside a border that is one double wide. The first one consists of single doubles
   in two nested strides, and the second one of rows. */
static struct shape face_of_doubles(size_t bytes) {
    const int n = side_of_face(bytes);
    const int sizes[] = {n + 2, n + 2, 10}, subsizes[] = {n, n, 1}, starts[] = {1, 1, 1};
    return subarray(3, sizes, subsizes, starts);
}

static struct shape face_of_rows(size_t bytes) {
    const int n = side_of_face(bytes);
    const int sizes[] = {n + 2, 10, n + 2}, subsizes[] = {n, 1, n}, starts[] = {1, 1, 1};
    return subarray(3, sizes, subsizes, starts);
}

/* An array of struct { int a; double b; }. */
static struct shape struct_with_hole(size_t bytes) {
    const int n = count_of(bytes, 12);
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    struct shape made = {MPI_DATATYPE_NULL, (size_t)n * 16};
    MPI_Datatype element;
    MPI_Type_create_struct(2, lengths, places, types, &element);
    MPI_Type_contiguous(n, element, &made.type);
    MPI_Type_free(&element);
    return made;
}

static unsigned next_random(unsigned* state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The numbers 0 to n - 1 in random order, the same in each run. */
static int* shuffled(int n, unsigned* state) {
    int* list = malloc((size_t)n * sizeof *list);
    for (int i = 0; i < n; i++) {
        const int other = (int)(next_random(state) % (unsigned)(i + 1));
        list[i] = list[other];
        list[other] = i;
    }
    return list;
}

/* Blocks of one length in random order: each second slot of memory is used. */
static struct shape random_blocks_of(size_t bytes, int doubles) {
    unsigned state = 1;
    const int n = count_of(bytes, 8 * (size_t)doubles);
    struct shape made = {MPI_DATATYPE_NULL, (size_t)n * 16 * (size_t)doubles};
    int* places = shuffled(n, &state);
    for (int i = 0; i < n; i++) {
        places[i] *= 2 * doubles;
    }
    MPI_Type_create_indexed_block(n, doubles, places, MPI_DOUBLE, &made.type);
    free(places);
    return made;
}

static struct shape random_doubles(size_t bytes) {
    return random_blocks_of(bytes, 1);
}

static struct shape random_fours(size_t bytes) {
    return random_blocks_of(bytes, 4);
}

/* Blocks of 1 to 8 doubles in random order. */
static struct shape random_lengths(size_t bytes) {
    unsigned state = 2;
    const int n = count_of(bytes, 36);
    struct shape made = {MPI_DATATYPE_NULL, (size_t)n * 128};
    int* places = shuffled(n, &state);
    int* lengths = malloc((size_t)n * sizeof *lengths);
    for (int i = 0; i < n; i++) {
        places[i] *= 16;
        lengths[i] = 1 + (int)(next_random(&state) % 8);
    }
    MPI_Type_indexed(n, lengths, places, MPI_DOUBLE, &made.type);
    free(lengths);
    free(places);
    return made;
}

/* An array of struct { int id; double position[3]; struct { char kind; double values[4]; } state; }, of whose values
   the first and the third belong to the type. */
static struct shape nested_struct(size_t bytes) {
    const int n = count_of(bytes, 45);
    const int inner_lengths[] = {1, 1}, lengths[] = {1, 3, 1};
    const MPI_Aint inner_places[] = {0, 8}, places[] = {0, 8, 32};
    struct shape made = {MPI_DATATYPE_NULL, (size_t)n * 72};
    MPI_Datatype values, inner, sized, outer, element;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &values);
    const MPI_Datatype inner_types[] = {MPI_CHAR, values};
    MPI_Type_create_struct(2, inner_lengths, inner_places, inner_types, &inner);
    MPI_Type_create_resized(inner, 0, 40, &sized);
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, sized};
    MPI_Type_create_struct(3, lengths, places, types, &outer);
    MPI_Type_create_resized(outer, 0, 72, &element);
    MPI_Type_contiguous(n, element, &made.type);
    MPI_Type_free(&values);
    MPI_Type_free(&inner);
    MPI_Type_free(&sized);
    MPI_Type_free(&outer);
    MPI_Type_free(&element);
    return made;
}

static const struct {
    const char* name;
    struct shape (*make)(size_t bytes);
} shapes[] = {{"every_other_double", every_other_double}, {"eight_doubles", eight_doubles}, {"column", column},
    {"half_matrix", half_matrix}, {"face_of_doubles", face_of_doubles}, {"face_of_rows", face_of_rows},
    {"struct_with_hole", struct_with_hole}, {"random_doubles", random_doubles}, {"random_fours", random_fours},
    {"random_lengths", random_lengths}, {"nested_struct", nested_struct}};

struct work {
    MPI_Datatype type;
    char* memory; /* what is packed or sent */
    char* target; /* what is unpacked into or received into */
    char* packed;
    int size, rank;
};

static void pack(const struct work* work) {
    int position = 0;
    MPI_Pack(work->memory, 1, work->type, work->packed, work->size, &position, MPI_COMM_SELF);
}

static void unpack(const struct work* work) {
    int position = 0;
    MPI_Unpack(work->packed, work->size, &position, work->target, 1, work->type, MPI_COMM_SELF);
}

static void round_trip(const struct work* work) {
    const int peer = 1 - work->rank;
    if (work->rank == 0) {
        MPI_Send(work->memory, 1, work->type, peer, tag, MPI_COMM_WORLD);
    }
    MPI_Recv(work->target, 1, work->type, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (work->rank == 1) {
        MPI_Send(work->memory, 1, work->type, peer, tag, MPI_COMM_WORLD);
    }
}

static double mean(void (*operation)(const struct work*), const struct work* work, int rounds) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        operation(work);
    }
    return (MPI_Wtime() - start) / rounds;
}

/* About 10 ms a figure. All ranks of `comm` take part. */
static double least(void (*operation)(const struct work*), const struct work* work, MPI_Comm comm) {
    mean(operation, work, 2); /* warm-up */
    int rounds = (int)(0.01 / BENCH_DIVISOR / chunks / mean(operation, work, 3));
    rounds = rounds < 2 ? 2 : rounds > 2000 ? 2000 : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, comm);
    double best = mean(operation, work, rounds);
    for (int k = 1; k < chunks; k++) {
        const double sample = mean(operation, work, rounds);
        best = sample < best ? sample : best;
    }
    return best * 1e6;
}

static void report(const char* operation, const char* shape, size_t bytes, double value) {
    char name[80];
    snprintf(name, sizeof name, bytes < 1 << 20 ? "%s_%s_%zuKiB" : "%s_%s_%zuMiB", operation, shape,
        bytes < 1 << 20 ? bytes >> 10 : bytes >> 20);
    metric(name, value, "us", "lower");
}

/* Memory at a fixed place in its page, whatever the MPI has allocated before: copies depend on it. Returns what is to
   be freed. */
static char* allocate(size_t bytes, size_t place, char** memory) {
    char* const block = aligned_alloc(4096, (bytes + place + 4095) / 4096 * 4096);
    *memory = block + place;
    return block;
}

static void measure(int shape, size_t bytes, int messages, int rank) {
    struct shape made = shapes[shape].make(bytes);
    struct work work = {made.type, NULL, NULL, NULL, 0, rank};
    MPI_Type_commit(&work.type);
    MPI_Type_size(work.type, &work.size);
    char* const memory = allocate(made.span, 0, &work.memory);
    char* const target = allocate(made.span, 1344, &work.target);
    char* const packed = allocate((size_t)work.size, 2688, &work.packed);
    memset(work.memory, 1, made.span);
    memset(work.target, 2, made.span);
    memset(work.packed, 3, (size_t)work.size);
    if (messages) {
        const double time = least(round_trip, &work, MPI_COMM_WORLD) / 2;
        if (rank == 0) {
            report("pingpong", shapes[shape].name, bytes, time);
        }
    } else {
        report("pack", shapes[shape].name, bytes, least(pack, &work, MPI_COMM_SELF));
        report("unpack", shapes[shape].name, bytes, least(unpack, &work, MPI_COMM_SELF));
    }
    free(packed);
    free(target);
    free(memory);
    MPI_Type_free(&work.type);
}

static int listed(const char* list, const char* name) {
    const size_t length = strlen(name);
    for (const char* at = list; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return 1;
        }
    }
    return strcmp(list, "all") == 0;
}

int main(int argc, char** argv) {
    const char* types = argc > 2 ? argv[2] : "all";
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int messages = argc > 1 && strcmp(argv[1], "pingpong") == 0;
    if ((!messages && (argc < 2 || strcmp(argv[1], "pack") != 0)) || ranks != (messages ? 2 : 1)) {
        fprintf(stderr, "usage: mpirun -n 1 datatype pack ..., or mpirun -n 2 datatype pingpong ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char sizes[200];
        snprintf(sizes, sizeof sizes, "%s", argc > 3 ? argv[3] : "1024,16384,262144,4194304");
        for (char* size = strtok(sizes, ","); listed(types, shapes[i].name) && size != NULL; size = strtok(NULL, ",")) {
            measure((int)i, (size_t)strtoul(size, NULL, 10), messages, rank);
        }
    }
    MPI_Finalize();
    return 0;
}
