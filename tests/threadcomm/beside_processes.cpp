// SPDX-License-Identifier: BSD-3-Clause
// Threads of a thread communicator of one process that also use a communicator of processes, without any thread level:
// messages of all of them at once, and bundles with requests of both communicators.
#include "tests/threadcomm/region.h"

#include <atomic>

namespace {

constexpr int threads = 4;

// Each thread exchanges messages with the next process under a tag of its own.
void exchange(const Here& here) {
    constexpr int count = 30;
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 2000; ++round) {
        int out[count];
        int in[count] = {};
        for (int i = 0; i < count; ++i) {
            out[i] = round * 7 + here.rank + i;
        }
        CHECK_OK(MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, here.rank, in, count, MPI_INT,
            (rank + size - 1) % size, here.rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in[count - 1], out[count - 1]);
    }
}

// A bundle of a receive from the next thread and one from the next process, in either order.
void bundle(const Here& here, bool process_first, int count) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from_thread = -1;
    std::vector<int> from_process(std::size_t(count), -1);
    MPI_Request members[2];
    MPI_Request all;
    CHECK_OK(MPI_Recv_init(
        &from_thread, 1, MPI_INT, (here.rank + 1) % here.size, 1, here.comm, &members[process_first ? 1 : 0]));
    CHECK_OK(MPI_Recv_init(from_process.data(), count, MPI_INT, (rank + 1) % size, 100 + here.rank, MPI_COMM_WORLD,
        &members[process_first ? 0 : 1]));
    CHECK_OK(MPIX_Bundle_init(2, members, MPI_INFO_NULL, &all));
    for (int round = 0; round < 20; ++round) {
        const std::vector<int> value(std::size_t(count), round);
        MPI_Request sends[2];
        CHECK_OK(MPI_Start(&all));
        CHECK_OK(MPI_Isend(
            value.data(), count, MPI_INT, (rank + size - 1) % size, 100 + here.rank, MPI_COMM_WORLD, &sends[0]));
        CHECK_OK(MPI_Isend(&round, 1, MPI_INT, (here.rank + here.size - 1) % here.size, 1, here.comm, &sends[1]));
        CHECK_OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(from_thread, round);
        CHECK_EQUAL(from_process.back(), round);
    }
    CHECK_OK(MPI_Request_free(&all));
    CHECK_OK(MPI_Request_free(&members[0]));
    CHECK_OK(MPI_Request_free(&members[1]));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, threads, &comm));
    for (int activation = 0; activation < 2; ++activation) {
        run_threads(comm, threads, [](const Here& here) {
            exchange(here);
            for (const bool process_first : {false, true}) {
                bundle(here, process_first, 1);
                bundle(here, process_first, 100000);
            }
        });
    }
    CHECK_OK(MPIX_Threadcomm_free(&comm));
    return finish();
}
