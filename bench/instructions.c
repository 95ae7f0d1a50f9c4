/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that bench/instructions counts: 8-byte messages from rank 0 to rank 1 and back. Each call stands in a
 * function of its own, measure_*, so that callgrind counts each call separately. When a call is counted, everything
 * that it needs has happened already (the message has arrived, the peer does not sleep), so that no count depends on
 * time. The processes synchronise through a word of shared memory, not through messages. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { warm_up = 40, rounds = 200, tag = 1 };

static MPI_Comm comm;
static double out = 1, in;
static MPI_Request request, persistent_send, persistent_receive;

/* The text of the assembler comment differs, so that the compiler does not merge functions with equal bodies. */
#define MEASURE(name, call)                                                                                            \
    __attribute__((noinline)) static void measure_##name(void) {                                                       \
        call;                                                                                                          \
        __asm__ volatile("# " #name);                                                                                  \
    }
MEASURE(send, MPI_Send(&out, 1, MPI_DOUBLE, 1, tag, comm))
MEASURE(isend, MPI_Isend(&out, 1, MPI_DOUBLE, 1, tag, comm, &request))
MEASURE(wait_isend, MPI_Wait(&request, MPI_STATUS_IGNORE))
MEASURE(start_send, MPI_Start(&persistent_send))
MEASURE(wait_start_send, MPI_Wait(&persistent_send, MPI_STATUS_IGNORE))
MEASURE(irecv, MPI_Irecv(&in, 1, MPI_DOUBLE, 1, tag, comm, &request))
MEASURE(wait_irecv, MPI_Wait(&request, MPI_STATUS_IGNORE))
MEASURE(start_recv, MPI_Start(&persistent_receive))
MEASURE(wait_start_recv, MPI_Wait(&persistent_receive, MPI_STATUS_IGNORE))
MEASURE(recv, MPI_Recv(&in, 1, MPI_DOUBLE, 1, tag, comm, MPI_STATUS_IGNORE))
MEASURE(recv_unexpected, MPI_Recv(&in, 1, MPI_DOUBLE, 1, tag, comm, MPI_STATUS_IGNORE))

/* callgrind's counts begin here (--zero-before). */
__attribute__((noinline)) static void begin_to_count(void) {
    __asm__ volatile("");
}

/* And end here (--dump-before). */
__attribute__((noinline)) static void end_to_count(void) {
    __asm__ volatile("# end");
}

struct step {
    void (*call)(void);  /* of rank 0 */
    void (*reply)(void); /* of rank 1, before `call` where `reply_first`; NULL: nothing */
    int reply_first;
};

static void reply_send(void) {
    MPI_Send(&out, 1, MPI_DOUBLE, 0, tag, comm);
}
static void reply_send_other(void) {
    MPI_Send(&out, 1, MPI_DOUBLE, 0, tag, comm);
    MPI_Send(&out, 1, MPI_DOUBLE, 0, tag + 1, comm);
}
static void reply_recv(void) {
    MPI_Recv(&in, 1, MPI_DOUBLE, 0, tag, comm, MPI_STATUS_IGNORE);
}
/* The message with `tag`, which was sent before this one, is an unexpected one afterwards. */
static void take_other(void) {
    MPI_Recv(&in, 1, MPI_DOUBLE, 1, tag + 1, comm, MPI_STATUS_IGNORE);
}

static const struct step steps[] = {
    {measure_send, reply_recv, 0},
    {measure_isend, reply_recv, 0},
    {measure_wait_isend, NULL, 0},
    {measure_start_send, reply_recv, 0},
    {measure_wait_start_send, NULL, 0},
    {measure_irecv, NULL, 0},
    {measure_wait_irecv, reply_send, 1},
    {measure_start_recv, NULL, 0},
    {measure_wait_start_recv, reply_send, 1},
    {measure_recv, reply_send, 1},
    {take_other, reply_send_other, 1},
    {measure_recv_unexpected, NULL, 0},
};

/* A word in memory that both processes share: rank 0 makes it, rank 1 opens it through /proc. */
static atomic_int* share_word(int rank) {
    int where[2] = {(int)getpid(), -1};
    if (rank == 0) {
        where[1] = memfd_create("instructions", 0);
        if (ftruncate(where[1], 4096) != 0) {
            return NULL;
        }
    }
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
    const int fd = rank == 0 ? where[1] : open(path, O_RDWR);
    void* memory = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void wait_for(atomic_int* word, int value) {
    while (atomic_load(word) < value) {
        sched_yield();
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "%s: needs 2 processes\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    comm = MPI_COMM_WORLD;
    if (argc > 1 && strcmp(argv[1], "dup") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    atomic_int* word = share_word(rank);
    if (word == NULL) {
        fprintf(stderr, "%s: no shared memory\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Send_init(&out, 1, MPI_DOUBLE, 1 - rank, tag, comm, &persistent_send);
    MPI_Recv_init(&in, 1, MPI_DOUBLE, 1 - rank, tag, comm, &persistent_receive);
    MPI_Barrier(MPI_COMM_WORLD);
    const int count = (int)(sizeof steps / sizeof steps[0]);
    int step = 0;
    for (int round = 0; round < warm_up + rounds; ++round) {
        if (round == warm_up) {
            begin_to_count();
        }
        for (int i = 0; i < count; ++i) {
            /* One process acts first, then the other. */
            for (int half = 0; half < 2; ++half, ++step) {
                const int next = steps[i].reply_first ? 1 - half : half;
                wait_for(word, step);
                if (next == rank) {
                    void (*call)(void) = rank == 0 ? steps[i].call : steps[i].reply;
                    if (call != NULL) {
                        call();
                    }
                    atomic_store(word, step + 1);
                }
            }
        }
    }
    end_to_count();
    MPI_Request_free(&persistent_send);
    MPI_Request_free(&persistent_receive);
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm != MPI_COMM_WORLD) {
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
