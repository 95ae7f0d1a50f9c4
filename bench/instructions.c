/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that bench/instructions counts: 8-byte messages from rank 0 to rank 1 and back, and collectives of
 * 8 bytes, blocking and persistent. Each call stands in a function of its own, measure_*, so that callgrind counts each
 * call separately. When a call is counted, everything that it needs has happened already (the message has arrived, the
 * peer does not sleep), so that no count depends on time. In a collective in which each rank needs the other one, rank
 * 1 is in the call for some time before rank 0 calls; where that was too short, the count of a block of rounds is too
 * high, and bench/instructions takes the least of all blocks. The processes synchronise through a word of shared
 * memory, not through messages. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#if __has_include(<mpix.h>) /* also other MPI libraries are measured */
#include <mpix.h>
#define HAVE_CHANNELS
#endif
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { warm_up = 40, blocks = 8, rounds = 20, tag = 1 };

static MPI_Comm comm;
static double out = 1, in;
static double two_out[2], two_in[2]; /* a block for each rank */
static MPI_Request request, persistent_send, persistent_receive;
static int flag;
#ifdef HAVE_CHANNELS
static MPI_Request channel_send, channel_receive;
#endif

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
MEASURE(start_test_send, MPI_Start(&persistent_send))
MEASURE(test_start_send, MPI_Test(&persistent_send, &flag, MPI_STATUS_IGNORE))
#ifdef HAVE_CHANNELS
MEASURE(channel_send, MPI_Start(&channel_send))
MEASURE(wait_channel_send, MPI_Wait(&channel_send, MPI_STATUS_IGNORE))
MEASURE(channel_test_send, MPI_Start(&channel_send))
MEASURE(test_channel_send, MPI_Test(&channel_send, &flag, MPI_STATUS_IGNORE))
MEASURE(channel_receive, MPI_Start(&channel_receive))
MEASURE(wait_channel_receive, MPI_Wait(&channel_receive, MPI_STATUS_IGNORE))
MEASURE(channel_test_receive, MPI_Start(&channel_receive))
MEASURE(test_channel_receive, MPI_Test(&channel_receive, &flag, MPI_STATUS_IGNORE))
#endif
MEASURE(recv, MPI_Recv(&in, 1, MPI_DOUBLE, 1, tag, comm, MPI_STATUS_IGNORE))
MEASURE(recv_unexpected, MPI_Recv(&in, 1, MPI_DOUBLE, 1, tag, comm, MPI_STATUS_IGNORE))

MEASURE(barrier, MPI_Barrier(comm))
MEASURE(bcast_root, MPI_Bcast(&out, 1, MPI_DOUBLE, 0, comm))
MEASURE(bcast, MPI_Bcast(&in, 1, MPI_DOUBLE, 1, comm))
MEASURE(reduce_root, MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 0, comm))
MEASURE(reduce, MPI_Reduce(&out, NULL, 1, MPI_DOUBLE, MPI_SUM, 1, comm))
MEASURE(gather_root, MPI_Gather(&out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, 0, comm))
MEASURE(gather, MPI_Gather(&out, 1, MPI_DOUBLE, NULL, 1, MPI_DOUBLE, 1, comm))
MEASURE(scatter_root, MPI_Scatter(two_out, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, 0, comm))
MEASURE(scatter, MPI_Scatter(NULL, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, 1, comm))
MEASURE(allreduce, MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, comm))
MEASURE(allgather, MPI_Allgather(&out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, comm))
MEASURE(alltoall, MPI_Alltoall(two_out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, comm))

/* A start of a persistent collective, and the wait for it, in one count: the same work as the blocking call. */
enum {
    barrier_again,
    bcast_root_again,
    bcast_again,
    reduce_root_again,
    reduce_again,
    allreduce_again,
    allgather_again,
    alltoall_again,
    collectives
};
static MPI_Request again[collectives];
__attribute__((always_inline)) static inline void run_again(MPI_Request* persistent) {
    MPI_Start(persistent);
    MPI_Wait(persistent, MPI_STATUS_IGNORE);
}
#define PERSISTENT(name)                                                                                               \
    MEASURE(persistent_##name, run_again(&again[name##_again]))                                                        \
    static void reply_persistent_##name(void) {                                                                        \
        run_again(&again[name##_again]);                                                                               \
    }
PERSISTENT(barrier)
PERSISTENT(bcast_root)
PERSISTENT(bcast)
PERSISTENT(reduce_root)
PERSISTENT(reduce)
PERSISTENT(allreduce)
PERSISTENT(allgather)
PERSISTENT(alltoall)

static void init_collectives(void) {
    MPI_Barrier_init(comm, MPI_INFO_NULL, &again[barrier_again]);
    MPI_Bcast_init(&out, 1, MPI_DOUBLE, 0, comm, MPI_INFO_NULL, &again[bcast_root_again]);
    MPI_Bcast_init(&in, 1, MPI_DOUBLE, 1, comm, MPI_INFO_NULL, &again[bcast_again]);
    MPI_Reduce_init(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 0, comm, MPI_INFO_NULL, &again[reduce_root_again]);
    MPI_Reduce_init(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 1, comm, MPI_INFO_NULL, &again[reduce_again]);
    MPI_Allreduce_init(&out, &in, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &again[allreduce_again]);
    MPI_Allgather_init(&out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, comm, MPI_INFO_NULL, &again[allgather_again]);
    MPI_Alltoall_init(two_out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, comm, MPI_INFO_NULL, &again[alltoall_again]);
}

/* callgrind's counts begin here (--zero-before). */
__attribute__((noinline)) static void begin_to_count(void) {
    __asm__ volatile("");
}

/* And end here (--dump-before). */
__attribute__((noinline)) static void end_to_count(void) {
    __asm__ volatile("# end");
}

enum order { call_first, reply_first, together };

struct step {
    void (*call)(void);  /* of rank 0 */
    void (*reply)(void); /* of rank 1, after `call`, before it, or at the same time; NULL: nothing */
    enum order order;
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
#ifdef HAVE_CHANNELS
static void reply_channel_receive(void) {
    MPI_Start(&channel_receive);
    MPI_Wait(&channel_receive, MPI_STATUS_IGNORE);
}
static void reply_channel_send(void) {
    MPI_Start(&channel_send);
    MPI_Wait(&channel_send, MPI_STATUS_IGNORE);
}
#endif
/* The message with `tag`, which was sent before this one, is an unexpected one afterwards. */
static void take_other(void) {
    MPI_Recv(&in, 1, MPI_DOUBLE, 1, tag + 1, comm, MPI_STATUS_IGNORE);
}

static void reply_bcast(void) {
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, comm);
}
static void reply_bcast_root(void) {
    MPI_Bcast(&out, 1, MPI_DOUBLE, 1, comm);
}
static void reply_reduce(void) {
    MPI_Reduce(&out, NULL, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
}
static void reply_reduce_root(void) {
    MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 1, comm);
}
static void reply_gather(void) {
    MPI_Gather(&out, 1, MPI_DOUBLE, NULL, 1, MPI_DOUBLE, 0, comm);
}
static void reply_gather_root(void) {
    MPI_Gather(&out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, 1, comm);
}
static void reply_scatter(void) {
    MPI_Scatter(NULL, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, 0, comm);
}
static void reply_scatter_root(void) {
    MPI_Scatter(two_out, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, 1, comm);
}
static void reply_barrier(void) {
    MPI_Barrier(comm);
}
static void reply_allreduce(void) {
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, comm);
}
static void reply_allgather(void) {
    MPI_Allgather(&out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, comm);
}
static void reply_alltoall(void) {
    MPI_Alltoall(two_out, 1, MPI_DOUBLE, two_in, 1, MPI_DOUBLE, comm);
}

static const struct step steps[] = {
    {measure_send, reply_recv, call_first},
    {measure_isend, reply_recv, call_first},
    {measure_wait_isend, NULL, call_first},
    {measure_start_send, reply_recv, call_first},
    {measure_wait_start_send, NULL, call_first},
    {measure_start_test_send, reply_recv, call_first},
    {measure_test_start_send, NULL, call_first},
#ifdef HAVE_CHANNELS
    {measure_channel_send, reply_channel_receive, call_first},
    {measure_wait_channel_send, NULL, call_first},
    {measure_channel_test_send, reply_channel_receive, call_first},
    {measure_test_channel_send, NULL, call_first},
    {measure_channel_receive, NULL, call_first},
    {measure_wait_channel_receive, reply_channel_send, reply_first},
    {measure_channel_test_receive, NULL, call_first},
    {measure_test_channel_receive, reply_channel_send, reply_first},
#endif
    {measure_irecv, NULL, call_first},
    {measure_wait_irecv, reply_send, reply_first},
    {measure_start_recv, NULL, call_first},
    {measure_wait_start_recv, reply_send, reply_first},
    {measure_recv, reply_send, reply_first},
    {take_other, reply_send_other, reply_first},
    {measure_recv_unexpected, NULL, call_first},
    {measure_barrier, reply_barrier, together},
    {measure_bcast_root, reply_bcast, call_first},
    {measure_bcast, reply_bcast_root, reply_first},
    {measure_reduce_root, reply_reduce, reply_first},
    {measure_reduce, reply_reduce_root, call_first},
    {measure_gather_root, reply_gather, reply_first},
    {measure_gather, reply_gather_root, call_first},
    {measure_scatter_root, reply_scatter, call_first},
    {measure_scatter, reply_scatter_root, reply_first},
    {measure_allreduce, reply_allreduce, together},
    {measure_allgather, reply_allgather, together},
    {measure_alltoall, reply_alltoall, together},
    {measure_persistent_barrier, reply_persistent_barrier, together},
    {measure_persistent_bcast_root, reply_persistent_bcast_root, call_first},
    {measure_persistent_bcast, reply_persistent_bcast, reply_first},
    {measure_persistent_reduce_root, reply_persistent_reduce_root, reply_first},
    {measure_persistent_reduce, reply_persistent_reduce, call_first},
    {measure_persistent_allreduce, reply_persistent_allreduce, together},
    {measure_persistent_allgather, reply_persistent_allgather, together},
    {measure_persistent_alltoall, reply_persistent_alltoall, together},
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

/* Gives the other process time to call and to wait. */
static void let_wait(void) {
    const double end = MPI_Wtime() + 2e-3;
    while (MPI_Wtime() < end) {
        sched_yield();
    }
}

/* The calls of one step. Two values of the word for each: one process acts first, then the other. */
static void run(const struct step* step, int rank, atomic_int* word, int before) {
    void (*call)(void) = rank == 0 ? step->call : step->reply;
    const int first = step->order == call_first ? 0 : 1; /* the rank that acts first */
    if (rank == first) {
        wait_for(word, before);
        if (step->order == together) {
            atomic_store(word, before + 1);
        }
    } else {
        wait_for(word, before + 1);
        if (step->order == together) {
            let_wait();
        }
    }
    if (call != NULL) {
        call();
    }
    if (rank != first) {
        atomic_store(word, before + 2);
    } else if (step->order != together) {
        atomic_store(word, before + 1);
    }
}

static void run_rounds(int count, int rank, atomic_int* word) {
    const int in_round = (int)(sizeof steps / sizeof steps[0]);
    static int before;
    for (int i = 0; i < count * in_round; ++i, before += 2) {
        run(&steps[i % in_round], rank, word, before);
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
    init_collectives();
#ifdef HAVE_CHANNELS
    MPI_Request plain[] = {persistent_send, persistent_receive}, bound[2];
    MPI_Info none[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPIX_Bind_channels(plain, bound, 2, none);
    channel_send = bound[0];
    channel_receive = bound[1];
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    run_rounds(warm_up, rank, word);
    for (int i = 0; i < blocks; ++i) {
        begin_to_count();
        run_rounds(rounds, rank, word);
        end_to_count();
    }
#ifdef HAVE_CHANNELS
    MPI_Request ending[] = {channel_send, channel_receive};
    MPIX_Unbind_channels(ending, 2);
#endif
    MPI_Request_free(&persistent_send);
    MPI_Request_free(&persistent_receive);
    for (int i = 0; i < collectives; ++i) {
        MPI_Request_free(&again[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm != MPI_COMM_WORLD) {
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
