/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
/* Correct programs that a careless check would complain about. Runs with mpi_check=all; right_test.py reads the output.
 */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int rank, size;

/* The signature is about basic types, not about the layout; a receive may be longer than the message. */
static void signatures(void) {
    int sent[8] = {0, 1, 2, 3, 4, 5, 6, 7}, received[16];
    MPI_Datatype pair, strided, swapped;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
    MPI_Type_create_resized(strided, 0, 16, &swapped);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&swapped);
    MPI_Request request;
    MPI_Status status;
    int count = 0;
    for (int tag = 0; tag < 3; ++tag) {
        memset(received, -1, sizeof received);
        MPI_Irecv(received, tag == 0 ? 16 : 4,
            tag == 0       ? MPI_INT
                : tag == 1 ? pair
                           : swapped,
            rank, tag, MPI_COMM_WORLD, &request);
        MPI_Send(sent, 2, swapped, rank, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK_EQUAL(count, 4);
        CHECK_EQUAL(received[0], 0);
    }
    /* Elements without data, whose extents would not fit. */
    MPI_Datatype nothing, wide;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_create_resized(nothing, 0, 8, &wide);
    MPI_Type_commit(&wide);
    MPI_Irecv_c(received, (MPI_Count)1 << 61, wide, rank, 4, MPI_COMM_WORLD, &request);
    CHECK_OK(MPI_Send_c(sent, (MPI_Count)1 << 61, wide, rank, 4, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, &status));
    MPI_Type_free(&nothing);
    MPI_Type_free(&wide);
    /* A message that ends inside an element of the receive, and one without data. */
    MPI_Irecv(received, 5, pair, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Send(sent, 3, MPI_INT, rank, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, pair, &count);
    CHECK_EQUAL(count, 3);
    MPI_Irecv(received, 5, MPI_DOUBLE, rank, 4, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_INT, rank, 4, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_EQUAL(count, 0);
    /* A pair type of MPI is its two members. */
    struct {
        double value;
        int index;
    } best = {1.5, 3}, other = {0, 0};
    MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT}, like;
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Type_create_struct(2, lengths, places, parts, &like);
    MPI_Type_commit(&like);
    MPI_Sendrecv(&best, 1, MPI_DOUBLE_INT, rank, 5, &other, 1, like, rank, 5, MPI_COMM_WORLD, &status);
    CHECK(other.value == 1.5 && other.index == 3);
    MPI_Type_free(&like);
    MPI_Type_free(&pair);
    MPI_Type_free(&strided);
    MPI_Type_free(&swapped);
}

/* Packed data matches every type. */
static void packed(void) {
    char buffer[64];
    int position = 0, values[3] = {1, 2, 3}, received[3] = {0};
    double value = 2.5;
    MPI_Pack(values, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(
        buffer, position, MPI_PACKED, rank, 0, received, 3, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(received[2], 3);
    MPI_Request request;
    MPI_Irecv(buffer, sizeof buffer, MPI_PACKED, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* In collectives, too, whose counts differ then. */
static void packed_collectives(void) {
    enum { room = 4 * sizeof(int) };
    int values[4] = {rank, 1, 2, 3};
    char* all = calloc((size_t)size, room);
    int* counts = calloc((size_t)size, sizeof *counts);
    int* places = calloc((size_t)size, sizeof *places);
    int* elements = calloc((size_t)size, sizeof *elements);
    for (int i = 0; i < size; ++i) {
        counts[i] = room;
        places[i] = room * i;
        elements[i] = 4;
    }
    MPI_Gather(values, 4, MPI_INT, all, room, MPI_PACKED, 0, MPI_COMM_WORLD);
    MPI_Gatherv(values, 4, MPI_INT, all, counts, places, MPI_PACKED, 0, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, places, MPI_PACKED, values, 4, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_EQUAL(values[0], rank);
    MPI_Allgatherv(values, 4, MPI_INT, all, counts, places, MPI_PACKED, MPI_COMM_WORLD);
    int* starts = calloc((size_t)size, sizeof *starts);
    int* own = calloc((size_t)size, room);
    for (int i = 0; i < size; ++i) {
        starts[i] = 4 * i;
    }
    MPI_Alltoallv(own, elements, starts, MPI_INT, all, counts, places, MPI_PACKED, MPI_COMM_WORLD);
    MPI_Comm ring;
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    char both[2 * room];
    MPI_Neighbor_allgather(values, 4, MPI_INT, both, room, MPI_PACKED, ring);
    MPI_Comm_free(&ring);
    free(own);
    free(starts);
    free(elements);
    free(places);
    free(counts);
    free(all);
}

/* Messages that the library copies before it sends them. */
static void copied(void) {
    static char memory[4096 + MPI_BSEND_OVERHEAD];
    int values[4] = {1, 2, 3, 4}, received[4] = {0}, n = sizeof memory;
    void* detached;
    MPI_Request requests[2];
    MPI_Buffer_attach(memory, n);
    MPI_Irecv(received, 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend(values, 4, MPI_INT, rank, 0, MPI_COMM_WORLD);
    values[0] = 9; /* it has been copied */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK_EQUAL(received[0], 1);
    MPI_Irecv(received, 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibsend(values, 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&detached, &n);
    MPI_Sendrecv_replace(
        values, 4, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(
        values, 4, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void probes(void) {
    int values[3] = {1, 2, 3}, received[3], count = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    MPI_Isend(values, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
    MPI_Probe(rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 3);
    while (!flag) {
        MPI_Iprobe(rank, 4, MPI_COMM_WORLD, &flag, &status);
    }
    MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 3);
    MPI_Mrecv(received, count, MPI_INT, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* An error of the message is not one of its types. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(received, 1, MPI_FLOAT, rank, 5, MPI_COMM_WORLD, &request);
    MPI_Send(values, 3, MPI_INT, rank, 5, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Irecv(received, 1, MPI_FLOAT, rank, 6, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
}

/* Buffers that lie between one another, one buffer in two sends, and one that is used again and again. */
static void buffers(void) {
    int matrix[4][4], values[4] = {1, 2, 3, 4};
    MPI_Datatype column;
    MPI_Request requests[8];
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 4; ++i) {
        MPI_Irecv(&matrix[0][i], 1, column, rank, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 4; ++i) {
        MPI_Isend(values, 4, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[4 + i]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(matrix[3][2], 4);
    MPI_Type_free(&column);

    MPI_Send_init(values, 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(matrix[0], 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        values[0] = i;
        MPI_Startall(2, requests);
        int flag = 0;
        while (!flag) {
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        }
        CHECK_EQUAL(matrix[0][0], i);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    enum { length = 300000 };
    char* data = calloc(length, 1);
    char* target = malloc(2 * length);
    for (int i = 0; i < 2; ++i) {
        MPI_Irecv(target + i * length, length, MPI_CHAR, rank, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(data, length, MPI_CHAR, rank, i, MPI_COMM_WORLD, &requests[2 + i]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    memset(data, 1, length);
    MPI_Isend(data, length, MPI_CHAR, rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv(target, length, MPI_CHAR, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memset(data, 2, length);
    free(data);
    free(target);
}

static void collectives(void) {
    int* all = calloc((size_t)size * 4, sizeof *all);
    int* counts = calloc((size_t)size, sizeof *counts);
    int* places = calloc((size_t)size, sizeof *places);
    int values[4] = {rank, 1, 2, 3}, sums[4];
    for (int i = 0; i < size; ++i) {
        counts[i] = i % 3;
        places[i] = 4 * i;
    }
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(values, rank == 0 ? 4 : 2, rank == 0 ? MPI_INT : pair, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, pair, MPI_COMM_WORLD);
    MPI_Allgather(values, 4, MPI_INT, all, 2, pair, MPI_COMM_WORLD);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : values, 4, MPI_INT, all, 2, pair, 0, MPI_COMM_WORLD);
    MPI_Gatherv(values, counts[rank], MPI_INT, all, counts, places, MPI_INT, size - 1, MPI_COMM_WORLD);
    MPI_Scatter(all, 2, pair, values, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, places, MPI_INT, values, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(values, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : values, rank == 0 ? values : NULL, 4, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(values, sums, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(values, sums, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        counts[i] = 1;
        places[i] = i;
    }
    int* out = calloc((size_t)size, sizeof *out);
    MPI_Reduce_scatter(all, sums, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    counts[0] = rank == 0 ? 1 : 0; /* of different counts in each process, and equal in each pair */
    if (rank == 0) {
        for (int i = 1; i < size; ++i) {
            counts[i] = 0;
        }
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);

    /* Blocking, nonblocking and persistent ones in turn, and two communicators in different orders. */
    MPI_Comm copy;
    MPI_Request requests[4];
    int received[4] = {0}; /* while values is sent */
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Ibarrier(rank % 2 ? copy : MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(rank % 2 ? MPI_COMM_WORLD : copy, &requests[1]);
    MPI_Ibcast(values, 4, MPI_INT, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Bcast_init(received, 4, MPI_INT, 0, copy, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(values, sums, 4, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Start(&requests[rank % 2]);
        MPI_Start(&requests[(rank + 1) % 2]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Comm_free(&copy);
    MPI_Type_free(&pair);
    free(all);
    free(counts);
    free(places);
    free(out);
}

/* A receive buffer that is not significant may be MPI_IN_PLACE; its count and datatype are those of all. */
static void insignificant_buffers(void) {
    int value = rank, sum = -1;
    CHECK_OK(MPI_Reduce(&value, rank == 0 ? (void*)&sum : MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK(rank != 0 || sum == size * (size - 1) / 2);
    CHECK_OK(MPI_Exscan(&value, rank == 0 ? MPI_IN_PLACE : (void*)&sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(rank == 0 || sum == rank * (rank - 1) / 2);
}

/* A message from memory that contains code, which is called before, during and after the send. */
static void code(void) {
#if defined(__x86_64__)
    enum { length = 1 << 20 };
    static const unsigned char returns_42[] = {0xb8, 42, 0, 0, 0, 0xc3};
    unsigned char* memory = mmap(NULL, length, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return; /* the system forbids it */
    }
    char* target = malloc(length);
    MPI_Request request;
    int (*function)(void);
    unsigned char* place = memory + length / 2;
    memcpy(place, returns_42, sizeof returns_42);
    memcpy(&function, &place, sizeof function);
    MPI_Isend(memory, length, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request);
    CHECK_EQUAL(function(), 42);
    MPI_Recv(target, length, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(function(), 42);
    free(target);
    munmap(memory, length);
#endif
}

/* The two groups of an intercommunicator give different roots. */
static void intercommunicators(void) {
    if (size < 2) {
        return;
    }
    MPI_Comm half, inter;
    const int side = rank % 2;
    int value = rank, sum = 0, local = 0;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Comm_rank(half, &local);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &inter);
    MPI_Barrier(inter);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    MPI_Bcast(&value, 1, MPI_INT, side == 1 ? 0 : local == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Request request;
    MPI_Ibcast(&value, 1, MPI_INT, side == 1 ? 0 : local == 0 ? MPI_ROOT : MPI_PROC_NULL, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Rank 0 and the others, which exchange messages before they have a communicator. */
static void groups_of_session(MPI_Session session) {
    MPI_Group all, first, others;
    MPI_Comm inter, comm;
    const int zero = 0;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_incl(all, 1, &zero, &first);
    MPI_Group_excl(all, 1, &zero, &others);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Intercomm_create_from_groups(rank == 0 ? first : others, 0, rank == 0 ? others : first, 0, "two", MPI_INFO_NULL,
        MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&comm);
    MPI_Group_free(&others);
    MPI_Group_free(&first);
    MPI_Group_free(&all);
}

/* Each handle is freed, also those of objects that have several. */
static void handles(void) {
    MPI_Group a, b, c;
    MPI_Comm_group(MPI_COMM_WORLD, &a);
    MPI_Comm_group(MPI_COMM_WORLD, &b);
    MPI_Group_union(a, b, &c);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Group_free(&c);
    MPI_Info info, copy;
    MPI_Info_create(&info);
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_disconnect(&comm);
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (size > 1) {
        groups_of_session(session);
    }
    MPI_Session_finalize(&session);
}

/* Accesses to the same memory that are defined: reads, accumulates of one type, and what a flush or an epoch lies
   between; origins that are used again when they are complete; other memory of the same window. */
static void one_sided(void) {
    enum { cells = 16 };
    int *memory, data[4] = {1, 2, 3, 4}, results[4], one = 1, old;
    const int next = (rank + 1) % size;
    MPI_Win window;
    MPI_Datatype every_other;
    MPI_Request request;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Win_allocate(cells * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, cells * sizeof(int));
    MPI_Win_fence(0, window);
    MPI_Put(data, 2, MPI_INT, next, 0, 1, every_other, window);
    MPI_Put(data + 2, 2, MPI_INT, next, 1, 1, every_other, window);
    MPI_Win_fence(0, window);
    CHECK(memory[0] == 1 && memory[2] == 2 && memory[1] == 3 && memory[3] == 4);
    memset(data, 0, sizeof data);
    MPI_Get(results, 2, MPI_INT, next, 0, 2, MPI_INT, window);
    MPI_Get(results + 2, 2, MPI_INT, next, 1, 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(results[0] == 1 && results[1] == 3 && results[2] == 3 && results[3] == 2);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < 3; ++i) {
        MPI_Accumulate(&one, 1, MPI_INT, next, 8, 1, MPI_INT, MPI_SUM, window);
    }
    MPI_Fetch_and_op(NULL, &old, MPI_INT, next, 8, MPI_NO_OP, window);
    MPI_Win_flush(next, window);
    CHECK_EQUAL(old, 3);
    MPI_Put(&one, 1, MPI_INT, next, 9, 1, MPI_INT, window);
    MPI_Win_flush(next, window);
    one = 7;
    MPI_Put(&one, 1, MPI_INT, next, 9, 1, MPI_INT, window);
    MPI_Win_flush_local(next, window);
    one = 1;
    MPI_Get(&old, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_flush_local(next, window);
    MPI_Put(&one, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Rput(data, 1, MPI_INT, next, 10, 1, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data[0] = 2;
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(memory[9], 7);
    MPI_Type_free(&every_other);
    MPI_Win_free(&window);
}

/* MPI_Buffer_detach gives the memory of buffered messages back to the program. */
static void detached(void) {
    enum { count = 200000 };
    static char data[count], buffer[count + MPI_BSEND_OVERHEAD];
    for (int nonblocking = 0; size > 1 && nonblocking < 2; ++nonblocking) {
        if (rank == 0) {
            void* memory;
            int bytes;
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Buffer_attach(buffer, sizeof buffer);
            if (nonblocking) {
                MPI_Ibsend(data, count, MPI_CHAR, 1, 21, MPI_COMM_WORLD, &request);
            } else {
                MPI_Bsend(data, count, MPI_CHAR, 1, 21, MPI_COMM_WORLD);
            }
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Buffer_detach(&memory, &bytes);
            FILE* zeros = fopen("/dev/zero", "r"); /* the kernel stops at a protected page */
            setvbuf(zeros, NULL, _IONBF, 0);
            CHECK_EQUAL(fread(buffer, 1, count, zeros), count);
            fclose(zeros);
            MPI_Recv(buffer, count, MPI_CHAR, 1, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, count, MPI_CHAR, 0, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, count, MPI_CHAR, 0, 22, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signatures();
    one_sided();
    packed();
    packed_collectives();
    copied();
    detached();
    probes();
    buffers();
    collectives();
    insignificant_buffers();
    code();
    intercommunicators();
    handles();
    return finish();
}
