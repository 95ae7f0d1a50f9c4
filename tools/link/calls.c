/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on the critical path of programs, by subject: calls messages|collectives|communicators|windows. What work()
   calls is what function_order.py puts together in the library. An even number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 1 << 18 };
static char out[4 * most];
static char in[4 * most];
static int rank, size;

static void messages_of(int bytes, int other) {
    MPI_Request requests[2];
    int complete = 0;
    if (rank % 2 == 0) {
        MPI_Send(out, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    }
    MPI_Irecv(in, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[1]);
    while (!complete) {
        MPI_Test(&requests[0], &complete, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, bytes, MPI_BYTE, other, 3, in, bytes, MPI_BYTE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void messages(void) {
    const int other = rank ^ 1;
    MPI_Request bound[2];
    for (int bytes = 0; bytes <= 65536; bytes = bytes == 0 ? 8 : 16 * bytes) {
        for (int i = 0; i < 20; i++) {
            messages_of(bytes, other);
        }
    }
    MPI_Recv_init(in, 8, MPI_BYTE, other, 4, MPI_COMM_WORLD, &bound[0]);
    MPI_Send_init(out, 8, MPI_BYTE, other, 4, MPI_COMM_WORLD, &bound[1]);
    for (int i = 0; i < 50; i++) {
        MPI_Startall(2, bound);
        MPI_Waitall(2, bound, MPI_STATUSES_IGNORE);
        MPI_Start(&bound[0]);
        MPI_Start(&bound[1]);
        MPI_Wait(&bound[1], MPI_STATUS_IGNORE);
        MPI_Wait(&bound[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&bound[0]);
    MPI_Request_free(&bound[1]);
}

static void collectives(void) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    for (int count = 1; count <= 8192 && count * size * (int)sizeof(double) <= most; count *= 512) {
        for (int i = 0; i < 20; i++) {
            MPI_Barrier(comm);
            MPI_Bcast(out, count, MPI_DOUBLE, 0, comm);
            MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
            MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, comm);
            MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm);
            MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm);
            MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, 0, comm);
            MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, 0, comm);
            MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Ibarrier(comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Allreduce_init(out, in, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 20; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

static void communicators(void) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    for (int i = 0; i < 50; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
        MPI_Comm_free(&comm);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
}

static MPI_Win allocated, created;

static void operations_of(MPI_Win win) {
    const int target = (rank + 1) % size;
    const long one = 1;
    long before;
    for (int i = 0; i < 50; i++) {
        MPI_Win_fence(0, win);
        MPI_Put(out, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Put(out, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
        MPI_Get(in, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
        MPI_Win_flush(target, win);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 8, MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_LONG, target, 8, 1, MPI_LONG, MPI_SUM, win);
        MPI_Compare_and_swap(&one, &one, &before, MPI_LONG, target, 8, win);
        MPI_Win_unlock(target, win);
    }
}

static void windows(void) {
    operations_of(allocated);
    operations_of(created);
}

__attribute__((noinline)) void work(void (*subject)(void)) {
    subject();
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } subjects[] = {
        {"messages", messages}, {"collectives", collectives}, {"communicators", communicators}, {"windows", windows}};
    void* memory;
    int known = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &allocated);
    MPI_Win_create(in + most, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (argc == 2 && strcmp(argv[1], subjects[i].name) == 0) {
            known = 1;
            work(subjects[i].run);
        }
    }
    MPI_Win_free(&allocated);
    MPI_Win_free(&created);
    MPI_Finalize();
    if (!known) {
        fprintf(stderr, "usage: %s messages|collectives|communicators|windows\n", argv[0]);
    }
    return !known;
}
