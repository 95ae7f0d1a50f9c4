/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables: what a program writes before MPI_Init has effect, what is in use cannot be written, scopes and
 * origins. The test sets wait_yield=40us in the environment. */
#include "tests/mpi_t/mpi_t.h"

static int scope_of(const char* name) {
    int scope = -1;
    CHECK(MPI_T_cvar_get_info(cvar_index(name), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &scope) == MPI_SUCCESS);
    return scope;
}

/* Whether the variable is in that category. */
static int is_in(const char* category, const char* name) {
    int index = -1, number = 0, list[400], found = 0;
    CHECK_TEXT(MPI_T_category_get_index(category, &index) == MPI_SUCCESS, category);
    CHECK(MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, &number, NULL, NULL) == MPI_SUCCESS);
    CHECK(number <= 400 && MPI_T_category_get_cvars(index, 400, list) == MPI_SUCCESS);
    for (int i = 0; i < number; ++i) {
        found += list[i] == cvar_index(name);
    }
    return found;
}

/* The description says how the variable may be written. */
static void check_description(const char* name, const char* part) {
    char text[1024] = "";
    int length = sizeof text;
    CHECK(
        MPI_T_cvar_get_info(cvar_index(name), NULL, NULL, NULL, NULL, NULL, text, &length, NULL, NULL) == MPI_SUCCESS);
    CHECK_TEXT(strstr(text, part) != NULL, text);
}

static int changes(void) {
    int number = -1;
    CHECK(MPI_T_category_changed(&number) == MPI_SUCCESS);
    return number;
}

/* A category keeps what it has had, in its order: what is written stands at the end of another one. */
static void check_origins(void) {
    int index = -1, number = 0, list[400];
    CHECK(is_in("origin_default", "wait_spin") && is_in("origin_program", "wait_spin"));
    CHECK(MPI_T_category_get_index("origin_program", &index) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, &number, NULL, NULL) == MPI_SUCCESS && number >= 2);
    CHECK(MPI_T_category_get_cvars(index, 400, list) == MPI_SUCCESS);
    CHECK_EQUAL(list[0], cvar_index("coll_scratch_limit"));
    CHECK_EQUAL(list[1], cvar_index("wait_spin"));
}

static void texts_as_values(void) {
    char text[4096] = "";
    int count = 0;
    MPI_T_cvar_handle handle = cvar_handle("coll", &count);
    CHECK(count > 0 && count <= (int)sizeof text);
    CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS && text[0] == '\0');
    CHECK(MPI_T_cvar_write(handle, "basic,self,inter") == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS && strcmp(text, "basic,self,inter") == 0);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
}

static void before_init(void) {
    int before = changes();
    CHECK_EQUAL(read_cvar("wait_yield"), 40000); /* nanoseconds */
    CHECK(is_in("origin_environment", "wait_yield") || is_in("origin_command_line", "wait_yield"));
    CHECK(is_in("origin_default", "wait_spin") && !is_in("origin_program", "wait_spin"));
    CHECK_EQUAL(scope_of("wait_spin"), MPI_T_SCOPE_LOCAL);
    CHECK_EQUAL(scope_of("component_path"), MPI_T_SCOPE_READONLY);
    check_description("component_path", "; cannot be written");
    check_description("wait_spin", "; may be written before initialization");
    check_description("coll", "; may be written before initialization, in all processes and with one value");
    check_description("verbose", "; may be written at any time");
    CHECK(write_cvar("wait_spin", 12345) == MPI_SUCCESS);
    CHECK_EQUAL(read_cvar("wait_spin"), 12345);
    check_origins();
    CHECK(changes() > before);
    before = changes();
    CHECK(write_cvar("wait_spin", 23456) == MPI_SUCCESS);
    CHECK_EQUAL(changes(), before);
    texts_as_values();
    /* Fewer checks, and other messages: both can be seen below. */
    CHECK(write_cvar("mpi_param_check", 0) == MPI_SUCCESS);
    CHECK(write_cvar("btl_sm_eager_limit", 1024) == MPI_SUCCESS);
    CHECK_EQUAL(read_cvar("btl_sm_eager_limit"), 1024);
}

/* The component that serves MPI_Allreduce on MPI_COMM_WORLD. */
static void check_component(const char* wanted) {
    MPI_T_pvar_session session;
    MPI_T_enum items = MPI_T_ENUM_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    int serving[64], count = 0, size = 0, length = 64;
    char name[64];
    const int allreduce = 12;
    MPI_T_pvar_handle handle;
    MPI_Comm_size(world, &size);
    const int index = pvar_index("coll_component", MPI_T_PVAR_CLASS_STATE);
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) == MPI_SUCCESS);
    CHECK(count > allreduce && count <= 64);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(MPI_T_pvar_read(session, handle, serving) == MPI_SUCCESS);
    CHECK(MPI_T_enum_get_item(items, serving[allreduce], NULL, name, &length) == MPI_SUCCESS);
    CHECK_TEXT(strcmp(name, size == 1 ? "self" : wanted) == 0, name);
    MPI_T_pvar_session_free(&session);
}

static void in_use(void) {
    CHECK_EQUAL(read_cvar("wait_spin"), 23456);
    CHECK_EQUAL(write_cvar("wait_spin", 1), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_EQUAL(write_cvar("btl_sm_eager_limit", 4096), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_EQUAL(scope_of("wait_spin"), MPI_T_SCOPE_LOCAL); /* as it was */
    /* One that is asked for the first time is read-only from now on. */
    CHECK_EQUAL(scope_of("wait_sleep"), MPI_T_SCOPE_READONLY);
    CHECK_EQUAL(write_cvar("wait_sleep", 0), MPI_T_ERR_CVAR_SET_NEVER);
    check_component("basic");
    /* A parameter that every call reads. */
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(write_cvar("mpi_param_check", 1) == MPI_SUCCESS);
    CHECK_EQUAL(scope_of("mpi_param_check"), MPI_T_SCOPE_LOCAL);
    CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
}

int main(int argc, char** argv) {
    int provided;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(write_cvar("coll_scratch_limit", 123456) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK_EQUAL(read_cvar("coll_scratch_limit"), 123456); /* what has been written stays */
    before_init();
    CHECK_OK(MPI_Init(&argc, &argv));
    in_use();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK_EQUAL(scope_of("wait_spin"), MPI_T_SCOPE_READONLY); /* as the tool finds it now */
    CHECK_EQUAL(write_cvar("wait_spin", 1), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK_OK(MPI_Finalize());

    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    check_origins();
    CHECK_EQUAL(read_cvar("wait_spin"), 23456);
    CHECK_EQUAL(scope_of("wait_spin"), MPI_T_SCOPE_LOCAL);
    /* A session uses the library again. */
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_EQUAL(write_cvar("wait_spin", 1), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(write_cvar("wait_spin", 34567) == MPI_SUCCESS);
    CHECK_EQUAL(read_cvar("wait_spin"), 34567);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return failures();
}
