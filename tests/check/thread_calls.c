/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by another thread than the one that opened the world model or a session: thread_calls CASE [checked]. With
 * "checked" a call that the thread level does not allow is an error; otherwise it works. thread_calls_test.py has the
 * texts. */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <pthread.h>
#include <string.h>

static int rank, size, checked;
static MPI_Comm halo; /* of the object of the call */
static int reports;

static void handler(MPI_Comm* comm, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(*code, text, &length);
    CHECK(*comm == halo && class_of(*code) == MPI_ERR_OTHER);
    CHECK_TEXT(strstr(text, "communicator halo") != NULL && strstr(text, "another thread") != NULL, text);
    ++reports;
}

static void expect(int code, int is_wrong) {
    CHECK_EQUAL(class_of(code), is_wrong && checked ? MPI_ERR_OTHER : MPI_SUCCESS);
}

static void name_and_watch(MPI_Comm comm) {
    MPI_Errhandler made;
    halo = comm;
    MPI_Comm_set_name(halo, "halo");
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(halo, made);
    MPI_Errhandler_free(&made);
}

static void init(int level) {
    int provided = -1;
    MPI_Comm comm;
    CHECK_OK(level < 0 ? MPI_Init(NULL, NULL) : MPI_Init_thread(NULL, NULL, level, &provided));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    name_and_watch(comm);
}

static void in_thread(void* (*body)(void*), void* argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* The thread that opened the world model goes on. */
static void end_world(int expected_reports) {
    int one = 1, sum = 0;
    CHECK_EQUAL(reports, checked ? expected_reports : 0);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, halo));
    CHECK_EQUAL(sum, size);
    CHECK_OK(MPI_Comm_free(&halo));
    CHECK_OK(MPI_Finalize());
}

static void* barrier(void* wrong) {
    expect(MPI_Barrier(halo), wrong != NULL); /* line: barrier */
    return NULL;
}

static void* message_to_self(void* wrong) {
    int sent = 5, received = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    expect(MPI_Irecv(&received, 1, MPI_INT, rank, 3, halo, &request), wrong != NULL); /* line: irecv */
    expect(MPI_Send(&sent, 1, MPI_INT, rank, 3, halo), wrong != NULL);                /* line: send */
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), wrong != NULL);                     /* line: wait */
    CHECK_EQUAL(received, wrong != NULL && checked ? 0 : 5);
    return NULL;
}

static void single(void) {
    init(-1);
    in_thread(barrier, &size);
    in_thread(barrier, &size); /* the same place is printed once */
    end_world(2);
}

static void funneled(void) {
    init(MPI_THREAD_FUNNELED);
    in_thread(message_to_self, &size);
    end_world(2);
}

/* A request of the thread that may use it. */
static void* test_request(void* request) {
    int flag = 0;
    expect(MPI_Test(request, &flag, MPI_STATUS_IGNORE), 1); /* line: test */
    CHECK(!flag);
    return NULL;
}

static void requests(void) {
    int received = 0, sent = 7;
    MPI_Request request;
    init(MPI_THREAD_FUNNELED);
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, rank, 1, halo, &request));
    in_thread(test_request, &request);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Send(&sent, 1, MPI_INT, rank, 1, halo));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(received, 7);
    end_world(0);
}

static void* fence(void* window) {
    expect(MPI_Win_fence(MPI_MODE_NOSUCCEED, *(MPI_Win*)window), 1); /* line: fence */
    return NULL;
}

static void windows(void) {
    MPI_Win window;
    int* memory = NULL;
    init(MPI_THREAD_SINGLE);
    CHECK_OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_set_name(window, "grid");
    in_thread(fence, &window);
    CHECK_OK(MPI_Win_free(&window));
    end_world(0);
}

static void serialized(void) {
    init(MPI_THREAD_SERIALIZED);
    in_thread(barrier, NULL);
    in_thread(message_to_self, NULL);
    end_world(0);
}

static void multiple(void) {
    init(MPI_THREAD_MULTIPLE);
    in_thread(message_to_self, NULL);
    end_world(0);
}

/* Each thread is a rank. */
static void* thread_rank(void* comm) {
    MPI_Comm threads = *(MPI_Comm*)comm;
    int one = 1, sum = 0;
    CHECK_OK(MPIX_Threadcomm_start(threads));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, threads));
    CHECK_EQUAL(sum, 2 * size);
    CHECK_OK(MPIX_Threadcomm_finish(threads));
    return NULL;
}

static void threadcomm(void) {
    MPI_Comm threads;
    pthread_t thread;
    init(MPI_THREAD_SINGLE);
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &threads));
    CHECK(pthread_create(&thread, NULL, thread_rank, &threads) == 0);
    thread_rank(&threads);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_OK(MPIX_Threadcomm_free(&threads));
    end_world(0);
}

static MPI_Session session_with(const char* level) {
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", level);
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    MPI_Info_free(&info);
    return session;
}

static MPI_Comm comm_of(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "tests://thread/calls", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    return comm;
}

static void* world_barrier(void* unused) {
    (void)unused;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return NULL;
}

/* The level of the session counts, not that of the world model. */
static void session_below_world(void) {
    init(MPI_THREAD_MULTIPLE);
    const MPI_Comm of_world = halo;
    MPI_Session session = session_with("MPI_THREAD_FUNNELED");
    name_and_watch(comm_of(session));
    in_thread(world_barrier, NULL);
    in_thread(barrier, &size);
    CHECK_OK(MPI_Barrier(halo));
    CHECK_OK(MPI_Comm_free(&halo));
    CHECK_OK(MPI_Session_finalize(&session));
    halo = of_world;
    end_world(1);
}

static void session_above_world(void) {
    init(MPI_THREAD_SINGLE);
    const MPI_Comm of_world = halo;
    MPI_Session session = session_with("MPI_THREAD_MULTIPLE");
    halo = comm_of(session);
    in_thread(barrier, NULL);
    in_thread(message_to_self, NULL);
    CHECK_OK(MPI_Comm_free(&halo));
    CHECK_OK(MPI_Session_finalize(&session));
    halo = of_world;
    end_world(0);
}

static void* own_session(void* unused) {
    (void)unused;
    MPI_Session session = session_with("MPI_THREAD_FUNNELED");
    halo = comm_of(session);
    barrier(NULL);
    message_to_self(NULL);
    CHECK_OK(MPI_Comm_free(&halo));
    CHECK_OK(MPI_Session_finalize(&session));
    return NULL;
}

/* Each of two threads has a user of the library. */
static void session_of_thread(void) {
    init(MPI_THREAD_FUNNELED);
    const MPI_Comm of_world = halo;
    in_thread(own_session, NULL);
    halo = of_world;
    end_world(0);
}

static void fatal(void) {
    init(MPI_THREAD_SINGLE);
    MPI_Comm_set_errhandler(halo, MPI_ERRORS_ARE_FATAL);
    in_thread(barrier, &size);
    end_world(0);
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {{"single", single}, {"funneled", funneled}, {"requests", requests}, {"windows", windows},
        {"serialized", serialized}, {"multiple", multiple}, {"threadcomm", threadcomm},
        {"session_below_world", session_below_world}, {"session_above_world", session_above_world},
        {"session_of_thread", session_of_thread}, {"fatal", fatal}};
    checked = argc > 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return failures();
        }
    }
    return 2;
}
