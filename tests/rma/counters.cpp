// SPDX-License-Identifier: BSD-3-Clause
// Mutual exclusion: all ranks increment counters of one rank at once, in each way that RMA has. No increment may be
// lost, and where a call returns the value from before, no value may be returned twice.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank, size, rounds;

// A window of some counters on each rank, all 0.
class Counters {
public:
    Counters(int count, bool allocated) {
        const MPI_Aint bytes = MPI_Aint(count) * MPI_Aint(sizeof(std::int64_t));
        if (allocated) {
            CHECK_OK(MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &values, &window));
            std::fill(values, values + count, 0);
        } else {
            _own.assign(std::size_t(count), 0);
            values = _own.data();
            CHECK_OK(MPI_Win_create(values, bytes, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        }
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
        MPI_Win_unlock(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Counters() { CHECK_OK(MPI_Win_free(&window)); }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    std::int64_t read(int target, int index) {
        std::int64_t value = -1;
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        MPI_Get(&value, 1, MPI_INT64_T, target, index, 1, MPI_INT64_T, window);
        MPI_Win_unlock(target, window);
        return value;
    }

    MPI_Win window = MPI_WIN_NULL;
    std::int64_t* values = nullptr;

private:
    std::vector<std::int64_t> _own;
};

void check_total(Counters& counters, const char* what) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t got = counters.read(0, 0), wanted = std::int64_t(rounds) * size;
    if (got != wanted) {
        std::fprintf(stderr, "rank %d, %s: %lld increments, not %lld\n", rank, what, static_cast<long long>(got),
            static_cast<long long>(wanted));
    }
    CHECK_EQUAL(got, wanted);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Each value from 0 on is returned once, to somebody.
void check_tickets(std::vector<std::int64_t> mine) {
    std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(size));
    MPI_Gather(
        mine.data(), int(mine.size()), MPI_INT64_T, all.data(), int(mine.size()), MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < mine.size(); ++i) {
        CHECK(mine[i] > mine[i - 1]);
    }
    if (rank == 0) {
        std::vector<int> seen(all.size());
        for (const std::int64_t ticket : all) {
            CHECK(ticket >= 0 && ticket < std::int64_t(all.size()));
            if (ticket >= 0 && ticket < std::int64_t(all.size())) {
                seen[std::size_t(ticket)]++;
            }
        }
        for (const int times : seen) {
            CHECK_EQUAL(times, 1);
        }
    }
}

void exclusive_locks(bool allocated) {
    Counters counters(1, allocated);
    for (int i = 0; i < rounds; ++i) {
        std::int64_t value = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counters.window);
        MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, counters.window);
        MPI_Win_flush(0, counters.window);
        ++value;
        MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, counters.window);
        MPI_Win_unlock(0, counters.window);
    }
    check_total(counters, "get and put under an exclusive lock");
}

// The owner of the memory uses loads and stores, under a lock of its own.
void exclusive_locks_and_stores(bool allocated) {
    Counters counters(1, allocated);
    for (int i = 0; i < rounds; ++i) {
        std::int64_t value = -1; // the put needs it until the unlock
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counters.window);
        if (rank == 0) {
            volatile std::int64_t* const own = counters.values;
            *own = *own + 1;
        } else {
            MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, counters.window);
            MPI_Win_flush_local(0, counters.window);
            ++value;
            MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, counters.window);
        }
        MPI_Win_unlock(0, counters.window);
    }
    check_total(counters, "loads and stores of the target under an exclusive lock");
}

// An exclusive lock and lock_all exclude each other: under lock_all nobody sees the two values differ.
void readers_and_writers(bool allocated) {
    Counters counters(2, allocated);
    for (int i = 0; i < rounds; ++i) {
        std::int64_t pair[2] = {-1, -2};
        if (rank % 2 == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counters.window);
            MPI_Get(pair, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, counters.window);
            MPI_Win_flush(0, counters.window);
            CHECK_EQUAL(pair[0], pair[1]);
            for (int half = 0; half < 2; ++half) {
                ++pair[half];
                MPI_Put(&pair[half], 1, MPI_INT64_T, 0, half, 1, MPI_INT64_T, counters.window);
                MPI_Win_flush(0, counters.window);
            }
            MPI_Win_unlock(0, counters.window);
        } else {
            MPI_Win_lock_all(0, counters.window);
            MPI_Get(pair, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, counters.window);
            MPI_Win_flush(0, counters.window);
            CHECK_EQUAL(pair[0], pair[1]);
            MPI_Win_unlock_all(counters.window);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(counters.read(0, 1), std::int64_t(rounds) * ((size + 1) / 2));
    MPI_Barrier(MPI_COMM_WORLD);
}

void fetch_and_ops(bool allocated) {
    Counters counters(1, allocated);
    const std::int64_t one = 1;
    std::vector<std::int64_t> tickets;
    MPI_Win_lock_all(0, counters.window);
    for (int i = 0; i < rounds; ++i) {
        std::int64_t ticket = -1;
        MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, counters.window);
        MPI_Win_flush(0, counters.window);
        tickets.push_back(ticket);
    }
    MPI_Win_unlock_all(counters.window);
    check_total(counters, "MPI_Fetch_and_op");
    check_tickets(tickets);
}

// MPI_Get_accumulate and MPI_Fetch_and_op are atomic with each other.
void get_accumulates(bool allocated) {
    Counters counters(1, allocated);
    const std::int64_t one = 1;
    std::vector<std::int64_t> tickets(std::size_t(rounds), -1);
    MPI_Win_lock_all(0, counters.window);
    for (int i = 0; i < rounds; ++i) {
        std::int64_t* ticket = &tickets[std::size_t(i)];
        if ((i + rank) % 2 == 0) {
            MPI_Get_accumulate(
                &one, 1, MPI_INT64_T, ticket, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, counters.window);
        } else {
            MPI_Fetch_and_op(&one, ticket, MPI_INT64_T, 0, 0, MPI_SUM, counters.window);
        }
        if (i % 7 == 0) {
            MPI_Win_flush(0, counters.window);
        }
    }
    MPI_Win_unlock_all(counters.window);
    check_total(counters, "MPI_Get_accumulate beside MPI_Fetch_and_op");
    check_tickets(tickets);
}

// A lock made of MPI_Compare_and_swap, around a get and a put.
void spin_locks(bool allocated) {
    Counters counters(2, allocated);
    const std::int64_t empty = 0, mine = rank + 1;
    MPI_Win_lock_all(0, counters.window);
    for (int i = 0; i < rounds; ++i) {
        for (std::int64_t holder = -1; holder != empty;) {
            MPI_Compare_and_swap(&mine, &empty, &holder, MPI_INT64_T, 0, 1, counters.window);
            MPI_Win_flush(0, counters.window);
        }
        std::int64_t value = -1, holder = -1;
        MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, counters.window);
        MPI_Win_flush(0, counters.window);
        ++value;
        MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, counters.window);
        MPI_Win_flush(0, counters.window);
        MPI_Fetch_and_op(&empty, &holder, MPI_INT64_T, 0, 1, MPI_REPLACE, counters.window);
        MPI_Win_flush(0, counters.window);
        CHECK_EQUAL(holder, mine);
    }
    MPI_Win_unlock_all(counters.window);
    check_total(counters, "a lock of MPI_Compare_and_swap");
}

// Accumulates of several elements with each other, in fence epochs and in locks: each element is updated atomically.
void accumulates(bool allocated) {
    enum { width = 9 };
    Counters counters(width, allocated);
    std::int64_t ones[width];
    std::fill(ones, ones + width, 1);
    MPI_Win_fence(0, counters.window);
    for (int i = 0; i < rounds; ++i) {
        if (i % 16 == 0) {
            MPI_Win_fence(0, counters.window);
        }
        MPI_Accumulate(ones, width, MPI_INT64_T, 0, 0, width, MPI_INT64_T, MPI_SUM, counters.window);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, counters.window);
    check_total(counters, "MPI_Accumulate in fence epochs");
    for (int i = 0; i < rounds; ++i) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counters.window);
        MPI_Accumulate(ones, width, MPI_INT64_T, 0, 0, width, MPI_INT64_T, MPI_SUM, counters.window);
        MPI_Win_unlock(0, counters.window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < width; ++i) {
        CHECK_EQUAL(counters.read(0, i), 2 * std::int64_t(rounds) * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? std::atoi(argv[1]) : 200;
    const std::string only = argc > 2 ? argv[2] : "";
    const struct {
        const char* name;
        void (*run)(bool);
    } all[] = {{"exclusive", exclusive_locks}, {"stores", exclusive_locks_and_stores}, {"readers", readers_and_writers},
        {"fetch", fetch_and_ops}, {"get_accumulate", get_accumulates}, {"spin", spin_locks},
        {"accumulate", accumulates}};
    for (const auto& one : all) {
        for (const bool allocated : {true, false}) {
            if (only.empty() || only == one.name) {
                one.run(allocated);
            }
        }
    }
    return finish();
}
