// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives whose requests are freed while they are active, as the last thing before MPI_Session_finalize
// and before MPI_Finalize: each process does its part first, because others wait for it.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

constexpr int count = 1 << 18;

int rank;
int size;

// Starts a broadcast to `data` and a barrier, and frees both requests. The root begins when all others have long been
// waiting for it.
void start_and_free(MPI_Comm comm, std::vector<int>& data) {
    data.assign(count, rank == 0 ? 17 : 0);
    MPI_Request requests[3];
    CHECK_OK(MPI_Bcast_init(data.data(), count, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Bcast_init(data.data() + count / 2, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1])); // not started
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[2]));
    if (rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_OK(MPI_Start(&requests[2]));
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
}

bool has_arrived(const std::vector<int>& data) {
    return data == std::vector<int>(count, 17);
}

void test_session() {
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI_Group group;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(group, "freed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::vector<int> data;
    start_and_free(comm, data);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(has_arrived(data));
}

void test_world() {
    CHECK_OK(MPI_Init(nullptr, nullptr));
    std::vector<int> data;
    start_and_free(MPI_COMM_WORLD, data);
    CHECK_OK(MPI_Finalize());
    CHECK(has_arrived(data));
}

} // namespace

int main() {
    test_session();
    test_world();
    return failures();
}
