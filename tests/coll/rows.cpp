// SPDX-License-Identifier: BSD-3-Clause
// Rows of collectives in which members need not wait for each other, so that some get as far ahead of the others as a
// component lets them: every number of bytes about the limits of a component that keeps contributions in memory, roots
// that change, and members that are late in turn. On duplicates, which are freed while others may still read.
#include "tests/mpi_check/check.h"

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

int rank;
int size;

int value_of(int row, int from, int index) {
    return row * 31 + from * 7 + index;
}

// This member lets the others get ahead, or falls behind, now and then.
void be_late(int row) {
    if (row % 97 == rank * 13 % 97) {
        std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
}

struct Row {
    MPI_Comm comm;
    int number;
    int root;
    int count; // ints
};

void run_bcast(const Row& row) {
    std::vector<int> data(std::size_t(row.count));
    for (int i = 0; rank == row.root && i < row.count; ++i) {
        data[std::size_t(i)] = value_of(row.number, row.root, i);
    }
    CHECK_OK(MPI_Bcast(data.data(), row.count, MPI_INT, row.root, row.comm));
    for (int i = 0; i < row.count; ++i) {
        CHECK_EQUAL(data[std::size_t(i)], value_of(row.number, row.root, i));
    }
}

void run_reduce(const Row& row) {
    std::vector<int> data(std::size_t(row.count));
    std::vector<int> sums(std::size_t(row.count), -1);
    for (int i = 0; i < row.count; ++i) {
        data[std::size_t(i)] = value_of(row.number, rank, i);
    }
    CHECK_OK(MPI_Reduce(data.data(), sums.data(), row.count, MPI_INT, MPI_SUM, row.root, row.comm));
    for (int i = 0; rank == row.root && i < row.count; ++i) {
        CHECK_EQUAL(sums[std::size_t(i)], size * value_of(row.number, 0, i) + 7 * size * (size - 1) / 2);
    }
}

void run_gather(const Row& row) {
    std::vector<int> data(std::size_t(row.count));
    std::vector<int> all(std::size_t(row.count * size), -1);
    for (int i = 0; i < row.count; ++i) {
        data[std::size_t(i)] = value_of(row.number, rank, i);
    }
    CHECK_OK(MPI_Gather(data.data(), row.count, MPI_INT, all.data(), row.count, MPI_INT, row.root, row.comm));
    for (int i = 0; rank == row.root && i < row.count * size; ++i) {
        CHECK_EQUAL(all[std::size_t(i)], value_of(row.number, i / row.count, i % row.count));
    }
}

void run_scatter(const Row& row) {
    std::vector<int> all(std::size_t(row.count * size));
    std::vector<int> data(std::size_t(row.count), -1);
    for (int i = 0; i < row.count * size; ++i) {
        all[std::size_t(i)] = value_of(row.number, i / row.count, i % row.count);
    }
    CHECK_OK(MPI_Scatter(all.data(), row.count, MPI_INT, data.data(), row.count, MPI_INT, row.root, row.comm));
    for (int i = 0; i < row.count; ++i) {
        CHECK_EQUAL(data[std::size_t(i)], value_of(row.number, rank, i));
    }
}

void run_allreduce(const Row& row) {
    std::vector<int> data(std::size_t(row.count));
    for (int i = 0; i < row.count; ++i) {
        data[std::size_t(i)] = value_of(row.number, rank, i);
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, data.data(), row.count, MPI_INT, MPI_SUM, row.comm));
    for (int i = 0; i < row.count; ++i) {
        CHECK_EQUAL(data[std::size_t(i)], size * value_of(row.number, 0, i) + 7 * size * (size - 1) / 2);
    }
}

using Function = void (*)(const Row&);
constexpr Function functions[] = {run_bcast, run_reduce, run_gather, run_scatter, run_allreduce};
constexpr int counts[] = {0, 1, 11, 12, 13, 64, 65, 127, 128, 200, 1023, 1024, 1025};

// Many calls of one function with one root and one length.
void test_equal_calls(Function function, int count) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 200; ++i) {
        be_late(i);
        function({comm, i, size - 1, count});
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

void test_mixed_calls() {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    unsigned state = 4711;
    const auto random = [&state](unsigned below) {
        state = state * 1664525 + 1013904223;
        return int((state >> 8) % below);
    };
    for (int i = 0; i < 3000; ++i) {
        be_late(i);
        // Those that have no root are few, since all members wait for each other in them.
        const int which = i % 151 == 0 ? 4 : random(4);
        functions[which]({comm, i, random(unsigned(size)), counts[random(std::size(counts))]});
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

// A root that goes ahead tells the others by a message when they may follow. MPI lets MPI_Bcast wait for all members,
// so that a program must not do this; but some do, and short broadcasts return early in every component.
void test_root_that_goes_ahead() {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 60; ++i) {
        int told = i;
        if (rank != 0) {
            CHECK_OK(MPI_Recv(&told, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE));
        }
        run_bcast({comm, i, 0, 2});
        for (int to = 1; rank == 0 && to < size; ++to) {
            CHECK_OK(MPI_Send(&told, 1, MPI_INT, to, 3, comm));
        }
        if (i % 20 == 19) {
            CHECK_OK(MPI_Barrier(comm));
        }
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

} // namespace

// Any number of elements of an empty type is a contribution of no bytes.
void test_empty_types() {
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    const int counts_of[] = {0, 1, 100'000};
    int send = 4711, recv = -1;
    for (int i = 0; i < 30; ++i) {
        const int count = counts_of[(rank + i) % 3];
        CHECK_OK(MPI_Gather(&send, count, empty, &recv, 0, MPI_INT, i % size, MPI_COMM_WORLD));
        CHECK_OK(MPI_Allgather(&send, count, empty, &recv, count, empty, MPI_COMM_WORLD));
        CHECK_OK(MPI_Scatter(&send, 0, MPI_INT, &recv, count, empty, i % size, MPI_COMM_WORLD));
        CHECK_OK(MPI_Alltoall(&send, count, empty, &recv, count, empty, MPI_COMM_WORLD));
    }
    CHECK_EQUAL(recv, -1);
    MPI_Type_free(&empty);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (const Function function : functions) {
        for (const int count : counts) {
            test_equal_calls(function, count);
        }
    }
    test_mixed_calls();
    test_root_that_goes_ahead();
    test_empty_types();
    return finish();
}
