/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create and MPI_Intercomm_create_from_groups with arguments that a process refuses, where its leader can
 * reach the other group: all processes of both groups return its error, and the next call with the same tag works. */
#include "tests/intercomm/sides.h"

enum { tag = 17 };

static MPI_Comm session_world; /* all processes, of a session */

/* The erroneous argument of MPI_Intercomm_create on the wrong side. */
enum mistake { null_result, mixture, wrong_kind, null_at_member, no_rank_at_member, different_leaders };

static int call(const struct sides* s, int leader, int remote_leader, enum mistake mistake) {
    const int leads = s->rank == leader;
    MPI_Comm made = MPI_COMM_NULL;
    switch (mistake) {
    case null_result:
        return MPI_Intercomm_create(s->local, leader, MPI_COMM_WORLD, remote_leader, tag, leads ? NULL : &made);
    case mixture:
        return MPI_Intercomm_create(s->local, leader, leads ? session_world : MPI_COMM_NULL, remote_leader, tag, &made);
    case null_at_member:
        return MPI_Intercomm_create(s->local, leader, MPI_COMM_WORLD, remote_leader, tag, s->rank == 0 ? NULL : &made);
    case no_rank_at_member:
    case different_leaders:
        if (s->rank == 0) {
            leader = mistake == different_leaders ? 0 : s->size;
        }
        return MPI_Intercomm_create(s->local, leader, MPI_COMM_WORLD, remote_leader, tag, &made);
    default:
        return MPI_Intercomm_create(s->inter, leader, MPI_COMM_WORLD, remote_leader, tag, &made);
    }
}

static void expect_text(int code, const char* part) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (strstr(text, part) == NULL) {
        check_failed(__FILE__, __LINE__, text);
    }
}

/* `wrong`: bit n stands for side n. The last process of each side leads. */
static void test(struct sides* s, int first_size, int size, enum mistake mistake, int wanted, int wrong) {
    const int leader = s->size - 1, remote_leader = s->side == 0 ? size - 1 : first_size - 1;
    const MPI_Comm peer = mistake == mixture ? session_world : MPI_COMM_WORLD;
    /* A communicator of the session, for processes with correct arguments. */
    MPI_Comm made = MPI_COMM_NULL, local = s->local, again;
    if (mistake == mixture) {
        MPI_Comm_split(session_world, s->side, 0, &local);
    }
    if (wrong & 1 << s->side) {
        CHECK(call(s, leader, remote_leader, mistake) == wanted);
        if (mistake == different_leaders) {
            expect_text(wanted, "different values of local_leader");
        } else if (mistake == null_at_member || mistake == no_rank_at_member) {
            expect_text(wanted,
                s->rank != 0                    ? "a process of the local group"
                    : mistake == null_at_member ? "newintercomm"
                                                : "local_leader");
        } else if (s->rank != leader && mistake != wrong_kind) {
            expect_text(wanted, "the leader of the local group");
        }
    } else {
        CHECK(MPI_Intercomm_create(local, leader, peer, remote_leader, tag, &made) == wanted);
        CHECK(made == MPI_COMM_NULL);
        expect_text(wanted, "the remote group");
    }
    CHECK(MPI_Intercomm_create(local, leader, peer, remote_leader, tag, &again) == MPI_SUCCESS);
    use_inter(again, 3);
    MPI_Comm_free(&again);
    if (mistake == mixture) {
        MPI_Comm_free(&local);
    }
}

/* Info keys of the local communicators choose the cid component; both sides must choose the same. */
static void test_cid_components(const struct sides* s, int first_size) {
    const char* names[2] = {"mask", "consensus"};
    const int remote_leader = s->side == 0 ? first_size : 0;
    MPI_Comm chosen[2], made;
    for (int i = 0; i < 2; ++i) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "patchbay_cid", names[i]);
        CHECK(MPI_Comm_dup_with_info(s->local, info, &chosen[i]) == MPI_SUCCESS);
        MPI_Comm_set_errhandler(chosen[i], MPI_ERRORS_RETURN);
        MPI_Info_free(&info);
    }
    for (int i = 0; i < 2; ++i) {
        made = MPI_COMM_WORLD;
        CHECK(MPI_Intercomm_create(s->side == 0 ? chosen[i] : chosen[1 - i], 0, MPI_COMM_WORLD, remote_leader, tag,
                  &made) == MPI_ERR_COMM);
        CHECK(made == MPI_COMM_NULL);
        expect_text(MPI_ERR_COMM, "\"mask\"");
        expect_text(MPI_ERR_COMM, "\"consensus\"");
        CHECK(MPI_Intercomm_create(chosen[i], 0, MPI_COMM_WORLD, remote_leader, tag, &made) == MPI_SUCCESS);
        use_inter(made, 4);
        MPI_Comm_free(&made);
    }
    MPI_Comm_free(&chosen[0]);
    MPI_Comm_free(&chosen[1]);
}

/* The group of one side, from the session. */
static MPI_Group side_group(MPI_Group world, int side, int first_size, int size) {
    int range[1][3] = {{side == 0 ? 0 : first_size, side == 0 ? first_size - 1 : size - 1, 1}};
    MPI_Group group;
    MPI_Group_range_incl(world, 1, range, &group);
    return group;
}

/* The last process of each side leads. `mistake`: null_result at the leader, null_at_member, no_rank_at_member, or
 * wrong_kind for a remote leader that is no rank. */
static void test_from_groups(
    const struct sides* s, MPI_Group world, int first_size, int size, enum mistake mistake, int wanted, int wrong) {
    const MPI_Group local = side_group(world, s->side, first_size, size);
    const MPI_Group remote = side_group(world, 1 - s->side, first_size, size);
    const int leads = s->rank == s->size - 1;
    int leader = s->size - 1, remote_leader = s->remote_size - 1, in_place = 1;
    MPI_Comm made = MPI_COMM_NULL;
    if (wrong & 1 << s->side) {
        in_place = !(mistake == null_result && leads) && !(mistake == null_at_member && s->rank == 0);
        leader = mistake == no_rank_at_member && s->rank == 0 ? s->size : leader;
        remote_leader = mistake == wrong_kind ? s->remote_size : remote_leader;
    }
    const int code = MPI_Intercomm_create_from_groups(local, leader, leads ? remote : MPI_GROUP_NULL, remote_leader,
        "refusals", MPI_INFO_NULL, MPI_ERRORS_RETURN, in_place ? &made : NULL);
    CHECK(code == wanted);
    CHECK(made == MPI_COMM_NULL);
    CHECK(MPI_Intercomm_create_from_groups(local, s->size - 1, remote, s->remote_size - 1, "refusals", MPI_INFO_NULL,
              MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
    use_inter(made, 5);
    MPI_Comm_free(&made);
    MPI_Group_free((MPI_Group*)&local);
    MPI_Group_free((MPI_Group*)&remote);
}

/* The sides of `wrong` with at least one process that is not the leader. */
static int with_members(int wrong, int first_size, int size) {
    return (first_size > 1 ? wrong & 1 : 0) | (size - first_size > 1 ? wrong & 2 : 0);
}

int main(int argc, char** argv) {
    int size;
    MPI_Session session;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "refusals", MPI_INFO_NULL, MPI_ERRORS_RETURN, &session_world);
    for (int first_size = 1; first_size < size; ++first_size) {
        struct sides s = make_sides(first_size, 0, 0);
        MPI_Comm_set_errhandler(s.local, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(s.inter, MPI_ERRORS_RETURN);
        for (int wrong = 1; wrong <= 3; ++wrong) {
            test(&s, first_size, size, null_result, MPI_ERR_ARG, wrong);
            test(&s, first_size, size, mixture, MPI_ERR_SESSION, wrong);
            test(&s, first_size, size, wrong_kind, MPI_ERR_COMM, wrong);
            test_from_groups(&s, group, first_size, size, null_result, MPI_ERR_ARG, wrong);
            test_from_groups(&s, group, first_size, size, wrong_kind, MPI_ERR_RANK, wrong);
            const int members = with_members(wrong, first_size, size);
            if (members == wrong) {
                test(&s, first_size, size, null_at_member, MPI_ERR_ARG, wrong);
                test(&s, first_size, size, no_rank_at_member, MPI_ERR_RANK, wrong);
                test(&s, first_size, size, different_leaders, MPI_ERR_RANK, wrong);
                test_from_groups(&s, group, first_size, size, null_at_member, MPI_ERR_ARG, wrong);
                test_from_groups(&s, group, first_size, size, no_rank_at_member, MPI_ERR_RANK, wrong);
            }
        }
        test_cid_components(&s, first_size);
        free_sides(&s);
    }
    MPI_Group_free(&group);
    MPI_Comm_free(&session_world);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return failures();
}
