// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication between ranks that are threads: every flavor of window, every kind of epoch, every operation.
#include "tests/threadcomm/region.h"

#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

namespace {

constexpr int rounds = 20;

int right_of(const Here& here) {
    return (here.rank + 1) % here.size;
}
int left_of(const Here& here) {
    return (here.rank + here.size - 1) % here.size;
}

void fence(const Here& here) {
    std::vector<int> memory(std::size_t(here.size) + 1, -1);
    MPI_Win window;
    CHECK_OK(MPI_Win_create(
        memory.data(), MPI_Aint(memory.size() * sizeof(int)), sizeof(int), MPI_INFO_NULL, here.comm, &window));
    memory.back() = 0;
    for (int round = 0; round < rounds; ++round) {
        const int mine = here.rank + 100 * round;
        int of_left = -1;
        CHECK_OK(MPI_Win_fence(0, window));
        for (int rank = 0; rank < here.size; ++rank) {
            CHECK_OK(MPI_Put(&mine, 1, MPI_INT, rank, here.rank, 1, MPI_INT, window));
        }
        CHECK_OK(MPI_Accumulate(&mine, 1, MPI_INT, right_of(here), here.size, 1, MPI_INT, MPI_SUM, window));
        CHECK_OK(MPI_Win_fence(0, window));
        for (int rank = 0; rank < here.size; ++rank) {
            CHECK(memory[std::size_t(rank)] == rank + 100 * round);
        }
        CHECK_OK(MPI_Get(&of_left, 1, MPI_INT, left_of(here), here.rank, 1, MPI_INT, window));
        CHECK_OK(MPI_Win_fence(0, window));
        CHECK(of_left == mine);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    CHECK(memory.back() == rounds * left_of(here) + 100 * rounds * (rounds - 1) / 2);
    CHECK_OK(MPI_Win_free(&window));
    CHECK(window == MPI_WIN_NULL);
}

// Post, start, complete and wait with the neighbours; more data than a control message holds, in a vector at the
// target.
void neighbours(const Here& here) {
    constexpr int count = 20'000;
    std::vector<double> mine(count);
    double* memory = nullptr;
    MPI_Win window;
    CHECK_OK(MPI_Win_allocate(
        2 * count * sizeof(double), sizeof(double), MPI_INFO_NULL, here.comm, static_cast<void*>(&memory), &window));
    std::fill(memory, memory + 2 * count, -1.0);
    MPI_Datatype every_other;
    CHECK_OK(MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &every_other));
    CHECK_OK(MPI_Type_commit(&every_other));
    MPI_Group all, left, right;
    CHECK_OK(MPI_Win_get_group(window, &all));
    const int right_rank = right_of(here), left_rank = left_of(here);
    CHECK_OK(MPI_Group_incl(all, 1, &right_rank, &right));
    CHECK_OK(MPI_Group_incl(all, 1, &left_rank, &left));
    for (int round = 0; round < 4; ++round) {
        std::iota(mine.begin(), mine.end(), here.rank * 1'000'000 + round);
        CHECK_OK(MPI_Win_post(left, 0, window));
        CHECK_OK(MPI_Win_start(right, 0, window));
        CHECK_OK(MPI_Put(mine.data(), count, MPI_DOUBLE, right_rank, 0, 1, every_other, window));
        CHECK_OK(MPI_Win_complete(window));
        CHECK_OK(MPI_Win_wait(window));
        for (int i = 0; i < count; ++i) {
            CHECK(memory[2 * i] == left_rank * 1'000'000 + round + i);
        }
        CHECK(memory[1] == -1.0);
    }
    for (MPI_Group* group : {&all, &left, &right}) {
        CHECK_OK(MPI_Group_free(group));
    }
    CHECK_OK(MPI_Type_free(&every_other));
    CHECK_OK(MPI_Win_free(&window));
}

// Rank 0 has counters that all increment, each in another way.
void counters(const Here& here) {
    long* memory = nullptr;
    MPI_Win window;
    CHECK_OK(MPI_Win_allocate(here.rank == 0 ? 4 * sizeof(long) : 0, sizeof(long), MPI_INFO_NULL, here.comm,
        static_cast<void*>(&memory), &window));
    if (here.rank == 0) {
        std::fill(memory, memory + 4, 0L);
    }
    CHECK_OK(MPI_Barrier(here.comm));
    const long one = 1;
    long sum = 0;
    for (int round = 0; round < rounds; ++round) {
        long value = -1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window));
        CHECK_OK(MPI_Win_flush(0, window));
        ++value;
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window));
        CHECK_OK(MPI_Win_unlock(0, window));

        long before = -1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 1, MPI_SUM, window));
        CHECK_OK(MPI_Win_unlock(0, window));
        sum += before;

        CHECK_OK(MPI_Win_lock_all(0, window));
        long expected = 0, found = -1;
        do {
            expected = found < 0 ? expected : found;
            const long next = expected + 1;
            CHECK_OK(MPI_Compare_and_swap(&next, &expected, &found, MPI_LONG, 0, 2, window));
            CHECK_OK(MPI_Win_flush(0, window));
        } while (found != expected);
        CHECK_OK(MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_SUM, window));
        CHECK_OK(MPI_Win_unlock_all(window));
    }
    CHECK_OK(MPI_Barrier(here.comm));
    const long all = long(rounds) * here.size;
    if (here.rank == 0) {
        for (int i = 0; i < 4; ++i) {
            CHECK(memory[i] == all);
        }
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, here.comm));
    CHECK(sum == all * (all - 1) / 2); // each value was returned once
    CHECK_OK(MPI_Win_free(&window));
}

void requests(const Here& here) {
    constexpr int count = 3'000;
    std::vector<int> memory(count, here.rank), mine(count, here.rank + 7), theirs(count, -1), sums(count, 1);
    MPI_Win window;
    CHECK_OK(MPI_Win_create(memory.data(), count * sizeof(int), sizeof(int), MPI_INFO_NULL, here.comm, &window));
    const int to = right_of(here);
    CHECK_OK(MPI_Win_lock_all(0, window));
    MPI_Request request;
    CHECK_OK(MPI_Rget(theirs.data(), count, MPI_INT, to, 0, count, MPI_INT, window, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(theirs.front() == to && theirs.back() == to);
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Rput(mine.data(), count, MPI_INT, to, 0, count, MPI_INT, window, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush(to, window));
    CHECK_OK(MPI_Raccumulate(sums.data(), count, MPI_INT, to, 0, count, MPI_INT, MPI_SUM, window, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Rput(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, window, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(window));
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK(memory.front() == left_of(here) + 8 && memory.back() == left_of(here) + 8);

    MPI_Request persistent;
    CHECK_OK(MPIX_Put_init(mine.data(), count, MPI_INT, to, 0, count, MPI_INT, window, MPI_INFO_NULL, &persistent));
    for (int round = 0; round < 3; ++round) {
        std::fill(mine.begin(), mine.end(), here.rank + round);
        CHECK_OK(MPI_Win_fence(0, window));
        CHECK_OK(MPI_Start(&persistent));
        CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_fence(0, window));
        CHECK(memory.front() == left_of(here) + round && memory.back() == left_of(here) + round);
    }
    CHECK_OK(MPI_Request_free(&persistent));
    CHECK_OK(MPI_Win_free(&window));
}

// Each rank reads the memory of all others with loads.
void shared(const Here& here) {
    int* mine = nullptr;
    MPI_Win window;
    CHECK_OK(MPI_Win_allocate_shared(
        sizeof(int), sizeof(int), MPI_INFO_NULL, here.comm, static_cast<void*>(&mine), &window));
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
    *mine = here.rank + 5;
    CHECK_OK(MPI_Win_sync(window));
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Win_sync(window));
    for (int rank = 0; rank < here.size; ++rank) {
        MPI_Aint bytes = 0;
        int unit = 0;
        int* theirs = nullptr;
        CHECK_OK(MPI_Win_shared_query(window, rank, &bytes, &unit, static_cast<void*>(&theirs)));
        CHECK(bytes == sizeof(int) && unit == sizeof(int) && theirs != nullptr && *theirs == rank + 5);
        CHECK(theirs == mine + (rank - here.rank)); // contiguous
    }
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Win_unlock_all(window));
    CHECK_OK(MPI_Win_free(&window));
}

void dynamic(const Here& here) {
    std::array<int, 4> memory{here.rank, 0, 0, 0};
    MPI_Win window;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, here.comm, &window));
    CHECK_OK(MPI_Win_attach(window, memory.data(), sizeof memory));
    MPI_Aint address = 0;
    CHECK_OK(MPI_Get_address(memory.data(), &address));
    std::vector<MPI_Aint> all(std::size_t(here.size));
    CHECK_OK(MPI_Allgather(&address, 1, MPI_AINT, all.data(), 1, MPI_AINT, here.comm));
    const int to = right_of(here), value = here.rank + 50;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, to, MPI_Aint_add(all[std::size_t(to)], 4), 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(to, window));
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK(memory[1] == left_of(here) + 50 && memory[0] == here.rank);
    CHECK_OK(MPI_Win_detach(window, memory.data()));
    CHECK_OK(MPI_Win_free(&window));
}

thread_local int last_window_error = MPI_SUCCESS;

void note_window_error(MPI_Win*, int* code, ...) {
    last_window_error = *code;
}

// An error of a request is the window's: the communicator's error handler would end the job.
void error_of_request(const Here& here) {
    MPI_Win window;
    MPI_Errhandler handler;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, here.comm, &window));
    CHECK_OK(MPI_Win_create_errhandler(note_window_error, &handler));
    CHECK_OK(MPI_Win_set_errhandler(window, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Win_lock_all(0, window));
    int result = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    last_window_error = MPI_SUCCESS;
    int code = MPI_Rget(&result, 1, MPI_INT, right_of(here), 4096, 1, MPI_INT, window, &request);
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(last_window_error, code);
    CHECK_OK(MPI_Win_unlock_all(window));
    CHECK_OK(MPI_Win_free(&window));
}

// Of a derived communicator; two windows at once; what belongs to each thread.
void properties(const Here& here) {
    MPI_Comm half;
    CHECK_OK(MPI_Comm_split(here.comm, here.rank % 2, -here.rank, &half));
    int rank = -1, size = 0;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    int of_all = -1, of_half = -1;
    MPI_Win all, some;
    CHECK_OK(MPI_Win_create(&of_all, sizeof of_all, 1, MPI_INFO_NULL, here.comm, &all));
    CHECK_OK(MPI_Win_create(&of_half, sizeof of_half, 1, MPI_INFO_NULL, half, &some));
    CHECK_OK(MPI_Win_set_errhandler(all, MPI_ERRORS_RETURN));
    const std::string name = "window of " + std::to_string(here.rank);
    CHECK_OK(MPI_Win_set_name(all, name.c_str()));
    CHECK_CLASS(MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, all), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(0, all));
    CHECK_OK(MPI_Win_fence(0, some));
    CHECK_CLASS(MPI_Put(&rank, 1, MPI_INT, right_of(here), 1, 1, MPI_INT, all), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(&here.rank, 1, MPI_INT, right_of(here), 0, 1, MPI_INT, all));
    CHECK_OK(MPI_Put(&here.rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, some));
    CHECK_OK(MPI_Win_fence(0, some));
    CHECK_OK(MPI_Win_fence(0, all));
    CHECK(of_all == left_of(here));
    CHECK(of_half % 2 == here.rank % 2);
    void* base = nullptr;
    int flag = 0, length = 0;
    char text[MPI_MAX_OBJECT_NAME];
    CHECK_OK(MPI_Win_get_attr(all, MPI_WIN_BASE, static_cast<void*>(&base), &flag));
    CHECK(flag && base == &of_all);
    CHECK_OK(MPI_Win_get_name(all, text, &length));
    CHECK(name == text);
    CHECK_OK(MPI_Win_free(&some));
    CHECK_OK(MPI_Win_free(&all));
    CHECK_OK(MPI_Comm_free(&half));
}

int process_count() {
    int count = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

// Targets that call nothing of the library: the threads of one process reach their memory by loads and stores.
void silent_target(const Here& here) {
    static std::atomic<int> done{0};
    constexpr int count = 1'000;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "patchbay_osc", "sm"));
    std::vector<long> memory(count + 2, 0);
    MPI_Win window;
    CHECK_OK(
        MPI_Win_create(memory.data(), MPI_Aint(memory.size() * sizeof(long)), sizeof(long), info, here.comm, &window));
    CHECK_OK(MPI_Info_free(&info));
    if (here.rank == 0) {
        done = 0;
    }
    CHECK_OK(MPI_Barrier(here.comm));
    if (here.rank != 0) {
        const std::vector<long> mine(count, here.rank);
        std::vector<long> read(count, -1);
        const long one = 1;
        long before = -1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
        CHECK_OK(MPI_Put(mine.data(), count, MPI_LONG, 0, 2, count, MPI_LONG, window));
        CHECK_OK(MPI_Win_flush(0, window));
        CHECK_OK(MPI_Get(read.data(), count, MPI_LONG, 0, 2, count, MPI_LONG, window));
        CHECK_OK(MPI_Win_unlock(0, window));
        CHECK(read == mine);
        CHECK_OK(MPI_Win_lock_all(0, window));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window));
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 1, MPI_SUM, window));
        CHECK_OK(MPI_Win_unlock_all(window));
        CHECK(before >= 0 && before < here.size - 1);
        ++done;
    }
    while (here.rank == 0 && done < here.size - 1) {
        std::this_thread::yield();
    }
    CHECK(here.rank != 0 || (memory[0] == here.size - 1 && memory[1] == here.size - 1));
    CHECK(here.rank != 0 || here.size == 1 || (memory[2] > 0 && memory[2] == memory[count + 1]));
    CHECK_OK(MPI_Win_free(&window));
}

// What is not attached, or not any more, cannot be reached; regions that touch are one.
void attached(const Here& here) {
    std::array<int, 8> memory{};
    MPI_Win window;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, here.comm, &window));
    CHECK_OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_attach(window, memory.data(), 2 * sizeof(int)));
    CHECK_OK(MPI_Win_attach(window, memory.data() + 2, 2 * sizeof(int)));
    CHECK_CLASS(MPI_Win_attach(window, memory.data() + 3, 2 * sizeof(int)), MPI_ERR_RMA_ATTACH);
    MPI_Aint address = 0;
    CHECK_OK(MPI_Get_address(memory.data(), &address));
    std::vector<MPI_Aint> all(std::size_t(here.size));
    CHECK_OK(MPI_Allgather(&address, 1, MPI_AINT, all.data(), 1, MPI_AINT, here.comm));
    const int to = right_of(here);
    const auto at = [&](int index) { return MPI_Aint_add(all[std::size_t(to)], index * MPI_Aint(sizeof(int))); };
    const std::array<int, 3> values{here.rank, here.rank + 1, here.rank + 2};
    int one = 1, result = -1;
    const auto refused = [&](const auto& call) { // at once, or when it is complete
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window));
        const int first = call(), second = MPI_Win_unlock(to, window);
        const int code = first != MPI_SUCCESS ? first : second;
        CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
    };
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window));
    CHECK_OK(MPI_Put(values.data(), 3, MPI_INT, to, at(1), 3, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(to, window));
    refused([&] { return MPI_Put(values.data(), 3, MPI_INT, to, at(2), 3, MPI_INT, window); });
    refused([&] { return MPI_Get(&result, 1, MPI_INT, to, at(4), 1, MPI_INT, window); });
    refused([&] { return MPI_Accumulate(&one, 1, MPI_INT, to, at(-1), 1, MPI_INT, MPI_SUM, window); });
    refused([&] { return MPI_Fetch_and_op(&one, &result, MPI_INT, to, at(5), MPI_SUM, window); });
    refused([&] { return MPI_Compare_and_swap(&one, &one, &result, MPI_INT, to, at(4), window); });
    CHECK_OK(MPI_Barrier(here.comm));
    const int left = left_of(here);
    CHECK((memory == std::array<int, 8>{0, left, left + 1, left + 2, 0, 0, 0, 0}));
    CHECK_OK(MPI_Win_detach(window, memory.data()));
    CHECK_OK(MPI_Barrier(here.comm));
    refused([&] { return MPI_Get(&result, 1, MPI_INT, to, at(0), 1, MPI_INT, window); });
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Win_detach(window, memory.data() + 2));
    CHECK_OK(MPI_Win_free(&window));
}

// Only components that say so serve threads, and osc/sm those of one process only.
void refused(const Here& here) {
    for (const auto& [component, cause] : {std::pair("rdma", "threads"), std::pair("sm", "several processes")}) {
        if (component == std::string("sm") && process_count() == 1) {
            continue;
        }
        MPI_Info info;
        MPI_Win window = MPI_WIN_NULL;
        int word = 0;
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "patchbay_osc", component));
        const int code = MPI_Win_create(&word, sizeof word, 1, info, here.comm, &window);
        CHECK_CLASS(code, MPI_ERR_OTHER);
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(code, text, &length);
        CHECK(std::strstr(text, cause) != nullptr);
        CHECK_OK(MPI_Info_free(&info));
    }
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const int threads : {1, 2, 4}) {
        in_region(threads, threads != 4, [](const Here& here) {
            fence(here);
            neighbours(here);
            counters(here);
            requests(here);
            shared(here);
            dynamic(here);
            attached(here);
            error_of_request(here);
            properties(here);
            refused(here);
            if (process_count() == 1) {
                silent_target(here);
            }
        });
    }
    return finish();
}
