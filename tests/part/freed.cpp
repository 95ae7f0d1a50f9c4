// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests that are freed while they are active, as the last thing before MPI_Session_finalize and before
// MPI_Finalize: each process does its part first, because the other one waits for it. Freed requests that nothing
// matches keep nothing from ending.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <thread>
#include <vector>

namespace {

constexpr int partitions = 16, count = 4096;

int rank, size;

// Rank 0 sends to each other rank, which begin when rank 0 has long been waiting for them.
void start_and_free(MPI_Comm comm, std::vector<int>& data) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    data.assign(partitions * count, rank == 0 ? 17 : 0);
    MPI_Request request, unmatched;
    if (rank == 0) {
        for (int peer = 1; peer < size; ++peer) {
            CHECK_OK(MPI_Psend_init(data.data(), partitions, count, MPI_INT, peer, 1, comm, MPI_INFO_NULL, &request));
            CHECK_OK(MPI_Start(&request));
            CHECK_OK(MPI_Pready_range(0, partitions - 1, request));
            CHECK_OK(MPI_Request_free(&request));
            CHECK_EQUAL(request == MPI_REQUEST_NULL, 1);
        }
        CHECK_OK(MPI_Precv_init(data.data(), 1, 1, MPI_INT, size - 1, 2, comm, MPI_INFO_NULL, &unmatched));
    } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        CHECK_OK(MPI_Precv_init(data.data(), 1, partitions * count, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&request));
        CHECK(data == std::vector<int>(data.size(), 17));
        CHECK_OK(MPI_Psend_init(data.data(), 1, 1, MPI_INT, 0, 3, comm, MPI_INFO_NULL, &unmatched));
    }
    CHECK_OK(MPI_Request_free(&unmatched));
}

void test_session() {
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI_Group group;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(group, "freed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    std::vector<int> data;
    start_and_free(comm, data);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

} // namespace

int main() {
    test_session();
    CHECK_OK(MPI_Init(nullptr, nullptr));
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    std::vector<int> data;
    start_and_free(comm, data);
    CHECK_OK(MPI_Comm_disconnect(&comm));
    start_and_free(MPI_COMM_WORLD, data);
    return finish();
}
