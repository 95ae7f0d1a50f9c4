// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits on a thread communicator of one process goes on with what the process has with others: a long
// send of a process ends while its threads wait for each other, and in no call on a communicator of processes.
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

void send(const std::string& path) {
    std::vector<char> data(bytes, 5);
    MPI_Comm comm;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, 2, &comm));
    run_threads(comm, 2, [&](const Here& here) {
        int word = 0;
        if (here.thread == 0) {
            MPI_Request request;
            CHECK_OK(MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request));
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

void receive(const std::string& path) {
    std::vector<char> data(bytes);
    CHECK_OK(MPI_Recv(data.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQUAL(data[bytes - 1], 5);
    close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
}

} // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* folder = std::getenv("TEST_TMPDIR");
    char name[512];
    std::snprintf(name, sizeof name, "%s/received.%d", folder != nullptr ? folder : ".", int(getpid()));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        send(name);
        unlink(name);
    } else {
        receive(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
