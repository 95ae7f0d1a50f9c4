/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter btl has a wrong value. The program goes on without the session, and its end is no failure. */
#include "tests/mpi_check/check.h"

int main(void) {
    MPI_Session session = MPI_SESSION_NULL;
    for (int i = 0; i < 2; ++i) {
        CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_ERR_OTHER);
        CHECK(session == MPI_SESSION_NULL);
    }
    return failures();
}
