// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: several starts with new data, many requests that are started in another order by each
// process, objects that are freed before the first start, and requests that are freed.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace {

int rank;
int size;
std::atomic<long> allocations;

} // namespace

// The library uses these, too. Inline, g++ 12 takes the memory for that of another operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

// A start allocates nothing. The pools of the pml may grow once more when messages arrive in another order than before.
[[maybe_unused]] void test_allocations() {
    constexpr int count = 200;
    int send[count] = {};
    int recv[count] = {};
    MPI_Request request;
    CHECK_OK(MPI_Allreduce_init(send, recv, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    const auto starts = [&](int number) {
        for (int i = 0; i < number; ++i) {
            CHECK_OK(MPI_Start(&request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    };
    starts(20);
    const long before = allocations;
    CHECK(before > 0);
    constexpr int number = 1000;
    starts(number);
    CHECK(allocations - before < number / 20);
    CHECK_OK(MPI_Request_free(&request));
}

// Several starts of each request. The buffers have other contents each time.
void test_starts() {
    constexpr int count = 3000;
    std::vector<int> send(count);
    std::vector<int> sum(count);
    std::vector<int> shared(count);
    std::vector<int> all(std::size_t(count) * std::size_t(size));
    std::vector<int> at_root(count);
    enum { reduce_all, bcast, gather, barrier, reduce, number };
    MPI_Request requests[number];
    CHECK_OK(MPI_Allreduce_init(
        send.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[reduce_all]));
    CHECK_OK(MPI_Bcast_init(shared.data(), count, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[bcast]));
    CHECK_OK(MPI_Allgather_init(
        send.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[gather]));
    CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[barrier]));
    CHECK_OK(MPI_Reduce_init(
        send.data(), at_root.data(), count, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[reduce]));
    for (int turn = 0; turn < 5; ++turn) {
        for (int i = 0; i < count; ++i) {
            send[std::size_t(i)] = (rank + 1) * (turn + 1) + i;
            shared[std::size_t(i)] = rank == size - 1 ? turn + i : -1;
        }
        std::fill(sum.begin(), sum.end(), -1);
        if (turn % 2 == 0) {
            CHECK_OK(MPI_Startall(number, requests));
        } else {
            for (MPI_Request& request : requests) {
                CHECK_OK(MPI_Start(&request));
            }
        }
        if (turn % 3 == 0) {
            for (int i = number - 1; i >= 0; --i) {
                CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            }
        } else {
            CHECK_OK(MPI_Waitall(number, requests, MPI_STATUSES_IGNORE));
        }
        for (int i = 0; i < count; ++i) {
            CHECK_EQUAL(sum[std::size_t(i)], size * (size + 1) / 2 * (turn + 1) + size * i);
            CHECK_EQUAL(shared[std::size_t(i)], turn + i);
            CHECK(rank != 0 || at_root[std::size_t(i)] == size * (turn + 1) + i);
        }
        for (int i = 0; i < count * size; ++i) {
            CHECK_EQUAL(all[std::size_t(i)], (i / count + 1) * (turn + 1) + i % count);
        }
    }
    for (MPI_Request& request : requests) {
        CHECK(request != MPI_REQUEST_NULL);
        int flag = 0;
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)); // inactive
        CHECK(flag);
        CHECK_OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
    }
}

// MPI-5.0, 6.13: the starts may be in another order in each process.
void test_order_of_starts() {
    constexpr int number = 40;
    constexpr int count = 300;
    std::vector<std::vector<int>> send(number, std::vector<int>(count));
    std::vector<std::vector<int>> sum(number, std::vector<int>(count));
    std::vector<MPI_Request> requests(number);
    for (std::size_t k = 0; k < number; ++k) {
        CHECK_OK(MPI_Allreduce_init(
            send[k].data(), sum[k].data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]));
    }
    std::mt19937 random{unsigned(rank)};
    for (int turn = 0; turn < 10; ++turn) {
        std::vector<std::size_t> order(number);
        for (std::size_t k = 0; k < number; ++k) {
            order[k] = k;
            std::fill(send[k].begin(), send[k].end(), int(k) * 100 + rank + turn);
        }
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t k : order) {
            CHECK_OK(MPI_Start(&requests[k]));
        }
        int one = 1;
        int ones = 0;
        CHECK_OK(MPI_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQUAL(ones, size);
        CHECK_OK(MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE));
        for (std::size_t k = 0; k < number; ++k) {
            CHECK(sum[k] == std::vector<int>(count, size * (int(k) * 100 + turn) + size * (size - 1) / 2));
        }
    }
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
}

void multiply(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(inout)[2 * i] *= static_cast<int*>(in)[2 * i];
    }
}

// The request keeps the communicator, the datatype and the op.
void test_freed_objects() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Datatype spaced;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    MPI_Op op;
    MPI_Op_create(multiply, 1, &op);
    int values[4] = {0};
    MPI_Request request;
    CHECK_OK(MPI_Allreduce_init(MPI_IN_PLACE, values, 2, spaced, op, comm, MPI_INFO_NULL, &request));
    MPI_Comm_free(&comm);
    MPI_Type_free(&spaced);
    MPI_Op_free(&op);
    for (int turn = 0; turn < 3; ++turn) {
        values[0] = rank == 0 ? 3 : 1;
        values[1] = -5;
        values[2] = 2;
        values[3] = -6;
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(values[0], 3);
        CHECK_EQUAL(values[1], -5);
        CHECK_EQUAL(values[2], 1 << size);
        CHECK_EQUAL(values[3], -6);
    }
    // An active one goes on.
    values[0] = 1;
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Request_free(&request));
    for (int rounds = 0; rounds < 10; ++rounds) { // more than it has
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

void test_errors() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); // the errors below are reported to no other communicator
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Barrier_init(comm, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Bcast_init(nullptr, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request twice[2] = {request, request}; // the first start goes on
    CHECK_CLASS(MPI_Startall(2, twice), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    MPI_Comm_free(&comm);
}

// MPI_Comm_disconnect waits for what is active, and not for the other persistent requests, which may be freed later.
void test_disconnect() {
    constexpr int large = 300000; // the buffered send is not complete at once
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    std::vector<char> in(large);
    std::vector<char> out(large, 'x');
    std::vector<char> room(large + MPI_BSEND_OVERHEAD);
    CHECK_OK(MPI_Buffer_attach(room.data(), int(room.size())));
    enum { started_barrier, recv, buffered, small_recv, small_send, idle_barrier, idle_recv, idle_send, late, number };
    std::vector<MPI_Request> requests(number);
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[started_barrier]));
    CHECK_OK(MPI_Recv_init(in.data(), large, MPI_CHAR, previous, 0, comm, &requests[recv]));
    CHECK_OK(MPI_Bsend_init(out.data(), large, MPI_CHAR, next, 0, comm, &requests[buffered]));
    char small[2] = {'y', 0};
    CHECK_OK(MPI_Recv_init(&small[1], 1, MPI_CHAR, previous, 1, comm, &requests[small_recv]));
    CHECK_OK(MPI_Send_init(&small[0], 1, MPI_CHAR, next, 1, comm, &requests[small_send]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[idle_barrier]));
    CHECK_OK(MPI_Recv_init(in.data(), 1, MPI_CHAR, previous, 2, comm, &requests[idle_recv]));
    CHECK_OK(MPI_Send_init(out.data(), 1, MPI_CHAR, next, 2, comm, &requests[idle_send]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[late]));
    CHECK_OK(MPI_Startall(small_recv, requests.data()));
    CHECK_OK(MPI_Waitall(small_recv, requests.data(), MPI_STATUSES_IGNORE)); // inactive again
    CHECK(in == out);
    CHECK_OK(MPI_Startall(2, &requests[small_recv])); // complete, and not waited for
    CHECK_OK(MPI_Start(&requests[late]));
    CHECK_OK(MPI_Request_free(&requests[idle_send]));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_EQUAL(small[1], 'y');
    for (MPI_Request& request : requests) {
        if (request != MPI_REQUEST_NULL) {
            int flag = 0;
            CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(flag);
            CHECK_OK(MPI_Request_free(&request));
        }
    }
    void* address;
    int bytes = 0;
    CHECK_OK(MPI_Buffer_detach(&address, &bytes));
}

// An active request that is freed, and is complete when MPI_Finalize releases MPI_COMM_WORLD: in process 0 the last
// message of the barrier and that of MPI_Finalize's synchronization have arrived before the first poll.
void free_before_finalize() {
    MPI_Request request;
    CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    int token = 0;
    if (rank != 0) {
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Request_free(&request));
    if (rank == 0) {
        for (int other = 1; other < size; ++other) {
            CHECK_OK(MPI_Send(&token, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifndef PATCHBAY_TESTS_THREAD_RANKS_WORLD_H // there the library has operators of its own
    test_allocations();
#endif
    test_starts();
    test_order_of_starts();
    test_freed_objects();
    test_errors();
    test_disconnect();
    free_before_finalize();
    return finish();
}
