/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init_thread with the level named on the command line: each is granted as asked. */
#include "tests/mpi_check/check.h"

#include <pthread.h>
#include <string.h>

static const struct {
    const char* name;
    int level;
} levels[] = {{"single", MPI_THREAD_SINGLE}, {"funneled", MPI_THREAD_FUNNELED}, {"serialized", MPI_THREAD_SERIALIZED},
    {"multiple", MPI_THREAD_MULTIPLE}};

static int level_of(const char* name) {
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; ++i) {
        if (strcmp(levels[i].name, name) == 0) {
            return levels[i].level;
        }
    }
    return -1;
}

static void* other_thread(void* level) {
    int flag = -1, value = -1, sum = 0, one = 1, size = 0;
    CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag == 0);
    CHECK(MPI_Query_thread(&value) == MPI_SUCCESS && value == *(int*)level);
    if (value >= MPI_THREAD_SERIALIZED) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size);
    }
    return NULL;
}

/* What a session gets without info key thread_level: MPI_THREAD_MULTIPLE costs nothing where the library locks. */
static void check_session_level(const char* expected) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char name[64];
    int length = sizeof name, flag = 0;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Session_get_info(session, &info) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(info, "thread_level", &length, name, &flag) == MPI_SUCCESS && flag);
    CHECK(strcmp(name, expected) == 0);
    MPI_Info_free(&info);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    int required = level_of(argv[1]), provided = -1, flag = -1, length = 64;
    char name[64];
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, required, &provided);
    CHECK(provided == required);
    CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag == 1);
    CHECK(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &length, name, &flag) == MPI_SUCCESS && flag);
    check_session_level(required == MPI_THREAD_MULTIPLE ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_FUNNELED");
    pthread_create(&thread, NULL, other_thread, &required);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return failures();
}
