// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: each thread binds channels, uses them and unbinds them, at the same time as the others; one more
// thread sends ordinary messages on the same communicator.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4, slots = 3;
int rank, size, next, previous;

// The thread with this number of each process has a ring of its own.
void use_channels(int thread, int rounds, int iterations) {
    int out[slots], in[slots];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "address_base_increment", "1");
    for (int round = 0; round < rounds; ++round) {
        MPI_Request ins[2], bound[2];
        MPI_Info infos[2] = {info, info};
        int slackness[2] = {slots, slots}, token = 0;
        MPI_Send_init(out, 1, MPI_INT, next, thread, MPI_COMM_WORLD, &ins[0]);
        MPI_Recv_init(in, 1, MPI_INT, previous, thread, MPI_COMM_WORLD, &ins[1]);
        CHECK_OK(MPIX_Bind_slack_channels(ins, bound, 2, slackness, infos));
        for (int i = 0; i < iterations; ++i) {
            for (int slot = 0; slot < slots; ++slot) {
                out[slot] = rank * 100000 + thread * 10000 + i * slots + slot;
                CHECK_OK(MPI_Start(&bound[1]));
            }
            // The receiver is ready.
            CHECK_OK(MPI_Sendrecv(&token, 1, MPI_INT, previous, threads + thread, &token, 1, MPI_INT, next,
                threads + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int slot = 0; slot < slots; ++slot) {
                CHECK_OK(MPI_Start(&bound[0]));
            }
            for (int slot = 0; slot < slots; ++slot) {
                CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
                CHECK_EQUAL(in[slot], previous * 100000 + thread * 10000 + i * slots + slot);
            }
        }
        CHECK_OK(MPIX_Unbind_channels(bound, 2));
        MPI_Request_free(&ins[0]);
        MPI_Request_free(&ins[1]);
    }
    MPI_Info_free(&info);
}

void exchange_messages(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        int out = rank + i, in = -1;
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, next, 3 * threads, &in, 1, MPI_INT, previous, 3 * threads,
            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in, previous + i);
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        std::printf("SKIPPED: threads: no MPI_THREAD_MULTIPLE\n");
        return finish();
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    const int iterations = argc > 1 ? std::atoi(argv[1]) : 30;
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back(use_channels, thread, 4, iterations);
    }
    running.emplace_back(exchange_messages, 10 * iterations);
    for (std::thread& one : running) {
        one.join();
    }
    return finish();
}
