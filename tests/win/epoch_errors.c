/* SPDX-License-Identifier: BSD-3-Clause */
/* Every broken rule of synchronization ends in an error with a text that says what was wrong, never in a hang, and the
 * window can be used afterwards. */
#include "tests/mpi_check/check.h"

#include <string.h>

static int rank, size, other;
static MPI_Win win;
static int memory[16];
static MPI_Group all, self;

static int text_has(int code, const char* part) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (strstr(text, part) == NULL) {
        fprintf(stderr, "the text is '%s', which does not contain '%s'\n", text, part);
        return 0;
    }
    return 1;
}

#define REFUSED(call, part)                                                                                            \
    do {                                                                                                               \
        const int code_ = (call);                                                                                      \
        CHECK_CLASS(code_, MPI_ERR_RMA_SYNC);                                                                          \
        CHECK_TEXT(text_has(code_, part), #call);                                                                      \
    } while (0)

static int put(void) {
    return MPI_Put(&memory[8], 1, MPI_INT, other, 0, 1, MPI_INT, win);
}

static void test_without_epoch(void) {
    int value = 0, result = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    REFUSED(put(), "no access epoch to rank");
    REFUSED(MPI_Get(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win), "no access epoch");
    REFUSED(MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win), "no access epoch");
    REFUSED(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win),
        "no access epoch");
    REFUSED(MPI_Fetch_and_op(&value, &result, MPI_INT, other, 0, MPI_SUM, win), "no access epoch");
    REFUSED(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, other, 0, win), "no access epoch");
    REFUSED(MPI_Rput(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request), "passive target");
    REFUSED(MPI_Win_complete(win), "MPI_Win_start has not been called");
    REFUSED(MPI_Win_wait(win), "MPI_Win_post has not been called");
    REFUSED(MPI_Win_test(win, &result), "MPI_Win_post has not been called");
    REFUSED(MPI_Win_unlock(other, win), "has not locked");
    REFUSED(MPI_Win_unlock_all(win), "MPI_Win_lock_all has not been called");
    REFUSED(MPI_Win_flush(other, win), "passive target");
    REFUSED(MPI_Win_flush_local(other, win), "passive target");
    REFUSED(MPI_Win_flush_all(win), "passive target");
    REFUSED(MPI_Win_flush_local_all(win), "passive target");
    CHECK_OK(MPI_Win_sync(win));
}

/* The forms with a request, which need a lock: in the epochs of fences and of MPI_Win_start they are refused. */
static void test_requests(void) {
    int value = 0, result = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    REFUSED(MPI_Rput(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request), "passive target");
    REFUSED(MPI_Rget(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request), "passive target");
    REFUSED(MPI_Raccumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win, &request), "passive target");
    REFUSED(MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win, &request),
        "passive target");
    CHECK(request == MPI_REQUEST_NULL);
    REFUSED(MPI_Win_flush(other, win), "passive target");
    REFUSED(MPI_Win_flush_local(other, win), "passive target");
    REFUSED(MPI_Win_flush_all(win), "passive target");
    REFUSED(MPI_Win_flush_local_all(win), "passive target");
    REFUSED(MPI_Win_unlock(other, win), "has not locked");
    REFUSED(MPI_Win_unlock_all(win), "MPI_Win_lock_all has not been called");
}

/* A fence opens an epoch only if an operation follows it. */
static void test_fence(void) {
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    REFUSED(MPI_Win_fence(0, win), "a lock is held");
    CHECK_OK(MPI_Win_unlock(other, win));
    REFUSED(put(), "no access epoch");
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(put());
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), "MPI_Win_fence");
    REFUSED(MPI_Win_lock_all(0, win), "MPI_Win_fence");
    REFUSED(MPI_Win_start(all, 0, win), "MPI_Win_fence");
    REFUSED(MPI_Win_post(all, 0, win), "MPI_Win_fence");
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
    test_requests();
    REFUSED(MPI_Win_complete(win), "MPI_Win_start has not been called");
    REFUSED(MPI_Win_wait(win), "MPI_Win_post has not been called");
    REFUSED(MPI_Win_flush(other, win), "passive target");
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    REFUSED(put(), "no access epoch");
}

static void test_locks(void) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), "already");
    REFUSED(MPI_Win_lock_all(0, win), "has locked a member");
    REFUSED(MPI_Win_start(all, 0, win), "a lock is held");
    REFUSED(MPI_Win_unlock_all(win), "MPI_Win_lock_all has not been called");
    if (size > 1) {
        const int third = (other + 1) % size;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, third, 0, win)); /* of another member */
        CHECK_OK(MPI_Win_unlock(third, win));
        REFUSED(MPI_Put(&memory[8], 1, MPI_INT, third, 0, 1, MPI_INT, win), "no access epoch");
    }
    CHECK_OK(put());
    CHECK_OK(MPI_Win_flush(other, win));
    CHECK_OK(MPI_Win_flush_all(win));
    CHECK_OK(MPI_Win_unlock(other, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    REFUSED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win), "MPI_Win_lock_all");
    REFUSED(MPI_Win_lock_all(0, win), "MPI_Win_lock_all");
    REFUSED(MPI_Win_unlock(other, win), "MPI_Win_unlock_all");
    REFUSED(MPI_Win_post(all, 0, win), "locked its own memory");
    REFUSED(MPI_Win_fence(0, win), "a lock is held");
    CHECK_OK(put());
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_post_and_start(void) {
    CHECK_OK(MPI_Win_post(all, 0, win));
    REFUSED(MPI_Win_post(all, 0, win), "MPI_Win_wait");
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), "exposed");
    REFUSED(MPI_Win_lock_all(0, win), "exposed");
    REFUSED(MPI_Win_fence(0, win), "MPI_Win_post");
    CHECK_OK(MPI_Win_start(all, 0, win));
    REFUSED(MPI_Win_start(all, 0, win), "MPI_Win_complete");
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), "MPI_Win_complete");
    REFUSED(MPI_Win_fence(0, win), "MPI_Win_start");
    test_requests();
    CHECK_OK(put());
    CHECK_OK(MPI_Win_complete(win));
    REFUSED(MPI_Win_complete(win), "MPI_Win_start has not been called");
    REFUSED(put(), "no access epoch");
    CHECK_OK(MPI_Win_wait(win));
    /* An access epoch to this process alone. */
    CHECK_OK(MPI_Win_post(self, 0, win));
    CHECK_OK(MPI_Win_start(self, 0, win));
    if (size > 1) {
        REFUSED(put(), "no access epoch");
    }
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_arguments(void) {
    CHECK_CLASS(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_post(all, MPI_MODE_NOSUCCEED, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(all, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock_all(MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(0, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_flush(-5, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    if (size > 1) { /* a group with processes that the window does not have */
        MPI_Win alone;
        CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &alone));
        CHECK_OK(MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN));
        CHECK_CLASS(MPI_Win_post(all, 0, alone), MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Win_start(all, 0, alone), MPI_ERR_GROUP);
        REFUSED(MPI_Win_wait(alone), "MPI_Win_post has not been called");
        REFUSED(MPI_Win_complete(alone), "MPI_Win_start has not been called");
        CHECK_OK(MPI_Win_free(&alone));
    }
    /* MPI_PROC_NULL: nothing happens. */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, win));
}

static void expect_not_freed(const char* why) {
    REFUSED(MPI_Win_free(&win), rank == 0 ? why : "another member");
    CHECK(win != MPI_WIN_NULL);
}

/* The same with the other epochs. */
static void test_free_in_epochs(void) {
    if (rank == 0) {
        CHECK_OK(MPI_Win_lock_all(0, win));
    }
    expect_not_freed("MPI_Win_unlock_all");
    if (rank == 0) {
        CHECK_OK(MPI_Win_unlock_all(win));
        CHECK_OK(MPI_Win_post(self, 0, win));
    }
    expect_not_freed("MPI_Win_wait");
    if (rank == 0) {
        CHECK_OK(MPI_Win_start(self, 0, win));
    }
    expect_not_freed("MPI_Win_complete");
    if (rank == 0) {
        CHECK_OK(MPI_Win_complete(win));
        CHECK_OK(MPI_Win_wait(win));
    }
    CHECK_OK(MPI_Win_fence(0, win));
    if (rank == 0) {
        CHECK_OK(put());
    }
    expect_not_freed("since the last MPI_Win_fence");
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* An epoch that is open in one member keeps all members from freeing the window, and no process waits. */
static void test_free(void) {
    if (rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    }
    REFUSED(MPI_Win_free(&win), rank == 0 ? "is not unlocked" : "another member");
    CHECK(win != MPI_WIN_NULL);
    if (rank == 0) {
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    MPI_Win stale = win;
    CHECK_OK(MPI_Win_free(&win));
    CHECK_CLASS(MPI_Win_fence(0, stale), MPI_ERR_WIN);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = (rank + 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    test_without_epoch();
    test_fence();
    test_locks();
    test_post_and_start();
    test_arguments();
    test_free_in_epochs();
    test_free();
    MPI_Group_free(&all);
    MPI_Group_free(&self);
    return finish();
}
