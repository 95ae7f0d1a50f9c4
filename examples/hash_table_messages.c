/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash table of hash_table_rma.c with messages: the rank that stores a key carries the insertion or the search out,
 * and answers. So a rank that waits for an answer also has to answer others. */
#include "hash_table.h"

enum { tag_request = 1, tag_answer = 2 };

static MPI_Comm comm;
static uint64_t stored;
static uint64_t (*entries)[2];

static void table_open(void) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    entries = calloc(places, sizeof *entries);
}

/* Of a key that this rank stores. A value of 0 asks for the value. */
static uint64_t carry_out(uint64_t key, uint64_t value) {
    for (uint64_t probe = 0;; ++probe) {
        uint64_t* const entry = entries[place_of(key, probe)];
        if (value == 0 && (entry[0] == key || entry[0] == 0)) {
            return entry[1];
        }
        if (value != 0 && entry[0] == 0) {
            entry[0] = key;
            entry[1] = value;
            ++stored;
            return value;
        }
    }
}

/* Carries out one request of another rank, if there is one. */
static void serve(void) {
    int flag;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_request, comm, &flag, &status);
    if (flag) {
        uint64_t request[2];
        MPI_Recv(request, 2, MPI_UINT64_T, status.MPI_SOURCE, tag_request, comm, MPI_STATUS_IGNORE);
        const uint64_t answer = carry_out(request[0], request[1]);
        MPI_Send(&answer, 1, MPI_UINT64_T, status.MPI_SOURCE, tag_answer, comm);
    }
}

static uint64_t ask(uint64_t key, uint64_t value) {
    const int home = home_of(key);
    if (home == rank) {
        return carry_out(key, value);
    }
    const uint64_t request[2] = {key, value};
    uint64_t answer;
    int done = 0;
    MPI_Request receive;
    MPI_Irecv(&answer, 1, MPI_UINT64_T, home, tag_answer, comm, &receive);
    MPI_Send(request, 2, MPI_UINT64_T, home, tag_request, comm);
    while (!done) {
        serve();
        MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
    }
    return answer;
}

static void table_insert(uint64_t key, uint64_t value) {
    ask(key, value);
}

static uint64_t table_find(uint64_t key) {
    return ask(key, 0);
}

/* Others may still send requests when this rank has no more. */
static uint64_t table_phase(void) {
    MPI_Request barrier;
    int done = 0;
    MPI_Ibarrier(comm, &barrier);
    while (!done) {
        serve();
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    }
    return stored;
}

static void table_close(void) {
    free(entries);
    MPI_Comm_free(&comm);
}
