/* SPDX-License-Identifier: BSD-3-Clause */
/* A root that runs ahead in a loop of nonblocking broadcasts: what the other member has not asked for yet stays where
 * it was sent. The start of a collective does not poll, which would store some more messages each time. */
#include "tests/mpi_check/check.h"
#include "tests/mpi_t/mpi_t.h"

enum { bytes = 8192, broadcasts = 1000 };

static char data[bytes];

/* The root has time to send more. */
static void wait_outside(double seconds) {
    for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;) {
    }
}

int main(int argc, char** argv) {
    int provided, rank;
    MPI_T_pvar_session session;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    MPI_T_pvar_handle highest =
        pvar_handle(session, "pml_ob1_unexpected_bytes_highest", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    for (int i = 0; i < broadcasts; ++i) {
        MPI_Request request;
        data[i % bytes] = (char)(rank == 0 ? i : -i);
        if (rank != 0) {
            wait_outside(50e-6);
        }
        CHECK_OK(MPI_Ibcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(data[i % bytes], (char)i);
    }
    /* One poll takes at most 32 packets of a sender. */
    const unsigned long long most = read_pvar(session, highest);
    if (most > 100 * bytes) {
        printf("rank %d: unexpected messages took %llu bytes\n", rank, most);
    }
    CHECK(most <= 100 * bytes);
    CHECK(MPI_T_pvar_handle_free(session, &highest) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    MPI_T_finalize();
    return finish();
}
