// SPDX-License-Identifier: BSD-3-Clause
// A wrong program: the root of MPI_Bcast calls MPI_Barrier. The others get an error, and their buffers stay as they
// are.
#include "tests/threadcomm/region.h"

#include <algorithm>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    in_region(3, true, [](const Here& here) {
        const int root = here.size - 1;
        CHECK_OK(MPI_Comm_set_errhandler(here.comm, MPI_ERRORS_RETURN));
        CHECK_OK(MPI_Barrier(here.comm));
        std::vector<unsigned char> buffer(400, 0);
        if (here.rank == root) {
            MPI_Barrier(here.comm);
        } else {
            CHECK_EQUAL(
                class_of(MPI_Bcast(buffer.data(), int(buffer.size()), MPI_BYTE, root, here.comm)), MPI_ERR_OTHER);
            CHECK(std::all_of(buffer.begin(), buffer.end(), [](unsigned char byte) { return byte == 0; }));
        }
    });
    return finish();
}
