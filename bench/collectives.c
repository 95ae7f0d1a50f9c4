/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean time of MPI_Barrier and of an 8-byte MPI_Allreduce over all ranks. */
#include "repeat.h"

static void barrier(void* unused) {
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void* unused) {
    double in = 1, out;
    (void)unused;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    const struct repeated all[] = {
        {"barrier", barrier, NULL, NULL, 20000}, {"allreduce_8B", allreduce, NULL, NULL, 20000}};
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        repeat(&all[i], MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
