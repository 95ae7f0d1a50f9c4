// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 makes communicators by many threads, and rank 1 the same ones by a single thread in another order: it comes to
// those of rank 0's last threads first, while all others already wait.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int first_threads = 100;
constexpr int last_threads = 50;

void create(MPI_Group group, const std::string& tag) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_create_from_group(group, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    int size = 0;
    CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 2);
    MPI_Comm_free(&comm);
}

std::string early(int i) {
    return "early " + std::to_string(i);
}
std::string late(int i) {
    return "late " + std::to_string(i);
}

void with_threads(MPI_Group group) {
    std::vector<std::thread> threads;
    for (int i = 0; i < first_threads; i++) {
        threads.emplace_back([group, i] { create(group, early(i)); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // most of them wait now
    for (int i = 0; i < last_threads; i++) {
        threads.emplace_back([group, i] { create(group, late(i)); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void alone(MPI_Group group) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    for (int i = 0; i < last_threads; i++) {
        create(group, late(i));
    }
    for (int i = 0; i < first_threads; i++) {
        create(group, early(i));
    }
}

} // namespace

int main() {
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    int rank = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    if (rank == 0) {
        with_threads(group);
    } else {
        alone(group);
    }
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return failures();
}
