/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers in strict C99: the test is that this compiles without a warning. */
#include <mpi.h>
#include <mpix.h>

#if MPI_VERSION != 5 || MPI_ABI_VERSION != 1
#error "the versions must be usable by the preprocessor"
#endif

/* What the C standard calls constants: array bounds, case labels, initialisers of static objects. */
static char name[MPI_MAX_OBJECT_NAME];
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Status status = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, {0}};

static int is_wildcard(int value) {
    switch (value) {
    case MPI_ANY_SOURCE:
    case MPI_ANY_TAG:
        return 1;
    default:
        return 0;
    }
}

int main(void) {
    return is_wildcard(status.MPI_SOURCE) && comm == MPI_COMM_NULL && name[0] == '\0' ? 0 : 1;
}
