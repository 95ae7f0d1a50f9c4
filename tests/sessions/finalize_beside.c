/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize ends the world model while another thread makes and frees communicators of a session. */
#include "tests/mpi_check/check.h"

#include <pthread.h>

enum { at_a_time = 3000 };

static MPI_Comm base, made[at_a_time];
static int has_begun, has_to_stop;

static void* work(void* unused) {
    (void)unused;
    while (!__atomic_load_n(&has_to_stop, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < at_a_time; ++i) {
            CHECK_OK(MPI_Comm_dup(base, &made[i]));
        }
        __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
        for (int i = at_a_time - 1; i >= 0; --i) {
            CHECK_OK(MPI_Comm_free(&made[i]));
        }
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "base", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &base));
    CHECK_OK(MPI_Group_free(&group));
    pthread_create(&thread, NULL, work, NULL);
    while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE)) {
    }
    CHECK_OK(MPI_Finalize());
    __atomic_store_n(&has_to_stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_OK(MPI_Comm_free(&base));
    CHECK_OK(MPI_Session_finalize(&session));
    return failures();
}
