// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 makes communicators by many threads, and rank 1 the same ones by a single thread in another order: it comes to
// those of rank 0's last threads first, while all others already wait.
#include "tests/mpi_check/asleep.h"
#include "tests/mpi_check/check.h"
#include "tests/mpi_check/shared_ints.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

// Each message wakes all threads that wait, so that the time grows with the square of their number.
constexpr int first_threads = 60;
constexpr int last_threads = 30;

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

constexpr pid_t is_done = -1;

// Returns when each thread waits in its constructor or has returned from it. Where the processes share memory and
// PGCIDs need no agreement, as many constructors as the node store's high-water mark return before the other process
// calls them.
void wait_until_all_wait(std::span<const std::atomic<pid_t>> threads) {
    constexpr std::ptrdiff_t few = 5; // awake now and then: one looks for all
    const auto done = [](const std::atomic<pid_t>& thread) { return thread == is_done; };
    const auto sleeps = [](const std::atomic<pid_t>& thread) { return thread > 0 && is_asleep(thread); };
    const auto count = [&](auto what) { return std::count_if(threads.begin(), threads.end(), what); };
    while (count(sleeps) + count(done) < std::ptrdiff_t(threads.size()) - few) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    constexpr std::ptrdiff_t high_water_mark = 32;
    CHECK(count(sleeps) >= std::ptrdiff_t(threads.size()) - high_water_mark - 2 * few);
}

void with_threads(MPI_Group group, int* all_wait) {
    static std::array<std::atomic<pid_t>, first_threads + last_threads> waiting;
    std::vector<std::thread> threads;
    const auto start = [&](int number, std::string (*name)(int)) {
        for (int i = 0; i < number; i++) {
            threads.emplace_back([group, i, name, &id = waiting[threads.size()]] {
                id = own_thread_id();
                create(group, name(i));
                id = is_done;
            });
        }
        wait_until_all_wait(std::span(waiting).first(threads.size()));
    };
    start(first_threads, early);
    start(last_threads, late);
    shared_set(all_wait, 1);
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// Calls nothing of MPI before the other process's threads wait: it is slow.
void alone(MPI_Group group, const int* all_wait) {
    while (shared_get(all_wait) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
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
    MPI_Comm both;
    MPI_Comm_create_from_group(group, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &both);
    int* all_wait = shared_ints(both, 1);
    MPI_Comm_free(&both);
    if (rank == 0) {
        with_threads(group, all_wait);
    } else {
        alone(group, all_wait);
    }
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return failures();
}
