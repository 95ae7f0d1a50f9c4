/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init to MPI_Finalize: what may be asked when, and from which thread. */
#include "tests/mpi_check/check.h"

#include <pthread.h>
#include <string.h>

static void check_state(int initialized, int finalized) {
    int flag = -1;
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag == initialized);
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag == finalized);
}

/* These may be called at any time, on any thread. */
static void* ask_all_the_time(void* stop) {
    int flag, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    while (!__atomic_load_n((int*)stop, __ATOMIC_ACQUIRE)) {
        CHECK(MPI_Initialized(&flag) == MPI_SUCCESS);
        CHECK(MPI_Finalized(&flag) == MPI_SUCCESS);
        CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version == 5);
        CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS && strncmp(text, "Patchbay", 8) == 0);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int stop = 0, rank = -1, size = 0, value = -1, flag = -1, length = 0;
    char name[MPI_MAX_PROCESSOR_NAME];
    pthread_t asker;
    pthread_create(&asker, NULL, ask_all_the_time, &stop);
    check_state(0, 0);
    MPI_Init(&argc, &argv);
    check_state(1, 0);
    CHECK(MPI_Query_thread(&value) == MPI_SUCCESS && value == MPI_THREAD_SINGLE);
    CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag == 1);
    CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS && length == (int)strlen(name));
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS);
    CHECK(rank >= 0 && rank < size);
    CHECK(MPI_Comm_size(MPI_COMM_SELF, &value) == MPI_SUCCESS && value == 1);
    CHECK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &value) == MPI_SUCCESS);
    CHECK(value == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Init(&argc, &argv) == MPI_ERR_OTHER); /* only once */

    /* A communicator that is never freed must not keep MPI from ending. */
    MPI_Comm forgotten;
    MPI_Comm_dup(MPI_COMM_WORLD, &forgotten);
    MPI_Barrier(forgotten);
    MPI_Finalize();
    check_state(1, 1);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(asker, NULL);
    return failures();
}
