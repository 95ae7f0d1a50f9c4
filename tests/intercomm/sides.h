/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_SIDES_H
#define PATCHBAY_TESTS_SIDES_H
/* Two groups of MPI_COMM_WORLD with an intercommunicator between them. */
#include "tests/mpi_check/check.h"

#include <string.h>

struct sides {
    MPI_Comm local; /* the intracommunicator of the local group */
    MPI_Comm inter;
    int side;       /* 0 or 1 */
    int rank, size; /* of the local group */
    int remote_size;
};

/* Ranks below `first_size` of the world are side 0, the others side 1. The leaders are ranks of their groups;
 * MPI_COMM_WORLD is the peer communicator. */
static inline struct sides make_sides(int first_size, int leader0, int leader1) {
    struct sides s;
    int rank, size, remote_leader;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    s.side = rank >= first_size;
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, s.side, 0, &s.local) == MPI_SUCCESS);
    remote_leader = s.side == 0 ? first_size + leader1 : leader0;
    CHECK(MPI_Intercomm_create(s.local, s.side == 0 ? leader0 : leader1, MPI_COMM_WORLD, remote_leader, 17, &s.inter) ==
        MPI_SUCCESS);
    MPI_Comm_rank(s.inter, &s.rank);
    MPI_Comm_size(s.inter, &s.size);
    MPI_Comm_remote_size(s.inter, &s.remote_size);
    CHECK(s.size == (s.side == 0 ? first_size : size - first_size));
    CHECK(s.remote_size == size - s.size);
    return s;
}

static inline void free_sides(struct sides* s) {
    CHECK(MPI_Comm_free(&s->inter) == MPI_SUCCESS && s->inter == MPI_COMM_NULL);
    CHECK(MPI_Comm_free(&s->local) == MPI_SUCCESS);
}

/* Each process sends its rank to each process of the remote group; every use has its own `tag`. */
static inline void use_inter(MPI_Comm inter, int tag) {
    enum { most = 64 };
    MPI_Request requests[2 * most];
    int rank, remote, got[most], value;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    value = 1000 * tag + rank;
    for (int i = 0; i < remote; ++i) {
        got[i] = -1;
        CHECK(MPI_Irecv(&got[i], 1, MPI_INT, i, tag, inter, &requests[i]) == MPI_SUCCESS);
    }
    for (int i = 0; i < remote; ++i) {
        CHECK(MPI_Isend(&value, 1, MPI_INT, i, tag, inter, &requests[remote + i]) == MPI_SUCCESS);
    }
    CHECK(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < remote; ++i) {
        CHECK(got[i] == 1000 * tag + i);
    }
}
#endif
