// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication between ranks that are threads: each rank with the next one, other partitions on both
// sides.
#include "tests/threadcomm/region.h"

#include <numeric>

namespace {

constexpr int elements = 4'800;

void ring(const Here& here, int send_partitions, int recv_partitions) {
    const int right = (here.rank + 1) % here.size, left = (here.rank + here.size - 1) % here.size;
    std::vector<int> out(elements), in(elements, -1);
    MPI_Request requests[2];
    CHECK_OK(MPI_Precv_init(in.data(), recv_partitions, elements / recv_partitions, MPI_INT, left, 3, here.comm,
        MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Psend_init(out.data(), send_partitions, elements / send_partitions, MPI_INT, right, 3, here.comm,
        MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 5; ++round) {
        std::iota(out.begin(), out.end(), here.rank * 100'000 + round);
        CHECK_OK(MPI_Startall(2, requests));
        for (int i = send_partitions - 1; i >= 0; --i) {
            CHECK_OK(MPI_Pready(i, requests[1]));
        }
        int arrived = 0;
        while (!arrived) {
            CHECK_OK(MPI_Parrived(requests[0], recv_partitions - 1, &arrived));
        }
        CHECK(in.back() == left * 100'000 + round + elements - 1);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < elements; ++i) {
            CHECK(in[std::size_t(i)] == left * 100'000 + round + i);
        }
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

// Requests that are freed before a start, also of a communicator that is freed: the setup message of the neighbour may
// not have arrived when this thread finishes, and MPIX_Threadcomm_finish succeeds.
void freed_before_start(const Here& here) {
    const int right = (here.rank + 1) % here.size, left = (here.rank + here.size - 1) % here.size;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(here.comm, &comm));
    int out = here.rank, in = -1;
    for (const MPI_Comm on : {here.comm, comm}) {
        MPI_Request send = MPI_REQUEST_NULL, recv = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, left, 4, on, MPI_INFO_NULL, &recv));
        CHECK_OK(MPI_Request_free(&recv));
        CHECK_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, right, 4, on, MPI_INFO_NULL, &send));
        CHECK_OK(MPI_Request_free(&send));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const int threads : {1, 2, 4}) {
        in_region(threads, threads != 4, [](const Here& here) {
            ring(here, 1, 1);
            ring(here, 16, 16);
            ring(here, 6, 16);
            ring(here, 100, 3);
        });
        for (int i = 0; i < 20; ++i) {
            in_region(threads, threads != 4, freed_before_start);
        }
    }
    return finish();
}
