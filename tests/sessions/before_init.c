/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that any thread may make before MPI is initialized: info objects, error handlers, classes and codes,
 * attribute keys (MPI-5.0, 11.6.2). The same after the last session has ended. */
#include "tests/sessions/session_check.h"

#include <mpix.h>
#include <pthread.h>
#include <stdlib.h>

enum { threads = 8, rounds = 300 };

static void on_session(MPI_Session* session, int* code, ...) {
    (void)session;
    (void)code;
}
static void on_comm(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
}

static MPI_Info shared_info;

static void use_info(int thread, int round) {
    MPI_Info info, copy, env;
    char key[32], value[32], text[64];
    int length = sizeof text, flag = 0, number = 0;
    char* arguments[] = {"program", "argument", NULL};
    snprintf(key, sizeof key, "key %d", thread);
    snprintf(value, sizeof value, "%d", round);
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, key, value) == MPI_SUCCESS);
    CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(copy, key, &length, text, &flag) == MPI_SUCCESS && flag && strcmp(text, value) == 0);
    CHECK(MPI_Info_delete(copy, key) == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(copy, &number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_Info_set(shared_info, key, value) == MPI_SUCCESS);
    length = sizeof text;
    CHECK(
        MPI_Info_get_string(shared_info, key, &length, text, &flag) == MPI_SUCCESS && flag && strcmp(text, value) == 0);
    CHECK(MPI_Info_create_env(2, arguments, &env) == MPI_SUCCESS);
    length = sizeof text;
    CHECK(
        MPI_Info_get_string(env, "argv", &length, text, &flag) == MPI_SUCCESS && flag && strcmp(text, "argument") == 0);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Info_free(&env);
}

static void use_errors(void) {
    MPI_Errhandler one, other;
    int error_class = 0, code = 0, found = 0, length = 0;
    char text[MPI_MAX_ERROR_STRING];
    CHECK(MPI_Session_create_errhandler(on_session, &one) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_errhandler(on_comm, &other) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(one)) == one);
    CHECK(MPI_Errhandler_free(&one) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&other) == MPI_SUCCESS);
    CHECK(MPI_Add_error_class(&error_class) == MPI_SUCCESS);
    CHECK(MPI_Add_error_code(error_class, &code) == MPI_SUCCESS);
    CHECK(MPI_Add_error_string(code, "so it is") == MPI_SUCCESS);
    CHECK(MPI_Error_class(code, &found) == MPI_SUCCESS && found == error_class);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && strcmp(text, "so it is") == 0);
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(error_class) == MPI_SUCCESS);
}

static void use_keys(void) {
    int comm_key = 0, type_key = 0, win_key = 0, session_key = 0;
    CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL) == MPI_SUCCESS);
    CHECK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL) == MPI_SUCCESS);
    CHECK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL) == MPI_SUCCESS);
    CHECK(MPIX_Session_create_keyval(NULL, &session_key, NULL) == MPI_SUCCESS);
    CHECK(comm_key != type_key && type_key != win_key && win_key != session_key && comm_key != session_key);
    CHECK(MPI_Comm_free_keyval(&comm_key) == MPI_SUCCESS && comm_key == MPI_KEYVAL_INVALID);
    CHECK(MPI_Type_free_keyval(&type_key) == MPI_SUCCESS);
    CHECK(MPI_Win_free_keyval(&win_key) == MPI_SUCCESS);
    CHECK(MPIX_Session_free_keyval(&session_key) == MPI_SUCCESS && session_key == MPI_KEYVAL_INVALID);
}

static void* work(void* number) {
    for (int round = 0; round < rounds; ++round) {
        use_info(*(int*)number, round);
        use_errors();
        use_keys();
    }
    return NULL;
}

static void run(void) {
    pthread_t all[threads];
    int numbers[threads];
    MPI_Info_create(&shared_info);
    for (int i = 0; i < threads; ++i) {
        numbers[i] = i;
        pthread_create(&all[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(all[i], NULL);
    }
    MPI_Info_free(&shared_info);
}

int main(void) {
    int version = 0, subversion = 0, flag = -1, length = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version >= 4);
    CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && !flag);
    run();
    MPI_Session session = open_session(NULL);
    run();
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    run();
    return failures();
}
