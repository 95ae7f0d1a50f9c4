/* SPDX-License-Identifier: BSD-3-Clause */
/* Other threads of a program may read the environment during MPI_Init and MPI_Session_init: the library, and the PMIx
 * client below it, neither move a variable nor add one. What makes the process a rank is hidden from its children. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_variables = 1000 };
static char** array;
static char* variables[most_variables];

static void remember(void) {
    array = environ;
    int count = 0;
    for (; environ[count] != NULL && count < most_variables - 1; ++count) {
        variables[count] = environ[count];
    }
    variables[count] = NULL;
}

static void check_unmoved(void) {
    CHECK(environ == array);
    for (int i = 0; i == 0 || variables[i - 1] != NULL; ++i) {
        CHECK(environ[i] == variables[i]);
    }
}

static void check_hidden(const char* rank) {
    CHECK(getenv("PMIX_RANK") == NULL);
    CHECK(getenv("PMIX_NAMESPACE") == NULL);
    CHECK(getenv("PATCHBAY_NODE_SEGMENT") == NULL);
    const char* parent = getenv("PATCHBAY_CHILD_OF_RANK");
    CHECK(parent != NULL && strcmp(parent, rank) == 0);
}

static void one_session(void) {
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char** argv) {
    char rank[16];
    const char* own = getenv("PMIX_RANK");
    strcpy(rank, own != NULL && strlen(own) < sizeof rank ? own : "");
    setenv("TESTED_LAST", "1", 1); /* the array belongs to the C library now */
    remember();
    one_session();
    check_unmoved();
    check_hidden(rank);
    one_session();
    MPI_Init(&argc, &argv);
    check_unmoved();
    check_hidden(rank);
    MPI_Finalize();
    check_unmoved();
    CHECK(getenv("TESTED_LAST") != NULL);
    return failures();
}
