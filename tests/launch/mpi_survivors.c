/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program whose last rank fails while others wait for it; mpi_survivors_test.py runs it under mpirun
 * --disable-auto-cleanup. What needs the failed rank returns MPI_ERR_PROC_ABORTED, and nothing else is disturbed.
 * mpi_survivors operations|exit|silent|silent-late|collectives|stream|fetch|threads|jobs|spawn */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { large = 1 << 20, huge = 64 << 20, tag_before = 5, tag_never = 9, tag_ring = 11 };

static int rank, size, victim, failures;

static void check(int condition, const char* what) {
    if (!condition) {
        printf("rank %d: %s\n", rank, what);
        ++failures;
    }
}

static int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

static void check_aborted(int code, const char* what) {
    check(class_of(code) == MPI_ERR_PROC_ABORTED, what);
}

static void fail(void) {
    raise(SIGKILL);
}

/* Others wait for a rank that has not finalized MPI, also if its exit status is 0. */
static void leave(void) {
    _exit(0);
}

/* The ranks but the last one. */
static MPI_Comm survivors(void) {
    MPI_Group all, left;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &victim, &left);
    check(MPI_Comm_create_group(MPI_COMM_WORLD, left, 1, &comm) == MPI_SUCCESS, "a communicator of the survivors");
    MPI_Group_free(&all);
    MPI_Group_free(&left);
    return comm;
}

static void check_that_survivors_communicate(void) {
    MPI_Comm comm = survivors();
    int sum = 0;
    check(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "allreduce of the survivors");
    check(sum == victim * (victim - 1) / 2, "its result");
    MPI_Comm_free(&comm);
}

static void check_operations(void (*end)(void)) {
    static char buffer[large], other[large];
    MPI_Request waiting[5];
    MPI_Status status;
    int value = -1, from_any = -1, flag;
    if (rank == victim) {
        for (int to = 0; to < victim; ++to) {
            MPI_Send(&to, 1, MPI_INT, to, tag_before, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        end();
    }
    MPI_Irecv(&value, 1, MPI_INT, victim, tag_never, MPI_COMM_WORLD, &waiting[0]);
    MPI_Isend(buffer, large, MPI_BYTE, victim, tag_never, MPI_COMM_WORLD, &waiting[1]);
    MPI_Issend(&rank, 1, MPI_INT, victim, tag_never, MPI_COMM_WORLD, &waiting[2]);
    MPI_Recv_init(other, large, MPI_BYTE, victim, tag_never, MPI_COMM_WORLD, &waiting[3]);
    MPI_Start(&waiting[3]);
    MPI_Irecv(&from_any, 1, MPI_INT, MPI_ANY_SOURCE, tag_ring, MPI_COMM_WORLD, &waiting[4]);
    MPI_Barrier(MPI_COMM_WORLD);
    check_aborted(MPI_Wait(&waiting[0], &status), "MPI_Irecv");
    check_aborted(MPI_Wait(&waiting[1], &status), "MPI_Isend of a large message");
    check_aborted(MPI_Wait(&waiting[2], &status), "MPI_Issend");
    check_aborted(MPI_Wait(&waiting[3], &status), "a persistent receive");
    /* What is started when the failure is known. */
    check_aborted(MPI_Recv(&value, 1, MPI_INT, victim, tag_never, MPI_COMM_WORLD, &status), "MPI_Recv");
    check_aborted(MPI_Send(&value, 1, MPI_INT, victim, tag_never, MPI_COMM_WORLD), "MPI_Send");
    check_aborted(MPI_Send(buffer, large, MPI_BYTE, victim, tag_never, MPI_COMM_WORLD), "MPI_Send of a large message");
    check_aborted(MPI_Probe(victim, tag_never, MPI_COMM_WORLD, &status), "MPI_Probe");
    check_aborted(MPI_Iprobe(victim, tag_never, MPI_COMM_WORLD, &flag, &status), "MPI_Iprobe");
    MPI_Start(&waiting[3]);
    check_aborted(MPI_Wait(&waiting[3], &status), "a persistent receive, started again");
    MPI_Request_free(&waiting[3]);
    /* What it sent before it failed is here. */
    check(MPI_Recv(&value, 1, MPI_INT, victim, tag_before, MPI_COMM_WORLD, &status) == MPI_SUCCESS && value == rank,
        "the message that was sent before");
    /* A receive from any source waits for the others, none of which has sent yet. */
    MPI_Test(&waiting[4], &flag, &status);
    check(!flag, "a receive from any source goes on");
    MPI_Comm comm = survivors();
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % victim, tag_ring, MPI_COMM_WORLD);
    check(MPI_Wait(&waiting[4], &status) == MPI_SUCCESS && from_any == (rank + victim - 1) % victim, "the ring");
    check_that_survivors_communicate();
}

static void run_collectives(MPI_Comm comm, int members) {
    for (int i = 0; i < 100; ++i) {
        int value = i, sum = 0;
        check(MPI_Bcast(&value, 1, MPI_INT, i % members, comm) == MPI_SUCCESS && value == i, "MPI_Bcast");
        check(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == i * members,
            "MPI_Allreduce");
        check(MPI_Barrier(comm) == MPI_SUCCESS, "MPI_Barrier");
    }
}

/* Collectives of coll/sm whose result depends on the victim, before and after its failure is known, and those of the
 * others. (A barrier by messages may succeed in members that none of the victim's messages would have reached.) */
static void check_collectives(void) {
    char pages[4096] = {0}, results[4096];
    int value = 0, sum;
    run_collectives(MPI_COMM_WORLD, size);
    if (rank == victim) {
        fail();
    }
    check_aborted(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    check_aborted(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
    check_aborted(MPI_Allreduce(pages, results, sizeof pages, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD), "a longer one");
    check_aborted(MPI_Bcast(&value, 1, MPI_INT, victim, MPI_COMM_WORLD), "MPI_Bcast by the rank that has failed");
    MPI_Comm comm = survivors();
    run_collectives(comm, victim);
    MPI_Comm_free(&comm);
}

/* The victim fails in the middle of a message, which the receiver gets in fragments. Where it fetches the message by
 * single copy, it may have it all. */
static void check_stream(int may_succeed) {
    char* buffer = calloc(huge, 1);
    MPI_Status status;
    MPI_Request request;
    int flag = 0;
    if (rank == victim) {
        MPI_Isend(buffer, huge, MPI_BYTE, 0, tag_never, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 20; ++i) {
            MPI_Test(&request, &flag, &status);
        }
        fail();
    } else if (rank == 0) {
        MPI_Irecv(buffer, huge, MPI_BYTE, victim, tag_never, MPI_COMM_WORLD, &request);
        const int code = class_of(MPI_Wait(&request, &status));
        check(
            code == MPI_ERR_PROC_ABORTED || (may_succeed && code == MPI_SUCCESS), "a message of which a part has come");
    }
    free(buffer);
    check_that_survivors_communicate();
}

static void* receive(void* from) {
    int value;
    MPI_Status status;
    check_aborted(
        MPI_Recv(&value, 1, MPI_INT, *(int*)from, tag_never, MPI_COMM_WORLD, &status), "MPI_Recv of a thread");
    return NULL;
}

static void check_threads(void) {
    pthread_t threads[2];
    if (rank == victim) {
        MPI_Barrier(MPI_COMM_WORLD);
        fail();
    }
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, receive, &victim);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    check_that_survivors_communicate();
}

/* The child of the next function. It ends in good order after the failure in the job of its parents. */
static int run_child(MPI_Comm parents) {
    int value;
    MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(parents, &size);
    check_aborted(
        MPI_Recv(&value, 1, MPI_INT, size - 1, tag_never, parents, MPI_STATUS_IGNORE), "MPI_Recv from a parent");
    check(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize of the child");
    return failures != 0;
}

static void check_jobs(char* program) {
    int value;
    MPI_Comm children;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN);
    if (rank == victim) {
        fail();
    }
    check_aborted(MPI_Recv(&value, 1, MPI_INT, 0, tag_never, children, MPI_STATUS_IGNORE),
        "MPI_Recv from a process of another job that has ended in good order");
}

/* The event of MPI_T that reports to a tool which process has failed. Another survivor that ends sooner than this one
   is reported, too, because nothing of it can be waited for any more; also one of another job. */
static int deaths, wrong_deaths;

static void on_death(
    MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
    int dead = -1, job = -1;
    (void)registration, (void)safety, (void)user_data;
    MPI_T_event_read(instance, 0, &dead);
    MPI_T_event_read(instance, 1, &job);
    deaths += dead == victim && job == 0;
    wrong_deaths += dead < 0 || job < 0 || (job == 0 && (dead >= size || dead == rank));
}

static void observe_deaths(void) {
    int provided, event = -1;
    MPI_T_event_registration registration;
    check(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "MPI_T_init_thread");
    check(MPI_T_event_get_index("mpi_peer_failed", &event) == MPI_SUCCESS, "the event mpi_peer_failed");
    check(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS, "a registration");
    check(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, on_death) ==
            MPI_SUCCESS,
        "a callback");
}

/* A spawn that fails is no failure of those that have called it: the end of a rank in good order is not reported. */
static int run_failed_spawn(void) {
    MPI_Session session;
    MPI_Group self;
    MPI_Comm comm, children;
    const struct timespec pause = {0, 10000000};
    int flag;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &self);
    MPI_Comm_create_from_group(self, "t", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    const int code = MPI_Comm_spawn(
        "/bin/false", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    check(class_of(code) == MPI_ERR_SPAWN, "MPI_Comm_spawn of a program that fails");
    MPI_Finalize();
    for (int i = 0; i < 50 && rank != victim; ++i) {
        nanosleep(&pause, NULL);
        MPI_Iprobe(0, 0, comm, &flag, MPI_STATUS_IGNORE);
    }
    check(deaths == 0, "an event of a rank that has ended in good order");
    MPI_T_finalize();
    MPI_Comm_free(&comm);
    MPI_Group_free(&self);
    MPI_Session_finalize(&session);
    return failures != 0;
}

/* Rank 2 of 3 ends with 0 and without MPI, before or after the others have called MPI_Init. */
static void be_silent(const char* what) {
    const char* own = getenv("PMIX_RANK");
    if (strncmp(what, "silent", 6) == 0 && own != NULL && strcmp(own, "2") == 0) {
        const struct timespec pause = {strcmp(what, "silent") == 0 ? 0 : 1, 0};
        nanosleep(&pause, NULL);
        _exit(0);
    }
    if (strcmp(what, "silent") == 0) {
        const struct timespec pause = {1, 0};
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char** argv) {
    int provided;
    const char* what = argc > 1 ? argv[1] : "";
    be_silent(what);
    MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        return run_child(parents);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = size - 1;
    observe_deaths();
    if (strcmp(what, "spawn") == 0) {
        return run_failed_spawn();
    }
    if (strcmp(what, "operations") == 0) {
        check_operations(fail);
    } else if (strcmp(what, "exit") == 0) {
        check_operations(leave);
    } else if (strncmp(what, "silent", 6) == 0) {
        int word;
        check_aborted(MPI_Recv(&word, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "receive");
    } else if (strcmp(what, "collectives") == 0) {
        check_collectives();
    } else if (strcmp(what, "stream") == 0 || strcmp(what, "fetch") == 0) {
        check_stream(strcmp(what, "fetch") == 0);
    } else if (strcmp(what, "jobs") == 0) {
        check_jobs(argv[0]);
    } else {
        check_threads();
    }
    check(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
    check(deaths > 0 && wrong_deaths == 0, "the event of the death");
    MPI_T_finalize();
    printf("rank %d survived%s\n", rank, failures == 0 ? "" : " with failures");
    return failures != 0;
}
