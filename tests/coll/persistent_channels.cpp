// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives whose messages are carried by channels: lengths at which a component of framework chan changes
// its way, beside other traffic, members that are some starts ahead of others, progress in other calls, requests that
// are freed while they are active, and members whose initialization is asked for less.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

int rank;
int size;

// The same in all members: the content of element i of what member `from` contributes to start `turn`.
long content(int from, int turn, long i) {
    return from * 1000003L + turn * 101L + i % 1009;
}

void fill(std::vector<long>& buffer, int from, int turn) {
    for (std::size_t i = 0; i < buffer.size(); ++i) {
        buffer[i] = content(from, turn, long(i));
    }
}

// Each member sends one message to the next one, which receives any.
void pass_token(MPI_Comm comm, int turn) {
    int out = turn * 100 + rank;
    int in = -1;
    MPI_Request send;
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, turn, comm, &send));
    MPI_Status status;
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
    CHECK_EQUAL(in, turn * 100 + (rank + size - 1) % size);
    CHECK_EQUAL(status.MPI_TAG, turn);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

// All functions at one length, started together.
class Operations {
public:
    Operations(MPI_Comm comm, int count, MPI_Info info)
        : _count(count),
          _shared(std::size_t(count)),
          _own(std::size_t(count)),
          _sum(std::size_t(count)),
          _at_root(std::size_t(count)),
          _out(std::size_t(count) * std::size_t(size)),
          _all(_out.size()),
          _in(_out.size()) {
        const int root = size - 1;
        CHECK_OK(MPI_Barrier_init(comm, info, add()));
        CHECK_OK(MPI_Bcast_init(_shared.data(), count, MPI_LONG, 0, comm, info, add()));
        CHECK_OK(MPI_Reduce_init(_own.data(), _at_root.data(), count, MPI_LONG, MPI_SUM, root, comm, info, add()));
        CHECK_OK(MPI_Allreduce_init(_own.data(), _sum.data(), count, MPI_LONG, MPI_SUM, comm, info, add()));
        CHECK_OK(MPI_Allgather_init(_own.data(), count, MPI_LONG, _all.data(), count, MPI_LONG, comm, info, add()));
        CHECK_OK(MPI_Alltoall_init(_out.data(), count, MPI_LONG, _in.data(), count, MPI_LONG, comm, info, add()));
    }

    void start(int turn) {
        fill(_shared, rank == 0 ? 77 : -1, turn);
        fill(_own, rank, turn);
        fill(_out, rank, turn);
        std::fill(_sum.begin(), _sum.end(), -1);
        std::fill(_all.begin(), _all.end(), -1);
        std::fill(_in.begin(), _in.end(), -1);
        CHECK_OK(MPI_Startall(int(_requests.size()), _requests.data()));
    }

    void check(int turn) {
        CHECK_OK(MPI_Waitall(int(_requests.size()), _requests.data(), MPI_STATUSES_IGNORE));
        bool right = true;
        for (long i = 0; i < _count; ++i) {
            long sum = 0;
            for (int from = 0; from < size; ++from) {
                sum += content(from, turn, i);
                const std::size_t at = std::size_t(from) * std::size_t(_count) + std::size_t(i);
                right = right && _all[at] == content(from, turn, i) &&
                    _in[at] == content(from, turn, long(rank) * _count + i);
            }
            right = right && _shared[std::size_t(i)] == content(77, turn, i) && _sum[std::size_t(i)] == sum &&
                (rank != size - 1 || _at_root[std::size_t(i)] == sum);
        }
        CHECK(right);
    }

    void free() {
        for (MPI_Request& request : _requests) {
            CHECK_OK(MPI_Request_free(&request));
        }
    }

private:
    MPI_Request* add() {
        _requests.push_back(MPI_REQUEST_NULL);
        return &_requests.back();
    }

    int _count;
    std::vector<long> _shared, _own, _sum, _at_root, _out, _all, _in;
    std::vector<MPI_Request> _requests;
};

void test_lengths() {
    for (const int count : {0, 1, 7, 8, 63, 64, 512, 1025, 8192, 131072}) {
        if (count > 10000 && size > 4) {
            continue; // more than it would tell
        }
        Operations operations(MPI_COMM_WORLD, count, MPI_INFO_NULL);
        for (int turn = 0; turn < (count > 1000 ? 3 : 70); ++turn) {
            operations.start(turn);
            if (turn % 3 == 1) {
                pass_token(MPI_COMM_WORLD, turn);
            }
            operations.check(turn);
            if (turn % 7 == 2) {
                CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            }
        }
        operations.free();
    }
}

// Elements with gaps on one side only.
void test_datatypes() {
    constexpr int count = 40;
    MPI_Datatype spaced;
    MPI_Type_vector(count, 1, 3, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    std::vector<int> data(3 * count);
    MPI_Request request;
    if (rank == 0) {
        CHECK_OK(MPI_Bcast_init(data.data(), 1, spaced, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    } else {
        CHECK_OK(MPI_Bcast_init(data.data(), count, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    }
    MPI_Type_free(&spaced);
    for (int turn = 0; turn < 10; ++turn) {
        for (std::size_t i = 0; i < data.size(); ++i) {
            data[i] = rank == 0 ? turn * 1000 + int(i) : -1;
        }
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; rank != 0 && i < count; ++i) {
            CHECK_EQUAL(data[std::size_t(i)], turn * 1000 + 3 * i);
        }
    }
    CHECK_OK(MPI_Request_free(&request));
}

// The root of a broadcast need not wait for the others: their receives may be started much later than its sends.
void test_ahead() {
    for (const int count : {1, 600}) {
        std::vector<long> data(static_cast<std::size_t>(count));
        MPI_Request request;
        CHECK_OK(MPI_Bcast_init(data.data(), count, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        for (int turn = 0; turn < 400; ++turn) {
            if (rank != 0 && turn % 150 == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(3));
            }
            if (rank == 0) {
                fill(data, 5, turn);
            }
            CHECK_OK(MPI_Start(&request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(data.back() == content(5, turn, count - 1) && data.front() == content(5, turn, 0));
        }
        CHECK_OK(MPI_Request_free(&request));
    }
}

// The members between the root and the leaves of a tree wait for another message, which the last member sends when its
// broadcast and its barrier are complete.
void test_progress() {
    long value = 0;
    MPI_Request requests[2];
    CHECK_OK(MPI_Bcast_init(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int turn = 0; turn < 20; ++turn) {
        value = rank == 0 ? turn : -1;
        CHECK_OK(MPI_Startall(2, requests));
        if (rank == size - 1) {
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            for (int to = 0; to < size - 1; ++to) {
                CHECK_OK(MPI_Send(&turn, 1, MPI_INT, to, 9, MPI_COMM_WORLD));
            }
        } else {
            int got = -1;
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQUAL(got, turn);
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        CHECK_EQUAL(value, turn);
    }
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
}

// Pages of shared memory that this process uses, in KiB.
long shared_memory() {
    std::FILE* const file = std::fopen("/proc/self/status", "r");
    long kilobytes = -1;
    char line[256];
    while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
        if (std::strncmp(line, "RssShmem:", 9) == 0) {
            std::sscanf(line + 9, "%ld", &kilobytes);
        }
    }
    if (file != nullptr) {
        std::fclose(file);
    }
    return kilobytes;
}

// Requests that are freed while they are active, or were never started, or were freed by others before: what they took
// is used again.
void test_freed() {
    constexpr int count = 512;
    std::vector<long> sum(count);
    std::vector<long> own(count, 1);
    std::vector<long> exchanged(static_cast<std::size_t>(size));
    long before = 0;
    for (int turn = 0; turn < 300; ++turn) {
        MPI_Request request;
        MPI_Request idle;
        CHECK_OK(MPI_Allreduce_init(
            own.data(), sum.data(), count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Alltoall_init(
            MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, exchanged.data(), 1, MPI_LONG, MPI_COMM_WORLD, MPI_INFO_NULL, &idle));
        std::fill(sum.begin(), sum.end(), 0);
        CHECK_OK(MPI_Start(&request));
        if (turn % 3 != 0) {
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(sum == std::vector<long>(count, size));
        }
        CHECK_OK(MPI_Request_free(&request));
        if (turn % 3 == 0) { // until all have done their part of it
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            while (sum.back() != size || sum.front() != size) {
                int flag;
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 33, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            }
        }
        CHECK_OK(MPI_Request_free(&idle));
        if (turn == 100) {
            before = shared_memory();
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(shared_memory() <= before + 4096);
}

// The info is a matter of each member. Every second one binds nothing.
void test_different_effort() {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "patchbay_effort", rank % 2 == 0 ? "2" : "0"));
    Operations operations(MPI_COMM_WORLD, 20, info);
    CHECK_OK(MPI_Info_free(&info));
    for (int turn = 0; turn < 20; ++turn) {
        operations.start(turn);
        operations.check(turn);
    }
    operations.free();
}

// Every member looks at its request by MPI_Test, and at several together.
void test_tests() {
    long sums[3] = {};
    const long one = 1;
    MPI_Request requests[3];
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(MPI_Allreduce_init(&one, &sums[i], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]));
    }
    for (int turn = 0; turn < 50; ++turn) {
        std::fill(sums, sums + 3, 0L);
        for (int i = 0; i < 3; ++i) {
            CHECK_OK(MPI_Start(&requests[(i + rank) % 3]));
        }
        int flag = 0;
        while (!flag) {
            CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
        }
        int index = MPI_UNDEFINED;
        CHECK_OK(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
        CHECK(index == 1 || index == 2);
        for (flag = 0; !flag;) {
            CHECK_OK(MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE));
        }
        CHECK(sums[0] == size && sums[1] == size && sums[2] == size);
    }
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_lengths();
    test_datatypes();
    test_ahead();
    test_progress();
    test_freed();
    test_different_effort();
    test_tests();
    return finish();
}
