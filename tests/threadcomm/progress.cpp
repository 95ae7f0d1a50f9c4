// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits on a thread communicator of one process goes on with what the process has with others: a long
// send of a process ends while its threads wait for each other, and in no call on a communicator of processes. A job of
// one process spawns the other one: its job is as small.
#include "tests/threadcomm/region.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace {

constexpr int bytes = 8 << 20;

// What the receiver tells the sender outside of MPI: by a file.
bool await_file(const std::string& path) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (access(path.c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return access(path.c_str(), F_OK) == 0;
}

void send(const std::string& path, MPI_Comm pair) {
    std::vector<char> data(bytes, 5);
    MPI_Comm comm;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, 2, &comm));
    run_threads(comm, 2, [&](const Here& here) {
        int word = 0;
        if (here.thread == 0) {
            MPI_Request request;
            CHECK_OK(MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 0, pair, &request));
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1 - here.rank, 1, here.comm));
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 1 - here.rank, 0, here.comm, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 1 - here.rank, 1, here.comm, MPI_STATUS_IGNORE));
            CHECK(await_file(path));
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1 - here.rank, 0, here.comm));
        }
    });
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

void receive(const std::string& path, MPI_Comm pair) {
    std::vector<char> data(bytes);
    CHECK_OK(MPI_Recv(data.data(), bytes, MPI_CHAR, 0, 0, pair, MPI_STATUS_IGNORE));
    CHECK_EQUAL(data[bytes - 1], 5);
    close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
}

// Of the two processes, whichever job they belong to.
MPI_Comm pair_of(char** argv) {
    int size = 0;
    MPI_Comm pair, other;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&other);
    const bool is_child = other != MPI_COMM_NULL;
    if (size > 1) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &pair));
        return pair;
    }
    if (!is_child) {
        CHECK_OK(
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE));
    }
    CHECK_OK(MPI_Intercomm_merge(other, is_child, &pair));
    CHECK_OK(MPI_Comm_free(&other));
    return pair;
}

} // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm pair = pair_of(argv);
    MPI_Comm_rank(pair, &rank);
    const char* folder = std::getenv("TEST_TMPDIR");
    char name[512];
    std::snprintf(name, sizeof name, "%s/received.%d", folder != nullptr ? folder : ".", int(getpid()));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, pair);
    if (rank == 0) {
        send(name, pair);
        unlink(name);
    } else {
        receive(name, pair);
    }
    MPI_Barrier(pair);
    MPI_Comm_free(&pair);
    return finish();
}
