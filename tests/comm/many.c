/* SPDX-License-Identifier: BSD-3-Clause */
/* Many communicators. The argument: "simultaneous" (many exist at one time), "reuse" (more than there are indices, one
   after the other), "derived" (children and later descendants) or "exhausted" (one process has no free index). */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

static int rank, size;

/* A message round the ring of members, with a label of the communicator. */
static void check_ring(MPI_Comm comm, int label) {
    int got = -1, at = 0, members = 0;
    MPI_Comm_rank(comm, &at);
    MPI_Comm_size(comm, &members);
    MPI_Sendrecv(&label, 1, MPI_INT, (at + 1) % members, 4, &got, 1, MPI_INT, (at + members - 1) % members, 4, comm,
        MPI_STATUS_IGNORE);
    CHECK(got == label);
}

/* 10,000 communicators exist at one time. All messages are sent first, then received in the opposite order. */
static void simultaneous(void) {
    enum { count = 10000 };
    static MPI_Comm comms[count];
    static MPI_Request requests[count];
    static int labels[count];
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < count; ++i) {
        CHECK(MPI_Comm_dup(i < 100 ? MPI_COMM_WORLD : comms[i / 100], &comms[i]) == MPI_SUCCESS);
        labels[i] = i;
        MPI_Isend(&labels[i], 1, MPI_INT, to, 0, comms[i], &requests[i]);
    }
    for (int i = count - 1; i >= 0; --i) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, from, 0, comms[i], MPI_STATUS_IGNORE);
        CHECK(got == i);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&comms[i]);
    }
}

/* More communicators than there are indices. Few exist at a time, and they are not freed in the order of creation. */
static void reuse(void) {
    enum { count = 70000, places = 11 };
    MPI_Comm comms[places];
    for (int i = 0; i < places; ++i) {
        comms[i] = MPI_COMM_NULL;
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm* place = &comms[(i * 7 + i / 5) % places];
        if (*place != MPI_COMM_NULL) {
            MPI_Comm_free(place);
        }
        if (MPI_Comm_dup(MPI_COMM_WORLD, place) != MPI_SUCCESS) {
            CHECK(0);
            return;
        }
        if (i % 97 == 0) {
            check_ring(*place, i);
        }
    }
    for (int i = 0; i < places; ++i) {
        if (comms[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&comms[i]);
        }
    }
}

/* 600 children of one parent: derived exCIDs need new PGCIDs for that. In one round some constructors leave a member of
   the parent out, and for one of these the parent needs a new PGCID. */
static void renewals(void) {
    enum { count = 600 };
    static MPI_Comm comms[count];
    MPI_Comm parent;
    for (int round = 0; round < 3; ++round) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parent);
        for (int i = 0; i < count; ++i) {
            const int leave_one_out = round == 1 && i % 5 == 0;
            if (leave_one_out) {
                MPI_Comm_split(parent, rank == (i / 5) % size ? MPI_UNDEFINED : 0, 0, &comms[i]);
            } else {
                MPI_Comm_dup(parent, &comms[i]);
            }
        }
        for (int i = count - 1; i >= 0; --i) {
            if (comms[i] != MPI_COMM_NULL) {
                check_ring(comms[i], i);
                MPI_Comm_free(&comms[i]);
            }
        }
        MPI_Comm_free(&parent);
    }
}

/* The same with MPI_Comm_idup, all pending at one time; the parent is freed before they complete. */
static void renewals_at_once(void) {
    enum { count = 600 };
    static MPI_Comm comms[count];
    static MPI_Request requests[count];
    MPI_Comm parent;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    for (int i = 0; i < count; ++i) {
        MPI_Comm_idup(parent, &comms[i], &requests[i]);
    }
    MPI_Comm_free(&parent);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) {
        check_ring(comms[i], i);
        MPI_Comm_free(&comms[i]);
    }
}

/* Each generation has three children; the third child is the parent of the next generation. */
static void depth(MPI_Comm root) {
    enum { generations = 12, children = 3 };
    MPI_Comm comms[generations][children];
    for (int g = 0; g < generations; ++g) {
        for (int c = 0; c < children; ++c) {
            MPI_Comm_dup(g == 0 ? root : comms[g - 1][children - 1], &comms[g][c]);
        }
    }
    for (int g = 0; g < generations; ++g) {
        for (int c = 0; c < children; ++c) {
            check_ring(comms[g][c], 100 * g + c);
        }
    }
    for (int g = 0; g < generations; ++g) { /* a parent is freed before its children */
        for (int c = 0; c < children; ++c) {
            MPI_Comm_free(&comms[g][c]);
        }
    }
}

/* Duplicates of MPI_COMM_SELF beside those of MPI_COMM_WORLD: they derive exCIDs in different fields of one PGCID. */
static void self(void) {
    enum { count = 300 };
    static MPI_Comm own[count], all[count];
    for (int i = 0; i < count; ++i) {
        if ((rank + i) % 2 == 0) {
            MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
            MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        } else {
            MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
            MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
        }
    }
    for (int i = 0; i < count; ++i) {
        check_ring(own[i], i);
        check_ring(all[count - 1 - i], i);
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&own[i]);
        MPI_Comm_free(&all[i]);
    }
    depth(MPI_COMM_SELF);
}

/* All processes call MPI_Comm_create_group, with rank 1 as the first or the last member; it fails at all members. */
static void group_without_an_index(int first) {
    MPI_Group world, others, ordered;
    MPI_Comm comm;
    const int member = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &member, &others);
    MPI_Group_incl(world, 1, &member, &ordered);
    MPI_Group_free(&world);
    MPI_Group_union(first ? ordered : others, first ? others : ordered, &world);
    CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, world, 7, &comm) != MPI_SUCCESS);
    MPI_Group_free(&world);
    MPI_Group_free(&others);
    MPI_Group_free(&ordered);
}

/* Where exCIDs need no group reduction, only the process without a free index fails, and later constructors succeed
   everywhere. */
static void exhausted(void) {
    enum { most = 65536, tries = 300 };
    static MPI_Comm own[most];
    MPI_Comm comm, tried[tries];
    int count = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (rank == 1 && MPI_Comm_dup(MPI_COMM_SELF, &own[count]) == MPI_SUCCESS) {
        ++count;
    }
    CHECK(rank != 1 || (count > 60000 && count < most));
    for (int i = 0; i < tries; ++i) { /* more than one PGCID has exCIDs for */
        CHECK((MPI_Comm_dup(MPI_COMM_WORLD, &tried[i]) == MPI_SUCCESS) == (rank != 1));
    }
    group_without_an_index(1);
    group_without_an_index(0);
    for (int i = 0; i < tries && rank != 1; ++i) {
        MPI_Comm_free(&tried[i]);
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&own[i]);
    }
    for (int i = 0; i < tries; ++i) {
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
        check_ring(comm, i);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "simultaneous") == 0) {
        simultaneous();
    } else if (strcmp(what, "reuse") == 0) {
        reuse();
    } else if (strcmp(what, "derived") == 0) {
        renewals();
        renewals_at_once();
        depth(MPI_COMM_WORLD);
        self();
    } else if (strcmp(what, "exhausted") == 0) {
        exhausted();
    } else {
        CHECK(!"known argument");
    }
    MPI_Finalize();
    return failures();
}
