/* SPDX-License-Identifier: BSD-3-Clause */
/* One process has no index left for another communicator while the others have: all of them get the error, and all
 * constructors work again when it has freed some. Where a constructor exchanges nothing, the others may get the error
 * in their first operation on the new communicator. Argument: served if the PGCIDs come from a launcher, which passes
 * no error on. */
#include "tests/mpi_check/check.h"

#include <string.h>

enum { most = 65536 };

static int rank, size, served;
static MPI_Comm own[most];
static int count;
static MPI_Comm half, inter; /* of the processes below `first` and of the others */
static int first;

static void fill(void) {
    for (count = 0; MPI_Comm_dup(MPI_COMM_SELF, &own[count]) == MPI_SUCCESS; ++count) {
    }
    CHECK(count > 60000);
}

static void make_room(void) {
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&own[i]);
    }
    count = 0;
}

/* `wanted`: 1 when the constructor shall succeed at all processes, 0 when it shall fail at all of them. */
static void outcome(int code, MPI_Comm* made, int wanted, const char* what) {
    if ((code == MPI_SUCCESS) != wanted) {
        check_failed(__FILE__, __LINE__, what);
    }
    if (code != MPI_SUCCESS) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(code, &error_class);
        CHECK(error_class == MPI_ERR_NO_SPACE);
    } else if (*made != MPI_COMM_NULL) {
        MPI_Comm_free(made);
    }
}

/* The same for a constructor that exchanges nothing. On an intercommunicator the first barrier may only say that
 * another process has failed: a leader takes part after an error on its local communicator, and that may arrive before
 * the refusal of the intercommunicator. */
static void first_use(int code, MPI_Comm* made, int wanted, const char* what) {
    if (code == MPI_SUCCESS) {
        int is_inter;
        MPI_Comm_test_inter(*made, &is_inter);
        code = MPI_Barrier(*made);
        if (!wanted && is_inter && class_of(code) != MPI_ERR_NO_SPACE) {
            CHECK(code != MPI_SUCCESS);
            code = MPI_Barrier(*made);
        }
        if (code != MPI_SUCCESS) {
            CHECK(MPI_Comm_free(made) == MPI_SUCCESS);
        }
    }
    outcome(code, made, wanted, what);
}

/* The same where that depends on the source of PGCIDs. */
static void outcome_of_group(int code, MPI_Comm* made, int wanted, const char* what) {
    (served ? first_use : outcome)(code, made, wanted, what);
}

static MPI_Group without(int member) {
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (member < 0) {
        return world;
    }
    MPI_Group_excl(world, 1, &member, &group);
    MPI_Group_free(&world);
    return group;
}

static void create(int excluded, int wanted, const char* what) {
    MPI_Group group = without(excluded);
    MPI_Comm made = MPI_COMM_NULL;
    outcome(MPI_Comm_create(MPI_COMM_WORLD, group, &made), &made, wanted, what);
    MPI_Group_free(&group);
}

static void create_group(int excluded, int wanted) {
    MPI_Group group = without(excluded);
    MPI_Comm made = MPI_COMM_NULL;
    if (rank != excluded) {
        outcome_of_group(MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made), &made, wanted, "create_group");
    }
    MPI_Group_free(&group);
}

static void idup(MPI_Comm comm, int wanted, const char* what) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Comm_idup(comm, &made, &request);
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    first_use(code, &made, wanted, what);
}

static void dup_with_info(int wanted) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    first_use(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made), &made, wanted, "dup_with_info");
    MPI_Info_free(&info);
}

static void from_group(int wanted) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    first_use(MPI_Comm_create_from_group(group, "no_index", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), &made, wanted,
        "create_from_group");
    MPI_Group_free(&group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

static void construct(int wanted, int victim) {
    MPI_Comm made = MPI_COMM_NULL;
    const int other = victim == 0 ? size - 1 : 0;
    outcome(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made), &made, wanted, "split");
    /* The colour of those without the victim succeeds. */
    outcome(MPI_Comm_split(MPI_COMM_WORLD, rank == victim, 0, &made), &made, wanted || rank != victim, "split in two");
    create(-1, wanted, "create");
    if (size > 2) {
        create(other, wanted, "create without one");
        create_group(other, wanted);
    }
    create(victim, 1, "create without the victim");
    create_group(-1, wanted);
    outcome_of_group(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < first ? first : 0, 4, &made), &made, wanted,
        "intercomm_create");
    outcome_of_group(MPI_Intercomm_merge(inter, rank < first, &made), &made, wanted, "merge");
    outcome_of_group(MPI_Comm_split(inter, 0, 0, &made), &made, wanted, "split of an intercommunicator");
    first_use(MPI_Comm_dup(MPI_COMM_WORLD, &made), &made, wanted, "dup");
    idup(MPI_COMM_WORLD, wanted, "idup");
    dup_with_info(wanted);
    first_use(MPI_Comm_dup(inter, &made), &made, wanted, "dup of an intercommunicator");
    idup(inter, wanted, "idup of an intercommunicator");
    from_group(wanted);
}

int main(int argc, char** argv) {
    served = argc > 1 && strcmp(argv[1], "served") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    first = size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, rank < first, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < first ? first : 0, 4, &inter);
    for (int victim = 0; victim < size; victim += size - 1) {
        if (rank == victim) {
            fill();
        }
        construct(0, victim);
        construct(0, victim);
        make_room();
        construct(1, victim);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return failures();
}
