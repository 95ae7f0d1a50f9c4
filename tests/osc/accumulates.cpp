// SPDX-License-Identifier: BSD-3-Clause
// Accumulates of all processes on one target at once, for every op and many types, against the result that a loop over
// the processes has; with derived types on either side; and what the functions that fetch return. accumulates [singly]:
// with a granularity of one element.
#include "tests/mpi_check/check.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace {

int rank, size;
constexpr int elements = 300;

MPI_Win win;
std::byte* memory;

template <class T>
T* values() {
    return reinterpret_cast<T*>(memory);
}

template <class T>
T start_of(int i) {
    return T(i % 7 + 1);
}
template <class T>
T value_of(int process, int i) {
    return T((process + i) % 3 + 1);
}

// Every process accumulates to rank 0. `layouts`: 1 for a derived type of the origin, 2 for one of the target.
template <class T>
void sum_up(MPI_Datatype type, MPI_Op op, const std::function<T(T, T)>& apply, int layouts) {
    const bool derived = layouts % 2 != 0;
    const bool target_derived = layouts / 2 != 0;
    if (rank == 0) {
        for (int i = 0; i < 2 * elements; ++i) {
            values<T>()[i] = start_of<T>(i);
        }
    }
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_vector(elements, 1, 2, type, &spread);
    MPI_Type_commit(&spread);
    MPI_Win_fence(0, win);
    std::vector<T> origin(elements * 2);
    for (int i = 0; i < elements; ++i) {
        origin[std::size_t(derived ? 2 * i : i)] = value_of<T>(rank, i);
    }
    const MPI_Datatype own = derived ? spread : type;
    const int count = derived ? 1 : elements;
    if (target_derived) {
        MPI_Accumulate(origin.data(), count, own, 0, 0, 1, spread, op, win);
    } else {
        MPI_Accumulate(origin.data(), count, own, 0, 0, elements, type, op, win);
    }
    MPI_Win_fence(0, win);
    if (rank == 0) {
        for (int i = 0; i < elements; ++i) {
            const int at = target_derived ? 2 * i : i;
            T expected = start_of<T>(at);
            for (int process = 0; process < size; ++process) {
                expected = apply(value_of<T>(process, i), expected);
            }
            CHECK(values<T>()[at] == expected);
            if (target_derived) {
                CHECK(values<T>()[at + 1] == start_of<T>(at + 1));
            }
        }
    }
    MPI_Type_free(&spread);
    MPI_Win_fence(0, win);
}

template <class T>
void all_ops(MPI_Datatype type) {
    for (int layouts = 0; layouts < 4; ++layouts) {
        sum_up<T>(
            type, MPI_SUM, [](T a, T b) { return T(a + b); }, layouts);
        sum_up<T>(
            type, MPI_MIN, [](T a, T b) { return a < b ? a : b; }, layouts);
        sum_up<T>(
            type, MPI_MAX, [](T a, T b) { return a > b ? a : b; }, layouts);
        if (size <= 4) { // no overflow
            sum_up<T>(
                type, MPI_PROD, [](T a, T b) { return T(a * b); }, layouts);
        }
    }
}

template <class T>
void bit_ops(MPI_Datatype type) {
    for (int layouts = 0; layouts < 4; ++layouts) {
        sum_up<T>(
            type, MPI_BAND, [](T a, T b) { return T(a & b); }, layouts);
        sum_up<T>(
            type, MPI_BOR, [](T a, T b) { return T(a | b); }, layouts);
        sum_up<T>(
            type, MPI_BXOR, [](T a, T b) { return T(a ^ b); }, layouts);
        sum_up<T>(
            type, MPI_LAND, [](T a, T b) { return T(a && b); }, layouts);
        sum_up<T>(
            type, MPI_LXOR, [](T a, T b) { return T(!a != !b); }, layouts);
    }
}

void pairs() {
    struct Pair {
        double value;
        int index;
    };
    for (const MPI_Op op : {MPI_MINLOC, MPI_MAXLOC}) {
        if (rank == 0) {
            for (int i = 0; i < elements; ++i) {
                values<Pair>()[i] = {op == MPI_MINLOC ? 1e9 : -1e9, -1};
            }
        }
        MPI_Win_fence(0, win);
        std::vector<Pair> origin(elements);
        for (int i = 0; i < elements; ++i) {
            origin[std::size_t(i)] = {double((rank + i) % size), rank};
        }
        MPI_Accumulate(origin.data(), elements, MPI_DOUBLE_INT, 0, 0, elements, MPI_DOUBLE_INT, op, win);
        MPI_Win_fence(0, win);
        for (int i = 0; rank == 0 && i < elements; ++i) {
            const int winner = op == MPI_MINLOC ? (size - i % size) % size : (2 * size - 1 - i % size) % size;
            CHECK_EQUAL(values<Pair>()[i].index, winner);
            CHECK_EQUAL(values<Pair>()[i].value, op == MPI_MINLOC ? 0 : size - 1);
        }
        MPI_Win_fence(0, win);
    }
}

// Each process adds to every element and gets what was there: all got values of an element are different, and with the
// process's own order they grow.
void fetches() {
    std::vector<long> one(elements, 1), got(elements), before(elements, -1);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        std::memset(memory, 0, sizeof(long) * elements);
    }
    MPI_Win_fence(0, win);
    for (int round = 0; round < 20; ++round) {
        MPI_Get_accumulate(
            one.data(), elements, MPI_LONG, got.data(), elements, MPI_LONG, 0, 0, elements, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < elements; ++i) {
            CHECK(got[std::size_t(i)] > before[std::size_t(i)]);
            CHECK(got[std::size_t(i)] >= long(round) * size && got[std::size_t(i)] < long(round + 1) * size);
        }
        before = got;
    }
    MPI_Get_accumulate(
        nullptr, 0, MPI_DATATYPE_NULL, got.data(), elements, MPI_LONG, 0, 0, elements, MPI_LONG, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    for (const long value : got) {
        CHECK_EQUAL(value, 20L * size);
    }
    // MPI_REPLACE is an atomic put: what arrives is the whole of one process's value.
    const long mine = rank + 100;
    long old = -1;
    MPI_Fetch_and_op(&mine, &old, MPI_LONG, 0, 0, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    CHECK(old == 20L * size || (old >= 100 && old < 100 + size));
    MPI_Fetch_and_op(nullptr, &old, MPI_LONG, 0, 0, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    CHECK(old >= 100 && old < 100 + size);
}

// Requests are complete when the buffers may be used again.
void requests() {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    long mine = rank + 7, got = -1, old = -1;
    MPI_Request request;
    MPI_Rput(&mine, 1, MPI_LONG, (rank + 1) % size, 8, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mine = -1;
    MPI_Win_flush_all(win);
    MPI_Rget(&got, 1, MPI_LONG, (rank + 1) % size, 8, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, rank + 7);
    mine = 1;
    MPI_Rget_accumulate(
        &mine, 1, MPI_LONG, &old, 1, MPI_LONG, (rank + 1) % size, 8, 1, MPI_LONG, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(old, rank + 7);
    MPI_Raccumulate(&mine, 1, MPI_LONG, (rank + 1) % size, 8, 1, MPI_LONG, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK_EQUAL(values<long>()[1], (rank + size - 1) % size + 9);
    MPI_Win_unlock(rank, win);
}

// A struct with an empty block of another predefined type consists of elements of one type.
void empty_blocks() {
    const int lengths[] = {0, 2, 0};
    const MPI_Aint places[] = {0, 0, 8};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Datatype one_type;
    MPI_Type_create_struct(3, lengths, places, types, &one_type);
    MPI_Type_commit(&one_type);
    values<int>()[0] = 10;
    values<int>()[1] = 20;
    MPI_Win_fence(0, win);
    const int mine[] = {1, 2};
    CHECK_OK(MPI_Accumulate(mine, 1, one_type, (rank + 1) % size, 0, 1, one_type, MPI_SUM, win));
    MPI_Win_fence(0, win);
    CHECK_EQUAL(values<int>()[0], 11);
    CHECK_EQUAL(values<int>()[1], 22);
    MPI_Type_free(&one_type);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info info;
    MPI_Info_create(&info);
    if (argc > 1 && std::strcmp(argv[1], "singly") == 0) {
        MPI_Info_set(info, "mpi_accumulate_granularity", "1");
    }
    MPI_Win_allocate(elements * 2 * 16, 1, info, MPI_COMM_WORLD, &memory, &win);
    MPI_Info_free(&info);
    MPI_Win_fence(0, win);
    all_ops<std::int8_t>(MPI_INT8_T);
    all_ops<short>(MPI_SHORT);
    all_ops<int>(MPI_INT);
    all_ops<long>(MPI_LONG);
    all_ops<unsigned>(MPI_UNSIGNED);
    all_ops<float>(MPI_FLOAT);
    all_ops<double>(MPI_DOUBLE);
    all_ops<long double>(MPI_LONG_DOUBLE);
    all_ops<MPI_Aint>(MPI_AINT);
    bit_ops<int>(MPI_INT);
    bit_ops<std::uint64_t>(MPI_UINT64_T);
    bit_ops<unsigned char>(MPI_UNSIGNED_CHAR);
    pairs();
    fetches();
    requests();
    MPI_Win_fence(0, win);
    empty_blocks();
    MPI_Win_free(&win);
    return finish();
}
