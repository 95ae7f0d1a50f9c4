/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create with arguments that one leader refuses while it can reach the other one: all processes of both
 * groups return its error, and the next call with the same tag is none the wiser. */
#include "tests/intercomm/sides.h"

enum { tag = 17 };

static MPI_Comm session_world; /* all processes, of a session */

/* How a process of the side that gets it wrong calls MPI_Intercomm_create. */
enum mistake { null_result, mixture, wrong_kind };

static int call(const struct sides* s, int leader, int remote_leader, enum mistake mistake) {
    const int leads = s->rank == leader;
    MPI_Comm made = MPI_COMM_NULL;
    switch (mistake) {
    case null_result:
        return MPI_Intercomm_create(s->local, leader, MPI_COMM_WORLD, remote_leader, tag, leads ? NULL : &made);
    case mixture:
        return MPI_Intercomm_create(s->local, leader, leads ? session_world : MPI_COMM_NULL, remote_leader, tag, &made);
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
    /* Of the session, for those who do it right. */
    MPI_Comm made = MPI_COMM_NULL, local = s->local, again;
    if (mistake == mixture) {
        MPI_Comm_split(session_world, s->side, 0, &local);
    }
    if (wrong & 1 << s->side) {
        CHECK(call(s, leader, remote_leader, mistake) == wanted);
        if (s->rank != leader && mistake != wrong_kind) {
            expect_text(wanted, "the leader of the local group");
        }
    } else {
        CHECK(MPI_Intercomm_create(local, leader, peer, remote_leader, tag, &made) == wanted);
        CHECK(made == MPI_COMM_NULL);
        expect_text(wanted, "the leader of the other group");
    }
    CHECK(MPI_Intercomm_create(local, leader, peer, remote_leader, tag, &again) == MPI_SUCCESS);
    use_inter(again, 3);
    MPI_Comm_free(&again);
    if (mistake == mixture) {
        MPI_Comm_free(&local);
    }
}

/* Who names is chosen by info keys of the local communicators, which must be equal. */
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
    MPI_Group_free(&group);
    for (int first_size = 1; first_size < size; ++first_size) {
        struct sides s = make_sides(first_size, 0, 0);
        MPI_Comm_set_errhandler(s.local, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(s.inter, MPI_ERRORS_RETURN);
        for (int wrong = 1; wrong <= 3; ++wrong) {
            test(&s, first_size, size, null_result, MPI_ERR_ARG, wrong);
            test(&s, first_size, size, mixture, MPI_ERR_SESSION, wrong);
            test(&s, first_size, size, wrong_kind, MPI_ERR_COMM, wrong);
        }
        test_cid_components(&s, first_size);
        free_sides(&s);
    }
    MPI_Comm_free(&session_world);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return failures();
}
