// SPDX-License-Identifier: BSD-3-Clause
// More operations on one communicator than there are tags for them: nonblocking ones that are all outstanding, and
// persistent ones that are freed at different times in the members, while some stay.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

constexpr int tags = 1 << 14;

int rank;
int size;

void test_nonblocking() {
    constexpr int number = tags + 3000;
    std::vector<int> values(number, -1);
    std::vector<MPI_Request> requests(number);
    if (size > 1 && rank == size - 1) { // the others have all of theirs outstanding before this one starts its first
        int last = 0;
        MPI_Recv(&last, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int k = 0; k < number; ++k) {
        const int root = k % 3 == 0 ? size - 1 : 0;
        if (rank == root) {
            values[std::size_t(k)] = k;
        }
        CHECK_OK(MPI_Ibcast(&values[std::size_t(k)], 1, MPI_INT, root, MPI_COMM_WORLD, &requests[std::size_t(k)]));
        if (k == number - 1 && rank == 0 && size > 1) {
            MPI_Send(&k, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
        }
    }
    if (rank % 2 == 1) {
        std::reverse(requests.begin(), requests.end());
    }
    CHECK_OK(MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE));
    for (int k = 0; k < number; ++k) {
        CHECK_EQUAL(values[std::size_t(k)], k);
    }
}

void test_persistent() {
    constexpr int number = tags + 2000;
    constexpr int kept_every = 1000;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<int> values(number, -1);
    std::vector<MPI_Request> kept;
    std::vector<int> kept_index;
    MPI_Request before = MPI_REQUEST_NULL; // some members free each request later than others
    for (int k = 0; k < number; ++k) {
        MPI_Request request;
        CHECK_OK(MPI_Bcast_init(&values[std::size_t(k)], 1, MPI_INT, k % size, comm, MPI_INFO_NULL, &request));
        if (k % kept_every == 0) {
            kept.push_back(request);
            kept_index.push_back(k);
            continue;
        }
        if (rank % 2 == 0) {
            CHECK_OK(MPI_Request_free(&request));
        } else {
            if (before != MPI_REQUEST_NULL) {
                CHECK_OK(MPI_Request_free(&before));
            }
            before = request;
        }
    }
    if (before != MPI_REQUEST_NULL) {
        CHECK_OK(MPI_Request_free(&before));
    }
    for (int turn = 0; turn < 2; ++turn) {
        for (const int k : kept_index) {
            values[std::size_t(k)] = rank == k % size ? k + turn : -1;
        }
        std::vector<MPI_Request> order = kept;
        std::rotate(order.begin(), order.begin() + rank % int(order.size()), order.end());
        CHECK_OK(MPI_Startall(int(order.size()), order.data()));
        CHECK_OK(MPI_Waitall(int(order.size()), order.data(), MPI_STATUSES_IGNORE));
        for (const int k : kept_index) {
            CHECK_EQUAL(values[std::size_t(k)], k + turn);
        }
    }
    for (MPI_Request& request : kept) {
        CHECK_OK(MPI_Request_free(&request));
    }
    MPI_Comm_free(&comm);
}

// The limit, and that the communicator can be used behind it.
void test_too_many() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    std::vector<MPI_Request> requests(tags);
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    }
    MPI_Request more = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Barrier_init(comm, MPI_INFO_NULL, &more), MPI_ERR_OTHER);
    CHECK_OK(MPI_Request_free(&requests[std::size_t(100)]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[100]));
    CHECK_OK(MPI_Start(&requests[100]));
    CHECK_OK(MPI_Wait(&requests[100], MPI_STATUS_IGNORE));
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
    MPI_Comm_free(&comm);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_nonblocking();
    test_persistent();
    test_too_many();
    return finish();
}
