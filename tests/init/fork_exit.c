/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() ends by exit() when the library has been used, and finalized, several times in the parent: it does
 * not wait for what only the parent has. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void use_session(void) {
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_finalize(&session));
}

static void check_child(void) {
    const pid_t child = fork();
    if (child == 0) {
        exit(3);
    }
    int status = 0, ended = 0;
    for (int i = 0; i < 500 && !ended; ++i) {
        ended = waitpid(child, &status, WNOHANG) == child;
        usleep(10000);
    }
    CHECK(ended && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    if (!ended) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
}

int main(void) {
    for (int i = 0; i < 3; ++i) {
        use_session();
        check_child();
    }
    return failures();
}
