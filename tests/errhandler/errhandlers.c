/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of communicators: which one is called, with what, and what is inherited. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int calls, last_code;
static MPI_Comm last_comm;

static void handler(MPI_Comm* comm, int* code, ...) {
    ++calls;
    last_code = *code;
    last_comm = *comm;
}

static void test_user_handler(MPI_Errhandler user) {
    MPI_Comm dup;
    MPI_Errhandler got;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(MPI_Comm_set_errhandler(dup, user) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_errhandler(dup, &got) == MPI_SUCCESS && got == user);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS && got == MPI_ERRHANDLER_NULL);

    calls = 0;
    CHECK(MPI_Send(NULL, -1, MPI_INT, 0, 0, dup) == MPI_ERR_COUNT);
    CHECK(calls == 1 && last_code == MPI_ERR_COUNT && last_comm == dup);
    CHECK(MPI_Comm_call_errhandler(dup, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(calls == 2 && last_code == MPI_ERR_IO);

    MPI_Comm child;
    CHECK(MPI_Comm_split(dup, 0, 0, &child) == MPI_SUCCESS);
    CHECK(MPI_Send(NULL, 0, MPI_INT, -5, 0, child) == MPI_ERR_RANK && last_comm == child);
    CHECK(MPI_Comm_free(&child) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
}

static void test_strings(void) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, error_class = 0, code = 0;
    CHECK(MPI_Send(NULL, 1, MPI_INT, 0, -5, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Error_string(MPI_ERR_TAG, text, &length) == MPI_SUCCESS && length == (int)strlen(text));
    CHECK(MPI_Error_class(MPI_ERR_TAG, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TAG);
    CHECK(MPI_Error_class(-4, &error_class) == MPI_ERR_ARG);
    CHECK(MPI_Add_error_class(&error_class) == MPI_SUCCESS);
    CHECK(MPI_Add_error_code(error_class, &code) == MPI_SUCCESS);
    CHECK(MPI_Add_error_string(code, "my own") == MPI_SUCCESS);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && strcmp(text, "my own") == 0 && length == 6);
    CHECK(MPI_Remove_error_class(error_class) == MPI_ERR_ARG); /* it has a code */
    CHECK(MPI_Remove_error_code(code) == MPI_ERR_ARG);         /* it has a string */
    CHECK(MPI_Error_class(code, &error_class) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(error_class) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(MPI_ERR_TAG) == MPI_ERR_ARG);
}

/* The text of a code of the program is the program's alone, also after a call has returned that code. */
static int code_of_copy;
static int failing_copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
    (void)comm, (void)keyval, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return code_of_copy;
}

static void test_own_strings(void) {
    char text[MPI_MAX_ERROR_STRING];
    const char* strings[] = {"my own class", "my own code", ""};
    int codes[3], keyval, length;
    MPI_Comm comm, dup;
    MPI_Add_error_class(&codes[0]);
    MPI_Add_error_code(codes[0], &codes[1]);
    MPI_Add_error_code(MPI_ERR_OTHER, &codes[2]);
    MPI_Add_error_string(codes[0], strings[0]);
    MPI_Add_error_string(codes[1], strings[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(failing_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &keyval);
    for (int i = 0; i < 3; ++i) {
        code_of_copy = codes[i];
        CHECK(MPI_Comm_dup(comm, &dup) == codes[i]);
        CHECK(MPI_Error_string(codes[i], text, &length) == MPI_SUCCESS);
        CHECK(strcmp(text, strings[i]) == 0 && length == (int)strlen(strings[i]));
    }
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
}

static void window_handler(MPI_Win* win, int* code, ...) {
    (void)win, (void)code;
}

int main(int argc, char** argv) {
    MPI_Errhandler user, other;
    MPI_Comm dup;
    CHECK(MPI_Comm_create_errhandler(handler, &user) == MPI_SUCCESS); /* legal before MPI_Init */
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_user_handler(user);
    test_strings();
    test_own_strings();

    CHECK(MPI_Win_create_errhandler(window_handler, &other) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, other) == MPI_ERR_ERRHANDLER);
    CHECK(MPI_Errhandler_free(&other) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) == MPI_ERR_ERRHANDLER);

    /* An error without a communicator goes to MPI_COMM_SELF. */
    calls = 0;
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, user) == MPI_SUCCESS);
    CHECK(MPI_Comm_rank(MPI_COMM_NULL, &calls) == MPI_ERR_COMM);
    CHECK(calls == 1 && last_comm == MPI_COMM_SELF);

    /* The handle may go while the handler is in use. */
    CHECK(MPI_Comm_set_errhandler(dup, user) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&user) == MPI_SUCCESS);
    CHECK(MPI_Send(NULL, -1, MPI_INT, 0, 0, dup) == MPI_ERR_COUNT && last_comm == dup);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
    MPI_Finalize();
    return failures();
}
