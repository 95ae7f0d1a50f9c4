/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for the process sets of every source: the names that MPI lists are names of sets with this process in
   them, all members see the same members, and a communicator can be made of them. Rank 0 prints the names. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static int compare_names(const void* a, const void* b) {
    return strcmp((const char*)a, (const char*)b);
}

/* The names, in an order that is the same in all processes; returns how many. */
static int list_names(MPI_Session session, char names[][MPI_MAX_PSET_NAME_LEN]) {
    int count = 0;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2 && count <= MOST);
    for (int i = 0; i < count && i < MOST; ++i) {
        int length = 0, room = MPI_MAX_PSET_NAME_LEN;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, names[i]));
        CHECK_EQUAL(length, strlen(names[i]) + 1);
    }
    qsort(names, (size_t)count, MPI_MAX_PSET_NAME_LEN, compare_names);
    for (int i = 1; i < count; ++i) {
        CHECK_TEXT(strcmp(names[i - 1], names[i]) != 0, names[i]);
    }
    return count;
}

static int size_in_info(MPI_Session session, const char* name) {
    MPI_Info info;
    char value[16] = "";
    int length = sizeof value, found = 0;
    CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &length, value, &found));
    CHECK_TEXT(found, name);
    CHECK_OK(MPI_Info_free(&info));
    return atoi(value);
}

static void check_set(MPI_Session session, const char* name, MPI_Group world) {
    MPI_Group group, again;
    MPI_Comm comm;
    int size, rank, equal, in_world, lowest, highest, previous = -1;
    CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
    CHECK_OK(MPI_Group_from_session_pset(session, name, &again));
    CHECK_OK(MPI_Group_compare(group, again, &equal));
    CHECK_EQUAL(equal, MPI_IDENT);
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK_EQUAL(size, size_in_info(session, name));
    CHECK_TEXT(rank != MPI_UNDEFINED, name);
    for (int member = 0; member < size; ++member) {
        CHECK_OK(MPI_Group_translate_ranks(group, 1, &member, world, &in_world));
        CHECK_TEXT(in_world > previous, name);
        previous = in_world;
        /* Every member says who is the member with this number. */
        if (member == 0) {
            CHECK_OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        }
        CHECK_OK(MPI_Allreduce(&in_world, &lowest, 1, MPI_INT, MPI_MIN, comm));
        CHECK_OK(MPI_Allreduce(&in_world, &highest, 1, MPI_INT, MPI_MAX, comm));
        CHECK_EQUAL(lowest, highest);
    }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&again));
}

int main(void) {
    static char names[MOST][MPI_MAX_PSET_NAME_LEN], others[MOST][MPI_MAX_PSET_NAME_LEN];
    for (int round = 0; round < 2; ++round) { /* also when the library is initialized again */
        MPI_Session session, other;
        MPI_Group world, none;
        int rank;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
        CHECK_OK(MPI_Group_rank(world, &rank));
        const int count = list_names(session, names);
        CHECK_EQUAL(list_names(other, others), count);
        CHECK_EQUAL(memcmp(names, others, sizeof names), 0);
        for (int i = 0; i < count; ++i) {
            if (rank == 0 && round == 0) {
                printf("%s\n", names[i]);
            }
            check_set(session, names[i], world);
        }
        CHECK_OK(MPI_Group_from_session_pset(session, "no such set", &none));
        CHECK(none == MPI_GROUP_NULL);
        CHECK_OK(MPI_Group_free(&world));
        CHECK_OK(MPI_Session_finalize(&other));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return failures();
}
