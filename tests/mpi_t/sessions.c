/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables of sessions, and of communicators that belong to a session; the world model is never initialized. */
#include "tests/mpi_t/mpi_t.h"

int main(void) {
    int provided, level = -1, length = 64;
    char name[64];
    MPI_T_enum items = MPI_T_ENUM_NULL;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    MPI_T_pvar_session tool;
    CHECK(MPI_T_pvar_session_create(&tool) == MPI_SUCCESS);
    MPI_T_pvar_handle users = pvar_handle(tool, "mpi_users", MPI_T_PVAR_CLASS_LEVEL, NULL);
    CHECK_EQUAL(read_pvar(tool, users), 0);

    MPI_Session first, second;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED");
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &first));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
    MPI_Info_free(&info);
    CHECK_EQUAL(read_pvar(tool, users), 2);
    MPI_T_pvar_handle of_first = pvar_handle(tool, "session_communicators", MPI_T_PVAR_CLASS_LEVEL, &first);
    MPI_T_pvar_handle of_second = pvar_handle(tool, "session_communicators", MPI_T_PVAR_CLASS_LEVEL, &second);
    MPI_T_pvar_handle levels = pvar_handle(tool, "session_thread_level", MPI_T_PVAR_CLASS_STATE, &first);
    CHECK(MPI_T_pvar_read(tool, levels, &level) == MPI_SUCCESS);
    MPI_T_pvar_get_info(pvar_index("session_thread_level", MPI_T_PVAR_CLASS_STATE), NULL, NULL, NULL, NULL, NULL,
        &items, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(MPI_T_enum_get_item(items, level, NULL, name, &length) == MPI_SUCCESS);
    CHECK_TEXT(strcmp(name, "MPI_THREAD_SERIALIZED") == 0, name);

    MPI_Group group;
    MPI_Comm comm, copy;
    CHECK_OK(MPI_Group_from_session_pset(first, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "patchbay.test.mpi_t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_EQUAL(read_pvar(tool, of_first), 2);
    CHECK_EQUAL(read_pvar(tool, of_second), 0);
    MPI_T_pvar_handle posted = pvar_handle(tool, "pml_ob1_posted_length", MPI_T_PVAR_CLASS_LEVEL, &copy);
    MPI_T_pvar_handle algorithm = pvar_handle(tool, "coll_tuned_algorithm", MPI_T_PVAR_CLASS_STATE, &copy);
    CHECK(MPI_T_pvar_start(tool, algorithm) == MPI_SUCCESS && MPI_T_pvar_stop(tool, algorithm) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(tool, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_stop(tool, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    MPI_Request request;
    CHECK_OK(MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 3, copy, &request));
    CHECK_EQUAL(read_pvar(tool, posted), 1);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_EQUAL(MPI_T_pvar_start(tool, algorithm), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_start(tool, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_handle_free(tool, &algorithm) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(tool, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK_EQUAL(read_pvar(tool, of_first), 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_EQUAL(read_pvar(tool, of_first), 0);
    CHECK_OK(MPI_Session_finalize(&first));
    unsigned long long value;
    CHECK_EQUAL(MPI_T_pvar_read(tool, of_first, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_read(tool, levels, &level), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_pvar_read(tool, posted, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(read_pvar(tool, of_second), 0);
    CHECK_EQUAL(read_pvar(tool, users), 1);
    CHECK_OK(MPI_Session_finalize(&second));
    CHECK_EQUAL(MPI_T_pvar_read(tool, of_second, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(read_pvar(tool, users), 0);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return failures();
}
