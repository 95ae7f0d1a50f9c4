// SPDX-License-Identifier: BSD-3-Clause
// Targets that are in the library at some times and sleep at others, so that operations are left to them, taken back,
// or carried out directly, in any order: delegation_mix THREADS ROUNDS [dynamic]. Sums, and the order of accumulates of
// one origin, are those of any execution.
#include "tests/mpi_check/check.h"
#include "window.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int row = 1500; // elements; larger than an entry
int rank, size, threads, rounds;

constexpr int block = 6000; // elements that both processes copy

// At each target: a counter of all, a counter by compare-and-swap, then a cell, a row and a block for each thread of
// each rank.
constexpr int fetched_counter = 0, swapped_counter = 1, first_cell = 2;
int cell_of(int origin, int thread) {
    return first_cell + (origin * threads + thread) * (1 + row + block);
}

struct Sums {
    std::int64_t fetched = 0;
    std::int64_t swapped = 0;
};

class Worker {
public:
    explicit Worker(int thread)
        : _thread(thread),
          _random(unsigned(rank * 64 + thread + 1)),
          _sequence(std::size_t(size)),
          _rows(std::size_t(size)) {}

    Sums run() {
        for (int round = 0; round < rounds; ++round) {
            const int target = int(_random() % unsigned(size));
            switch (_random() % 9) {
            case 0:
                std::this_thread::sleep_for(std::chrono::microseconds(_random() % 300));
                break;
            case 1:
                pause_in_library();
                break;
            case 2:
                add(target);
                break;
            case 3:
                swap(target);
                break;
            case 4:
                add_row(target);
                break;
            case 5:
                copy_block(target);
                break;
            default:
                replace(target);
            }
        }
        check_rows();
        return _sums;
    }

private:
    void pause_in_library() {
        int flag = 0;
        for (int i = 0; i < 200; ++i) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        }
    }

    void add(int target) {
        const std::int64_t value = 1 + std::int64_t(_random() % 100);
        std::int64_t before = -1;
        MPI_Fetch_and_op(&value, &before, MPI_INT64_T, target, at(target, fetched_counter), MPI_SUM, window);
        MPI_Win_flush(target, window);
        CHECK(before >= 0);
        _sums.fetched += value;
    }

    void swap(int target) {
        std::int64_t seen = 0;
        std::int64_t before = -1;
        for (;;) {
            const std::int64_t next = seen + 1;
            MPI_Compare_and_swap(&next, &seen, &before, MPI_INT64_T, target, at(target, swapped_counter), window);
            MPI_Win_flush(target, window);
            if (before == seen) {
                break;
            }
            CHECK(before > seen || seen == 0);
            seen = before;
        }
        ++_sums.swapped;
    }

    // Accumulates of one origin to one place are in order without a flush.
    void replace(int target) {
        std::int64_t& last = _sequence[std::size_t(target)];
        const int place = cell_of(rank, _thread);
        const std::int64_t one = 1;
        const std::int64_t value = last + 10;
        std::int64_t before = -1;
        std::int64_t after = -1;
        MPI_Get_accumulate(&value, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, target, at(target, place), 1, MPI_INT64_T,
            MPI_REPLACE, window);
        MPI_Accumulate(&one, 1, MPI_INT64_T, target, at(target, place), 1, MPI_INT64_T, MPI_SUM, window);
        MPI_Fetch_and_op(nullptr, &after, MPI_INT64_T, target, at(target, place), MPI_NO_OP, window);
        MPI_Win_flush(target, window);
        CHECK_EQUAL(before, last);
        CHECK_EQUAL(after, last + 11);
        last += 11;
    }

    void add_row(int target) {
        std::vector<std::int64_t> ones(row, 1);
        MPI_Accumulate(ones.data(), row, MPI_INT64_T, target, at(target, cell_of(rank, _thread) + 1), row, MPI_INT64_T,
            MPI_SUM, window);
        MPI_Win_flush(target, window);
        ++_rows[std::size_t(target)];
    }

    void copy_block(int target) {
        const int count = block - int(_random() % 3000);
        const int place = cell_of(rank, _thread) + 1 + row;
        std::vector<std::int64_t> sent(block), got(block, -1);
        std::iota(sent.begin(), sent.end(), std::int64_t(_random()));
        MPI_Request request;
        MPI_Rput(sent.data(), count, MPI_INT64_T, target, at(target, place), count, MPI_INT64_T, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(target, window);
        MPI_Get(got.data(), count, MPI_INT64_T, target, at(target, place), count, MPI_INT64_T, window);
        MPI_Win_flush(target, window);
        CHECK(std::equal(sent.begin(), sent.begin() + count, got.begin()));
        CHECK(count == block || got[std::size_t(count)] == -1);
    }

    void check_rows() {
        for (int target = 0; target < size; ++target) {
            std::vector<std::int64_t> found(row, -1);
            MPI_Get(found.data(), row, MPI_INT64_T, target, at(target, cell_of(rank, _thread) + 1), row, MPI_INT64_T,
                window);
            MPI_Win_flush(target, window);
            const std::int64_t wanted = _rows[std::size_t(target)];
            CHECK(std::all_of(found.begin(), found.end(), [&](std::int64_t one) { return one == wanted; }));
        }
    }

    int _thread;
    std::mt19937 _random;
    std::vector<std::int64_t> _sequence; // what the own cell of each target has
    std::vector<int> _rows;
    Sums _sums;
};

} // namespace

int main(int argc, char** argv) {
    threads = argc > 1 ? std::atoi(argv[1]) : 1;
    rounds = argc > 2 ? std::atoi(argv[2]) : 1000;
    int provided;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<std::int64_t> memory(std::size_t(cell_of(size, 0)), 0);
    open_window(argc > 3 ? argv[3] : "create", memory.data(), memory.size(), size);
    MPI_Win_lock_all(0, window);
    std::vector<Sums> sums(std::size_t(threads), Sums{});
    std::vector<std::thread> all;
    for (int thread = 1; thread < threads; ++thread) {
        all.emplace_back([&, thread] { sums[std::size_t(thread)] = Worker(thread).run(); });
    }
    sums[0] = Worker(0).run();
    for (std::thread& one : all) {
        one.join();
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t own[2] = {0, 0}, found[2] = {0, 0}, all_own[2], all_found[2];
    for (const Sums& sum : sums) {
        own[0] += sum.fetched;
        own[1] += sum.swapped;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    found[0] = memory[fetched_counter];
    found[1] = memory[swapped_counter];
    MPI_Win_unlock(rank, window);
    MPI_Allreduce(own, all_own, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(found, all_found, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all_found[0], all_own[0]);
    CHECK_EQUAL(all_found[1], all_own[1]);
    close_window(memory.data());
    return finish();
}
