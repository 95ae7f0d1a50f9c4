// SPDX-License-Identifier: BSD-3-Clause
// Several threads of each process spawn at once, each on a communicator of its own.
#include "tests/spawn/family.h"

#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 3;
constexpr int rounds = 2;

int child() {
    MPI_Comm parent = MPI_COMM_NULL;
    int token = 0;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK_OK(MPI_Bcast(&token, 1, MPI_INT, 0, parent));
    ++token;
    CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 1, parent));
    CHECK_OK(MPI_Comm_disconnect(&parent));
    return finish();
}

void spawn_in(MPI_Comm comm, int token) {
    char word[] = "child";
    char* argv[] = {word, nullptr};
    int rank = 0;
    int answer = 0;
    MPI_Comm_rank(comm, &rank);
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm inter = MPI_COMM_NULL;
        CHECK_OK(MPI_Comm_spawn(self_path(), argv, 1, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE));
        CHECK_OK(MPI_Bcast(&token, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
        if (rank == 0) {
            CHECK_OK(MPI_Recv(&answer, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
            CHECK_EQUAL(answer, token + 1);
        }
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    if (argc > 1) {
        return child();
    }
    (void)self_path(); // before there are threads
    std::vector<MPI_Comm> comms(threads);
    for (MPI_Comm& comm : comms) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    }
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
        running.emplace_back(spawn_in, comms[std::size_t(i)], 100 * (i + 1));
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
    return finish();
}
