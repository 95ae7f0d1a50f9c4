/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows have as MPI objects: attributes, error handlers, integers as handles; windows that are never freed. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int rank, size;
static int memory[4];
static int deleted[4], deletions, refuse;
static MPI_Win seen_win;
static int seen_code, calls;

static int on_delete(MPI_Win win, int keyval, void* value, void* extra) {
    (void)win, (void)keyval, (void)extra;
    if (refuse) {
        return MPI_ERR_OTHER;
    }
    deleted[deletions++ % 4] = *(int*)value;
    return MPI_SUCCESS;
}

static void on_error(MPI_Win* win, int* code, ...) {
    seen_win = *win;
    seen_code = *code;
    ++calls;
}

static MPI_Win make(void) {
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    return win;
}

static void test_attributes(void) {
    static int one = 1, two = 2;
    int first, second, flag = 1;
    int* value = NULL;
    MPI_Win win = make();
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &first, NULL));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &second, NULL));
    CHECK_OK(MPI_Win_get_attr(win, first, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Win_set_attr(win, first, &one));
    CHECK_OK(MPI_Win_set_attr(win, second, &two));
    CHECK_OK(MPI_Win_get_attr(win, first, &value, &flag));
    CHECK(flag && value == &one);
    CHECK_CLASS(MPI_Win_set_attr(win, MPI_WIN_SIZE, &one), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Win_delete_attr(win, MPI_WIN_BASE), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
    /* A callback that refuses in one member keeps all of them from freeing the window. */
    refuse = rank == size - 1;
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_OTHER);
    refuse = 0;
    if (rank != size - 1) {
        CHECK_OK(MPI_Win_set_attr(win, first, &one));
        CHECK_OK(MPI_Win_set_attr(win, second, &two));
    }
    deletions = 0;
    CHECK_OK(MPI_Win_free(&win));
    CHECK(deletions == 2 && deleted[0] == 2 && deleted[1] == 1); /* the newest first */
    CHECK_OK(MPI_Win_free_keyval(&first));
    CHECK_OK(MPI_Win_free_keyval(&second));
    CHECK_EQUAL(first, MPI_KEYVAL_INVALID);
}

/* An epoch of one member keeps all of them from freeing the window, and none has lost its attributes. */
static void test_open_epoch(void) {
    static int one = 1;
    int keyval, flag = 0;
    int* value = NULL;
    MPI_Win win = make();
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, NULL));
    /* With attributes of all members, and of one. */
    for (int owners = size; owners > 0; owners -= size > 1 ? size - 1 : 1) {
        const int owner = rank >= size - owners;
        CHECK_OK(owner ? MPI_Win_set_attr(win, keyval, &one) : MPI_Win_delete_attr(win, keyval));
        deletions = 0;
        if (rank == 0) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        }
        CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
        CHECK(win != MPI_WIN_NULL);
        CHECK_OK(MPI_Win_get_attr(win, keyval, &value, &flag));
        CHECK_EQUAL(flag, owner);
        CHECK_EQUAL(deletions, 0);
        if (rank == 0) {
            CHECK_OK(MPI_Win_unlock(0, win));
        }
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK_EQUAL(deletions, rank == size - 1);
    CHECK_OK(MPI_Win_free_keyval(&keyval));
}

static void test_errhandlers(void) {
    MPI_Win win = make();
    MPI_Errhandler handler, found, of_comm;
    CHECK_OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Win_create_errhandler(on_error, &handler));
    CHECK_OK(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function*)on_error, &of_comm));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    calls = 0;
    CHECK_CLASS(MPI_Win_set_errhandler(win, of_comm), MPI_ERR_ERRHANDLER);
    CHECK(calls == 1 && seen_win == win && class_of(seen_code) == MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK(calls == 2 && seen_win == win && class_of(seen_code) == MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE));
    CHECK(calls == 3 && class_of(seen_code) == MPI_ERR_RMA_RANGE);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&of_comm);
    CHECK_OK(MPI_Win_free(&win));
}

static void test_integers(void) {
    MPI_Win win = make();
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK_OK(MPI_Win_free(&win));
}

/* MPI_Finalize destroys what is left, and runs the deletion callbacks. */
static void leave_some(void) {
    void* base = NULL;
    MPI_Win win = make();
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_attach(win, memory, sizeof memory));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_attributes();
    test_open_epoch();
    test_errhandlers();
    test_integers();
    leave_some();
    return finish();
}
