/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a call failed, beyond the arguments: with a handler that returns nothing is printed, and MPI_Error_string has the
 * cause, also when another thread found it. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static MPI_Info choice(const char* key, const char* component) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, component);
    return info;
}

static void check_text(int code, const char* cause) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
    CHECK(strstr(text, cause) != NULL);
}

static atomic_int stop;
static void* poll_all(void* comm) {
    while (!stop) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, *(MPI_Comm*)comm, &flag, MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* `waits`: another thread polls until the constructor has surely failed. */
static void check_nonblocking(MPI_Comm comm, const char* key, int waits) {
    MPI_Info info = choice(key, "no_such_component");
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    pthread_t thread;
    stop = 0;
    if (waits) {
        pthread_create(&thread, NULL, poll_all, &comm);
    }
    int code = MPI_Comm_idup_with_info(comm, info, &made, &request);
    if (waits) {
        usleep(50000);
        stop = 1;
        pthread_join(thread, NULL);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Waitall(1, &request, &status);
        CHECK(code == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS);
        code = status.MPI_ERROR;
    }
    check_text(code, "no_such_component");
    MPI_Info_free(&info);
}

static void check_blocking(MPI_Comm comm, const char* key) {
    MPI_Info info = choice(key, "no_such_component");
    MPI_Comm made = MPI_COMM_NULL;
    const int code = MPI_Comm_dup_with_info(comm, info, &made);
    CHECK(code != MPI_SUCCESS);
    check_text(code, "MPI_Comm_dup_with_info");
    check_text(code, "no_such_component");
    MPI_Info_free(&info);
    /* A later error of that class has its own text. */
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK(MPI_Comm_call_errhandler(comm, code) == MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "no_such_component") == NULL);
}

int main(int argc, char** argv) {
    const char* keys[] = {"patchbay_cid", "patchbay_coll"};
    int provided;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

    FILE* printed = tmpfile();
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(printed), STDERR_FILENO);
    for (int i = 0; i < 2; ++i) {
        check_blocking(comm, keys[i]);
        check_nonblocking(comm, keys[i], 0);
        check_nonblocking(comm, keys[i], 1);
    }
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);

    rewind(printed);
    char line[1024];
    while (fgets(line, sizeof line, printed) != NULL) {
        check_failed(__FILE__, __LINE__, line);
    }
    fclose(printed);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failures();
}
