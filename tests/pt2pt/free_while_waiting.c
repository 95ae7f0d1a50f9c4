/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread waits in a blocking call, and another one frees the communicator: the call completes normally. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <pthread.h>
#include <unistd.h>

enum { receive, match, synchronous_send, calls };
enum { most = 100000 };

static MPI_Comm comm;
static int what, count, rank;
static char data[most];

static void* wait_in_call(void* unused) {
    const MPI_Comm mine = comm;
    MPI_Message message;
    MPI_Status status;
    int got = -1;
    if (what == receive) {
        CHECK_OK(MPI_Recv(data, most, MPI_CHAR, 0, 1, mine, &status));
    } else if (what == match) {
        CHECK_OK(MPI_Mprobe(0, 1, mine, &message, &status));
        CHECK_OK(MPI_Mrecv(data, most, MPI_CHAR, &message, &status));
    } else {
        CHECK_OK(MPI_Ssend(data, count, MPI_CHAR, 0, 1, mine));
        return unused;
    }
    MPI_Get_count(&status, MPI_CHAR, &got);
    CHECK_EQUAL(got, count);
    return unused;
}

static void free_while_waiting(void) {
    pthread_t thread;
    MPI_Comm others[4];
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_in_call, NULL), 0);
    usleep(100000);
    MPI_Comm freed = comm;
    MPI_Comm_free(&freed);
    for (int i = 0; i < 4; ++i) { /* which may get its memory */
        MPI_Comm_dup(MPI_COMM_SELF, &others[i]);
    }
    MPI_Send(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    for (int i = 0; i < 4; ++i) {
        MPI_Comm_free(&others[i]);
    }
}

int main(int argc, char** argv) {
    static const int counts[] = {0, 10, most};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (what = 0; what < calls; ++what) {
        for (int i = 0; i < 3; ++i) {
            count = counts[i];
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            if (rank == 1) {
                free_while_waiting();
            } else {
                MPI_Recv(NULL, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (what == synchronous_send) {
                    CHECK_OK(MPI_Recv(data, most, MPI_CHAR, 1, 1, comm, MPI_STATUS_IGNORE));
                } else {
                    CHECK_OK(MPI_Send(data, count, MPI_CHAR, 1, 1, comm));
                }
                MPI_Comm_free(&comm);
            }
        }
    }
    return finish();
}
