/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors of intercommunicators, and the inquiry functions on the results. */
#include "tests/intercomm/sides.h"

static int rank, size;

static void test_queries(struct sides* s) {
    int flag, result, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group local, remote, own, both, world;
    MPI_Info info;
    CHECK(MPI_Comm_test_inter(s->inter, &flag) == MPI_SUCCESS && flag);
    CHECK(MPI_Comm_group(s->inter, &local) == MPI_SUCCESS);
    CHECK(MPI_Comm_group(s->local, &own) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(local, own, &result) == MPI_SUCCESS && result == MPI_IDENT);
    CHECK(MPI_Comm_remote_group(s->inter, &remote) == MPI_SUCCESS);
    CHECK(MPI_Group_size(remote, &result) == MPI_SUCCESS && result == s->remote_size);
    CHECK(MPI_Group_rank(remote, &result) == MPI_SUCCESS && result == MPI_UNDEFINED);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK(MPI_Group_union(local, remote, &both) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(both, world, &result) == MPI_SUCCESS);
    CHECK(result == (s->side == 0 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
    MPI_Group_free(&own);
    MPI_Group_free(&both);
    MPI_Group_free(&world);

    CHECK(MPI_Comm_get_name(s->inter, name, &length) == MPI_SUCCESS && length == 0);
    CHECK(MPI_Comm_set_name(s->inter, "bridge") == MPI_SUCCESS);
    CHECK(MPI_Comm_get_name(s->inter, name, &length) == MPI_SUCCESS && strcmp(name, "bridge") == 0);
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    CHECK(MPI_Comm_set_info(s->inter, info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(MPI_Comm_get_info(s->inter, &info) == MPI_SUCCESS);
    char value[8] = "";
    int room = sizeof value;
    CHECK(MPI_Info_get_string(info, "mpi_assert_no_any_tag", &room, value, &flag) == MPI_SUCCESS && flag);
    CHECK(strcmp(value, "true") == 0);
    MPI_Info_free(&info);
    CHECK(MPI_Comm_compare(s->inter, s->local, &result) == MPI_SUCCESS && result == MPI_UNEQUAL);
    CHECK(MPI_Comm_compare(s->inter, s->inter, &result) == MPI_SUCCESS && result == MPI_IDENT);
}

static int copies, deletions;
static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)keyval, (void)extra;
    ++copies;
    *(void**)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int forget(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    ++deletions;
    return MPI_SUCCESS;
}

static void test_dup(struct sides* s) {
    MPI_Comm dup, again;
    MPI_Request request;
    int result, keyval, value = 5, flag, *found;
    MPI_Comm_create_keyval(copy, forget, &keyval, NULL);
    MPI_Comm_set_attr(s->inter, keyval, &value);
    CHECK(MPI_Comm_dup(s->inter, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_attr(dup, keyval, &found, &flag) == MPI_SUCCESS && flag && found == &value);
    CHECK(MPI_Comm_compare(s->inter, dup, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    use_inter(dup, 1);
    CHECK(MPI_Comm_idup(dup, &again, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(s->inter, again, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS); /* the parent first */
    use_inter(again, 2);
    CHECK(MPI_Barrier(again) == MPI_SUCCESS);
    CHECK(MPI_Comm_disconnect(&again) == MPI_SUCCESS && again == MPI_COMM_NULL);
    CHECK(copies == 2 && deletions == 2);
    MPI_Comm_delete_attr(s->inter, keyval);
    MPI_Comm_free_keyval(&keyval);
}

/* Many calls of MPI_Comm_idup at a time; each process waits for them in another order. */
static void test_idup(struct sides* s) {
    enum { many = 12 };
    MPI_Comm dups[many];
    MPI_Request requests[many];
    for (int i = 0; i < many; ++i) {
        CHECK(MPI_Comm_idup(s->inter, &dups[i], &requests[i]) == MPI_SUCCESS);
    }
    for (int i = 0; i < many; ++i) {
        const int which = rank % 2 == 0 ? i : many - 1 - i;
        CHECK(MPI_Wait(&requests[which], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    /* Each duplicate connects to the same duplicate in the remote group. */
    for (int i = 0; i < many; ++i) {
        int got = -1;
        MPI_Request request;
        if (s->rank == 0) {
            MPI_Isend(&i, 1, MPI_INT, 0, 0, dups[i], &request);
        }
        if (s->rank == 0) {
            MPI_Recv(&got, 1, MPI_INT, 0, 0, dups[i], MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got == i);
        }
    }
    for (int i = 0; i < many; ++i) {
        CHECK(MPI_Comm_free(&dups[i]) == MPI_SUCCESS);
    }
}

/* The free indices of neighbours differ, so that some components allocate a CID in many steps. The duplicate and its
 * local side may then be in different steps in each process. */
static void test_idup_between_holes(struct sides* s) {
    enum { holes = 120, many = 3 };
    MPI_Comm own[holes], dups[many];
    MPI_Request requests[many];
    for (int i = 0; i < holes; ++i) {
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    }
    for (int i = rank % 2; i < holes; i += 2) {
        MPI_Comm_free(&own[i]);
    }
    for (int i = 0; i < many; ++i) {
        CHECK(MPI_Comm_idup(s->inter, &dups[i], &requests[i]) == MPI_SUCCESS);
    }
    CHECK(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < many; ++i) {
        use_inter(dups[i], 12 + i);
        CHECK(MPI_Comm_free(&dups[i]) == MPI_SUCCESS);
    }
    for (int i = (rank + 1) % 2; i < holes; i += 2) {
        MPI_Comm_free(&own[i]);
    }
}

/* MPI_Comm_create: every second process of each side, backwards. */
static void test_create(struct sides* s) {
    MPI_Group all, some, none;
    MPI_Comm made;
    int value, result, ranks[64], n = 0;
    MPI_Comm_group(s->inter, &all);
    for (int i = s->size - 1; i >= 0; i -= 2) {
        ranks[n++] = i;
    }
    MPI_Group_incl(all, n, ranks, &some);
    CHECK(MPI_Comm_create(s->inter, some, &made) == MPI_SUCCESS);
    MPI_Group_rank(some, &value);
    CHECK((made == MPI_COMM_NULL) == (value == MPI_UNDEFINED));
    if (made != MPI_COMM_NULL) {
        CHECK(MPI_Comm_rank(made, &result) == MPI_SUCCESS && result == value);
        CHECK(MPI_Comm_remote_size(made, &result) == MPI_SUCCESS && result == (s->remote_size + 1) / 2);
        use_inter(made, 3);
        MPI_Barrier(made);
        CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
    }
    /* One side alone is not enough. */
    MPI_Group_incl(all, s->side == 0 ? n : 0, ranks, &none);
    CHECK(MPI_Comm_create(s->inter, none, &made) == MPI_SUCCESS && made == MPI_COMM_NULL);
    if (none != MPI_GROUP_EMPTY) {
        MPI_Group_free(&none);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static void test_split(struct sides* s) {
    MPI_Comm made;
    int value;
    /* All processes, in the opposite order. */
    CHECK(MPI_Comm_split(s->inter, 4, -s->rank, &made) == MPI_SUCCESS && made != MPI_COMM_NULL);
    CHECK(MPI_Comm_rank(made, &value) == MPI_SUCCESS && value == s->size - 1 - s->rank);
    CHECK(MPI_Comm_compare(made, s->inter, &value) == MPI_SUCCESS);
    CHECK(value == (size == 2 ? MPI_CONGRUENT : MPI_SIMILAR));
    use_inter(made, 4);
    MPI_Barrier(made);
    CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
    /* The colour is the parity of the rank: rank 1 of a side gets MPI_COMM_NULL when the other side has no rank 1. */
    CHECK(MPI_Comm_split(s->inter, s->rank % 2, 0, &made) == MPI_SUCCESS);
    CHECK((made == MPI_COMM_NULL) == (s->rank % 2 == 1 && s->remote_size == 1));
    if (made != MPI_COMM_NULL) {
        CHECK(MPI_Comm_remote_size(made, &value) == MPI_SUCCESS);
        CHECK(value == (s->remote_size + 1 - s->rank % 2) / 2);
        use_inter(made, 5);
        CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_split(s->inter, s->rank == 0 ? 0 : MPI_UNDEFINED, 0, &made) == MPI_SUCCESS);
    CHECK((made == MPI_COMM_NULL) == (s->rank != 0));
    if (made != MPI_COMM_NULL) {
        use_inter(made, 6);
        CHECK(MPI_Comm_free(&made) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_split(s->inter, s->side, 0, &made) == MPI_SUCCESS && made == MPI_COMM_NULL);
}

/* Local and parent communicators may be freed before the intercommunicator, or after it. */
static void test_order_of_freeing(void) {
    struct sides s = make_sides(1, 0, 0);
    CHECK(MPI_Comm_free(&s.local) == MPI_SUCCESS);
    use_inter(s.inter, 7);
    MPI_Comm dup;
    CHECK(MPI_Comm_dup(s.inter, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&s.inter) == MPI_SUCCESS);
    CHECK(MPI_Barrier(dup) == MPI_SUCCESS);
    use_inter(dup, 8);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
}

static void test_many(void) {
    enum { many = 200 };
    struct sides s = make_sides((size + 1) / 2, 0, 0);
    MPI_Comm kept[many];
    for (int i = 0; i < many; ++i) {
        CHECK(MPI_Comm_dup(s.inter, &kept[i]) == MPI_SUCCESS);
        if (i % 2 == 1) {
            CHECK(MPI_Comm_free(&kept[i - 1]) == MPI_SUCCESS);
        }
    }
    use_inter(kept[many - 1], 9);
    for (int i = 1; i < many; i += 2) {
        CHECK(MPI_Comm_free(&kept[i]) == MPI_SUCCESS);
    }
    free_sides(&s);
    for (int i = 0; i < many; ++i) {
        s = make_sides(1 + i % (size - 1), 0, 0);
        if (i % 20 == 0) {
            use_inter(s.inter, i);
        }
        free_sides(&s);
    }
}

/* The peer communicator may be an intercommunicator, and need not be MPI_COMM_WORLD. */
static void test_other_peers(struct sides* s) {
    MPI_Comm through, peer;
    CHECK(MPI_Intercomm_create(s->local, 0, s->inter, 0, 3, &through) == MPI_SUCCESS);
    use_inter(through, 10);
    CHECK(MPI_Comm_free(&through) == MPI_SUCCESS);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &peer) == MPI_SUCCESS);
    const int last = size - 1; /* of the world: rank 0 of the peer */
    const int leader = s->size - 1;
    const int remote = s->side == 0 ? 0 : last - (s->remote_size - 1);
    CHECK(MPI_Intercomm_create(s->local, leader, s->rank == leader ? peer : MPI_COMM_NULL, remote, 32767, &through) ==
        MPI_SUCCESS);
    MPI_Comm_free(&peer);
    use_inter(through, 11);
    CHECK(MPI_Comm_free(&through) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int first = 1; first < size; ++first) {
        /* The leader is the first, the last or a middle rank. */
        for (int place = 0; place < 3; ++place) {
            const int second = size - first;
            struct sides s = make_sides(first, place * (first - 1) / 2, (2 - place) * (second - 1) / 2);
            use_inter(s.inter, 0);
            test_queries(&s);
            copies = deletions = 0;
            test_dup(&s);
            test_idup(&s);
            test_idup_between_holes(&s);
            test_create(&s);
            test_split(&s);
            test_other_peers(&s);
            free_sides(&s);
        }
    }
    test_order_of_freeing();
    test_many();
    MPI_Finalize();
    return failures();
}
