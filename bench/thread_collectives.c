/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of the collectives of a thread communicator that coll/threads serves, by size; MPI_Bcast and MPI_Reduce with an
   MPI_Barrier after each.
     thread_collectives [THREADS [SIZE,...]]
   THREADS: of each process, 2 by default. SIZE: bytes of the vector, at most 1 MiB. Build with -fopenmp, and run with
   --bind-to none, because the threads of a rank that is bound to one core take turns on it:
     mpirun -n 2 --bind-to none thread_collectives 4
     mpirun -n 2 --bind-to none --mca coll ^threads thread_collectives 4 */
#include "repeat.h"
#include "sizes.h"

#include <mpix.h>
#include <omp.h>

enum { largest = 1 << 20 };

struct place {
    MPI_Comm comm;
    char *send, *recv;
    int count; /* ints */
};

static void barrier(void* context) {
    const struct place* at = context;
    MPI_Barrier(at->comm);
}
static void bcast(void* context) {
    const struct place* at = context;
    MPI_Bcast(at->recv, at->count, MPI_INT, 0, at->comm);
    MPI_Barrier(at->comm);
}
static void reduce(void* context) {
    const struct place* at = context;
    MPI_Reduce(at->send, at->recv, at->count, MPI_INT, MPI_SUM, 0, at->comm);
    MPI_Barrier(at->comm);
}
static void allreduce(void* context) {
    const struct place* at = context;
    MPI_Allreduce(at->send, at->recv, at->count, MPI_INT, MPI_SUM, at->comm);
}

static const struct {
    const char* name;
    void (*run)(void*);
} collectives[] = {{"bcast_and_barrier", bcast}, {"reduce_and_barrier", reduce}, {"allreduce", allreduce}};

static void measure(MPI_Comm comm, const char* sizes) {
    struct place at = {comm, calloc(1, largest), calloc(1, largest), 0};
    const struct repeated of_barrier = {"barrier", barrier, NULL, &at, 20000};
    repeat(&of_barrier, comm);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        const char* list = sizes;
        for (long size = next_size(&list); size > 0; size = next_size(&list)) {
            char label[32], name[80];
            if (size > largest) {
                continue;
            }
            size_label(label, sizeof label, size);
            snprintf(name, sizeof name, "%s_%s", collectives[i].name, label);
            at.count = (int)(size / (long)sizeof(int));
            const struct repeated repeated = {name, collectives[i].run, NULL, &at, 20000};
            repeat(&repeated, comm);
        }
    }
    free(at.send);
    free(at.recv);
}

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 2;
    const char* sizes = argc > 2 ? argv[2] : "8,64,512,4096,32768,262144";
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm);
#pragma omp parallel num_threads(threads)
    {
        MPIX_Threadcomm_start(comm);
        measure(comm, sizes);
        MPIX_Threadcomm_finish(comm);
    }
    MPIX_Threadcomm_free(&comm);
    MPI_Finalize();
    return 0;
}
