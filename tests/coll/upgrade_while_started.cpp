// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives that are started below several threads, and completed when a second thread has opened a
// session with MPI_THREAD_MULTIPLE: from then on another thread may be the one that polls.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <thread>

namespace {

int rank;
int size;

MPI_Session open_session() {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    return session;
}

struct Operations {
    explicit Operations(MPI_Comm comm) {
        CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]));
        CHECK_OK(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]));
        CHECK_OK(MPI_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[2]));
    }
    ~Operations() {
        for (MPI_Request& request : requests) {
            MPI_Request_free(&request);
        }
    }
    void start(int sent) {
        sum = -1;
        value = rank == 0 ? sent : -1;
        CHECK_OK(MPI_Startall(3, requests));
    }
    void complete(int sent) {
        CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(sum, size * (size - 1) / 2);
        CHECK_EQUAL(value, sent);
    }

    MPI_Request requests[3];
    int sum = 0;
    int value = 0;
};

// Rank 0 is late: the others cannot complete their starts before.
void start(Operations& operations, int sent) {
    if (rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    operations.start(sent);
}

void run(MPI_Comm comm, int round) {
    Operations operations(comm), more(comm);
    start(operations, round);
    start(more, round);
    MPI_Session session = MPI_SESSION_NULL;
    std::thread([&session] { session = open_session(); }).join();
    std::thread other([] { // polls beside this thread
        MPI_Comm self;
        for (int i = 0; i < 20 * size; ++i) {
            CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
            CHECK_OK(MPI_Comm_free(&self));
        }
    });
    operations.complete(round);
    more.complete(round);
    other.join();
    operations.start(round + 1); // with several threads from the beginning
    operations.complete(round + 1);
    CHECK_OK(MPI_Session_finalize(&session));
    operations.start(round + 2);
    operations.complete(round + 2);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int round = 0; round < 5; ++round) {
        run(comm, 10 * round);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failures();
}
