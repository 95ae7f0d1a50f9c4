// SPDX-License-Identifier: BSD-3-Clause
// Several users (sessions, the world model) in one thread need no locks; the library locks before a second thread
// communicates.
#include "tests/sessions/session_check.h"

#include "core/progress/progress.h"
#include "mpi/library/library.h"

#include <thread>

namespace {

// Where the kernel refuses membarrier(2), which a thread-level upgrade needs, the library locks from the start.
void expect_locks(bool expected, int line) {
    patchbay::Progress& progress = patchbay::library().instance()->progress();
    if (progress.threaded() != (expected || !progress.sleeps_are_fenced())) {
        check_failed(__FILE__, line, expected ? "no locks" : "locks");
    }
}

MPI_Comm communicate(MPI_Session session) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int one = 1, size = 0, sum = 0;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "tests://one/thread", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_SUCCESS);
    MPI_Group_free(&group);
    MPI_Comm_size(comm, &size);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size);
    return comm;
}

void open_and_communicate(const char* level) {
    MPI_Session session = open_session(level);
    MPI_Comm comm = communicate(session);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

template <typename Action>
void in_another_thread(Action action) {
    std::thread(action).join();
}

void users_of_one_thread() {
    MPI_Session session = open_session("MPI_THREAD_SINGLE");
    MPI_Comm comm = communicate(session);
    open_and_communicate("MPI_THREAD_SINGLE");
    open_and_communicate("MPI_THREAD_FUNNELED");
    open_and_communicate(nullptr);
    expect_locks(false, __LINE__);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

void a_user_of_another_thread() {
    MPI_Session session = open_session("MPI_THREAD_FUNNELED");
    MPI_Comm comm = communicate(session), again;
    in_another_thread([] {
        MPI_Session idle = open_session("MPI_THREAD_FUNNELED");
        expect_locks(false, __LINE__);
        MPI_Session_finalize(&idle);
    });
    again = communicate(session); // that thread has ended
    expect_locks(false, __LINE__);
    in_another_thread([] {
        open_and_communicate("MPI_THREAD_FUNNELED");
        expect_locks(true, __LINE__);
    });
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

// MPI_THREAD_SERIALIZED of one session states nothing about calls on other sessions.
void one_thread_after_the_other() {
    MPI_Session session = open_session("MPI_THREAD_SERIALIZED");
    MPI_Comm comm = MPI_COMM_NULL;
    in_another_thread([&] { comm = communicate(session); });
    expect_locks(false, __LINE__);
    MPI_Session other = open_session("MPI_THREAD_FUNNELED");
    expect_locks(false, __LINE__);
    MPI_Comm of_other = communicate(other);
    expect_locks(true, __LINE__);
    MPI_Comm_free(&of_other);
    MPI_Session_finalize(&other);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

void opened_here_used_in_another_thread() {
    MPI_Session one = open_session("MPI_THREAD_FUNNELED"), other = open_session("MPI_THREAD_FUNNELED");
    MPI_Comm comm = communicate(one), of_other = MPI_COMM_NULL;
    expect_locks(false, __LINE__);
    in_another_thread([&] { of_other = communicate(other); });
    expect_locks(true, __LINE__);
    MPI_Comm_free(&of_other);
    MPI_Session_finalize(&other);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&one);
}

// Two threads at once, each with a session that this thread has opened at the default thread level.
void handed_to_two_threads() {
    MPI_Session sessions[2] = {open_session(nullptr), open_session(nullptr)};
    MPI_Comm comms[2] = {communicate(sessions[0]), communicate(sessions[1])};
    expect_locks(false, __LINE__);
    const auto work = [](MPI_Comm comm, int base) {
        int rank = 0, size = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int i = base; i < base + 20000; ++i) {
            int got = -1;
            MPI_Request request;
            MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, i % 100, comm, &request);
            MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, i % 100, comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got == i);
        }
    };
    std::thread other(work, comms[1], 100000);
    work(comms[0], 0);
    other.join();
    expect_locks(true, __LINE__);
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_free(&comms[i]);
        MPI_Session_finalize(&sessions[i]);
    }
}

void closed_in_another_thread() {
    MPI_Session one = open_session("MPI_THREAD_FUNNELED"), other = open_session("MPI_THREAD_FUNNELED"),
                idle = open_session("MPI_THREAD_FUNNELED");
    MPI_Comm comm = communicate(one);
    communicate(other);
    in_another_thread([&] { MPI_Session_finalize(&idle); });
    expect_locks(false, __LINE__);
    in_another_thread([&] { MPI_Session_finalize(&other); });
    expect_locks(true, __LINE__);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&one);
}

void beside_the_world() {
    MPI_Session before = open_session(nullptr);
    MPI_Init(nullptr, nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    open_and_communicate(nullptr);
    expect_locks(false, __LINE__);
    in_another_thread([] { MPI_Barrier(MPI_COMM_WORLD); });
    expect_locks(true, __LINE__);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Session_finalize(&before);
}

} // namespace

int main() {
    users_of_one_thread();
    a_user_of_another_thread();
    one_thread_after_the_other();
    opened_here_used_in_another_thread();
    handed_to_two_threads();
    closed_in_another_thread();
    beside_the_world();
    return failures();
}
