/* SPDX-License-Identifier: BSD-3-Clause */
/* What every tool can do with MPI_T before MPI_Init, after MPI_Finalize, and without both: names, texts, indices,
 * categories, and the error codes. */
#include "tests/mpi_t/mpi_t.h"

#include <stdint.h>
#include <stdlib.h>

static void not_initialized(void) {
    int number, index, items;
    MPI_T_pvar_session session;
    CHECK_EQUAL(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_event_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_source_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_cvar_get_index("wait_spin", &index), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &items, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_event_read((MPI_T_event_instance)NULL, 0, &number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

static void texts(void) {
    char name[64];
    int index = cvar_index("btl_sm_single_copy"), full = 0, length = 5, bind = 0, verbosity = 0;
    CHECK(MPI_T_cvar_get_info(index, NULL, &full, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK_EQUAL(full, sizeof "btl_sm_single_copy");
    memset(name, 'x', sizeof name);
    CHECK(MPI_T_cvar_get_info(index, name, &length, &verbosity, NULL, NULL, NULL, NULL, &bind, NULL) == MPI_SUCCESS);
    CHECK(strcmp(name, "btl_") == 0 && length == full && name[5] == 'x');
    CHECK(bind == MPI_T_BIND_NO_OBJECT && verbosity >= MPI_T_VERBOSITY_USER_BASIC);
    length = 0;
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(length == full && strcmp(name, "btl_") == 0);
    length = sizeof name;
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(name, "btl_sm_single_copy") == 0);
}

static void enumerations(void) {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_T_enum items = MPI_T_ENUM_NULL;
    char name[64];
    int length = sizeof name, number = 0, value = -1, found = 0;
    MPI_T_cvar_get_info(cvar_index("wait_oversubscribed"), NULL, NULL, NULL, &datatype, &items, NULL, NULL, NULL, NULL);
    CHECK(datatype == MPI_INT && items != MPI_T_ENUM_NULL);
    CHECK(MPI_T_enum_get_info(items, &number, name, &length) == MPI_SUCCESS);
    CHECK(number == 3 && strcmp(name, "wait_oversubscribed") == 0);
    for (int i = 0; i < number; ++i) {
        length = sizeof name;
        CHECK(MPI_T_enum_get_item(items, i, &value, name, &length) == MPI_SUCCESS && value == i);
        found += strcmp(name, i == 0 ? "auto" : i == 1 ? "yes" : "no") == 0;
    }
    CHECK_EQUAL(found, 3);
    CHECK_EQUAL(MPI_T_enum_get_item(items, number, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_enum_get_item(items, -1, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_enum_get_info((MPI_T_enum)(intptr_t)4711, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

static void bad_control_arguments(void) {
    int number = 0, index, count = 7;
    MPI_T_cvar_handle handle = (MPI_T_cvar_handle)(intptr_t)4711;
    MPI_T_cvar_get_num(&number);
    CHECK(number > 50);
    CHECK_EQUAL(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQUAL(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQUAL(MPI_T_cvar_get_index(NULL, &index), MPI_T_ERR_INVALID);
    CHECK_EQUAL(
        MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_cvar_read(handle, &index), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_cvar_write(handle, &index), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_cvar_handle_alloc(number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL && count == 0);
    handle = cvar_handle("wait_spin", &count);
    MPI_T_cvar_handle freed = handle;
    CHECK_EQUAL(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_cvar_read(freed, &index), MPI_T_ERR_INVALID_HANDLE);
    /* A value of no choice, and one that is read once. */
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK_EQUAL(write_cvar("wait_oversubscribed", 17),
        initialized && !finalized ? MPI_T_ERR_CVAR_SET_NOT_NOW : MPI_T_ERR_INVALID);
    CHECK_EQUAL(write_cvar("fault_step", 1), MPI_T_ERR_CVAR_SET_NEVER);
}

static void bad_performance_arguments(void) {
    int number = 0, index, count = 7;
    unsigned long long value = 5;
    MPI_T_pvar_session session, other, strange = (MPI_T_pvar_session)(intptr_t)4711;
    MPI_T_pvar_handle handle = (MPI_T_pvar_handle)(intptr_t)4711;
    MPI_T_pvar_get_num(&number);
    CHECK(number > 10);
    CHECK_EQUAL(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQUAL(MPI_T_pvar_get_index("cid_rounds", MPI_T_PVAR_CLASS_LEVEL, &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQUAL(MPI_T_pvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(strange, 0, NULL, &handle, &count), MPI_T_ERR_INVALID_SESSION);
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL && count == 0);
    CHECK_EQUAL(MPI_T_pvar_session_free(&strange), MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS && MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    /* Bound variables need an object. */
    CHECK_EQUAL(
        MPI_T_pvar_handle_alloc(session, pvar_index("coll_component", MPI_T_PVAR_CLASS_STATE), NULL, &handle, &count),
        MPI_T_ERR_INVALID);
    MPI_Comm none = MPI_COMM_NULL;
    CHECK_EQUAL(
        MPI_T_pvar_handle_alloc(session, pvar_index("coll_component", MPI_T_PVAR_CLASS_STATE), &none, &handle, &count),
        MPI_T_ERR_INVALID);
    MPI_Comm no_address = (MPI_Comm)(intptr_t)0x12345678;
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(
                    session, pvar_index("coll_component", MPI_T_PVAR_CLASS_STATE), &no_address, &handle, &count),
        MPI_T_ERR_INVALID);
    handle = pvar_handle(session, "cid_rounds", MPI_T_PVAR_CLASS_COUNTER, NULL);
    CHECK_EQUAL(MPI_T_pvar_read(other, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQUAL(MPI_T_pvar_stop(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    MPI_T_pvar_handle level = pvar_handle(session, "mpi_communicators", MPI_T_PVAR_CLASS_LEVEL, NULL);
    CHECK_EQUAL(MPI_T_pvar_write(session, level, &value), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQUAL(MPI_T_pvar_reset(session, level), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQUAL(MPI_T_pvar_readreset(session, level, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
    /* Each handle has its own value. */
    MPI_T_pvar_handle second = pvar_handle(other, "cid_rounds", MPI_T_PVAR_CLASS_COUNTER, NULL);
    const unsigned long long before = read_pvar(other, second);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_SUCCESS);
    CHECK_EQUAL(read_pvar(session, handle), 5);
    CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_SUCCESS && value == 5);
    CHECK_EQUAL(read_pvar(session, handle), 0);
    CHECK_EQUAL(read_pvar(other, second), before);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS && handle == MPI_T_PVAR_HANDLE_NULL);
    CHECK_EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS); /* with its handles */
}

/* What a variable class may be, and what it means. */
static void performance_info(void) {
    int number = 0;
    MPI_T_pvar_get_num(&number);
    for (int i = 0; i < number; ++i) {
        char name[128] = "";
        int length = sizeof name, var_class, bind, readonly, continuous, atomic, again, found = -1;
        MPI_Datatype datatype;
        MPI_T_enum items;
        CHECK(MPI_T_pvar_get_info(i, name, &length, NULL, &var_class, &datatype, &items, NULL, NULL, &bind, &readonly,
                  &continuous, &atomic) == MPI_SUCCESS);
        CHECK_TEXT(MPI_T_pvar_get_index(name, var_class, &found) == MPI_SUCCESS && found == i, name);
        CHECK_TEXT(datatype == (var_class == MPI_T_PVAR_CLASS_STATE ? MPI_INT : MPI_UNSIGNED_LONG_LONG), name);
        CHECK_TEXT((items != MPI_T_ENUM_NULL) == (var_class == MPI_T_PVAR_CLASS_STATE), name);
        CHECK_TEXT(readonly == !atomic, name);
        again = -1;
        CHECK_TEXT(MPI_T_pvar_get_info(i, NULL, NULL, NULL, &again, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
                    MPI_SUCCESS &&
                again == var_class,
            name);
    }
}

/* Every variable and event is in one category besides those of origins. */
static void categories(void) {
    int cvars = 0, pvars = 0, events = 0, number = 0, index = -1, changed = -1;
    MPI_T_cvar_get_num(&cvars);
    MPI_T_pvar_get_num(&pvars);
    MPI_T_event_get_num(&events);
    MPI_T_category_get_num(&number);
    int in_groups = 0, in_origins = 0, seen_pvars = 0, seen_events = 0;
    for (int i = 0; i < number; ++i) {
        char name[128] = "", desc[256] = "";
        int length = sizeof name, desc_length = sizeof desc, own_cvars, own_pvars, own_categories, own_events,
            found = -1;
        CHECK(MPI_T_category_get_info(i, name, &length, desc, &desc_length, &own_cvars, &own_pvars, &own_categories) ==
            MPI_SUCCESS);
        CHECK_TEXT(MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == i && desc[0] != '\0', name);
        CHECK(MPI_T_category_get_num_events(i, &own_events) == MPI_SUCCESS);
        *(strncmp(name, "origin_", 7) == 0 ? &in_origins : &in_groups) += own_cvars;
        seen_pvars += own_pvars;
        seen_events += own_events;
        int* list = malloc(sizeof(int) * (size_t)(own_cvars + own_pvars + own_events + own_categories + 1));
        CHECK(MPI_T_category_get_cvars(i, own_cvars, list) == MPI_SUCCESS);
        CHECK(own_cvars == 0 || (list[0] >= 0 && list[own_cvars - 1] < cvars));
        CHECK(MPI_T_category_get_pvars(i, own_pvars, list) == MPI_SUCCESS);
        CHECK(own_pvars == 0 || (list[0] >= 0 && list[own_pvars - 1] < pvars));
        CHECK(MPI_T_category_get_events(i, own_events, list) == MPI_SUCCESS);
        CHECK(own_events == 0 || (list[0] >= 0 && list[own_events - 1] < events));
        CHECK(MPI_T_category_get_categories(i, own_categories, list) == MPI_SUCCESS);
        CHECK(own_categories == 0 || (list[0] >= 0 && list[own_categories - 1] < number));
        free(list);
    }
    CHECK_EQUAL(in_groups, cvars);
    CHECK_EQUAL(in_origins, cvars);
    CHECK_EQUAL(seen_pvars, pvars);
    CHECK_EQUAL(seen_events, events);
    CHECK(MPI_T_category_get_index("pml_ob1", &index) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_index("origin_program", &index) == MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_category_get_index("no such category", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQUAL(MPI_T_category_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_category_get_cvars(0, -1, NULL), MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_changed(&changed) == MPI_SUCCESS && changed >= 0);
}

static void all_of_it(void) {
    texts();
    enumerations();
    bad_control_arguments();
    bad_performance_arguments();
    performance_info();
    categories();
}

static int num_of(int (*get_num)(int*)) {
    int number = -1;
    CHECK(get_num(&number) == MPI_SUCCESS);
    return number;
}

int main(int argc, char** argv) {
    int provided = -1, spin = -1, rounds = -1, cvars;
    not_initialized();
    CHECK_EQUAL(MPI_T_init_thread(4711, &provided), MPI_T_ERR_INVALID);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE);
    all_of_it();
    spin = cvar_index("wait_spin");
    rounds = pvar_index("cid_rounds", MPI_T_PVAR_CLASS_COUNTER);
    cvars = num_of(MPI_T_cvar_get_num);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    all_of_it(); /* the first initialization holds */
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    not_initialized();

    /* The same indices for ever, whether or not the library is initialized. */
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    all_of_it();
    CHECK_EQUAL(cvar_index("wait_spin"), spin);
    CHECK_EQUAL(pvar_index("cid_rounds", MPI_T_PVAR_CLASS_COUNTER), rounds);
    CHECK_EQUAL(num_of(MPI_T_cvar_get_num), cvars);
    CHECK_OK(MPI_Finalize());
    all_of_it();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    not_initialized();
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    all_of_it();
    CHECK_EQUAL(cvar_index("wait_spin"), spin);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return failures();
}
