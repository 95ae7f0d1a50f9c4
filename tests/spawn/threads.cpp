// SPDX-License-Identifier: BSD-3-Clause
// Several threads of each process spawn at once, each on a communicator of its own; then they accept and connect.
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

// The first two processes, at a port that the first one has opened.
void meet_in(MPI_Comm comm) {
    int rank = 0;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm own = MPI_COMM_NULL; // no two threads may call a collective function on MPI_COMM_SELF at once
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(MPI_Comm_split(comm, rank, 0, &own));
    if (rank == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    }
    CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, comm));
    for (int round = 0; rank < 2 && round < rounds; ++round) {
        MPI_Comm inter = MPI_COMM_NULL;
        int sum = 0;
        const int mine = rank + 10;
        if (rank == 0) {
            CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &inter));
        } else {
            CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &inter));
        }
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
        CHECK_EQUAL(sum, 11 - rank);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    if (rank == 0) {
        CHECK_OK(MPI_Close_port(port));
    }
    MPI_Comm_free(&own);
}

void act_in(MPI_Comm comm, int token) {
    int size = 0;
    spawn_in(comm, token);
    MPI_Comm_size(comm, &size);
    if (size > 1) {
        meet_in(comm);
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
        running.emplace_back(act_in, comms[std::size_t(i)], 100 * (i + 1));
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
    return finish();
}
