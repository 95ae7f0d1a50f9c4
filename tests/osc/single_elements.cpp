// SPDX-License-Identifier: BSD-3-Clause
// Windows with mpi_accumulate_granularity: accumulates of all kinds, of single elements and of many, meet at the same
// elements. No update is lost, and each value that is fetched is one that the element has had.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank, size;
constexpr int elements = 96;
constexpr int rounds = 300;

MPI_Win open_window(const char* granularity, std::byte** memory) {
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    if (granularity != nullptr) {
        MPI_Info_set(info, "mpi_accumulate_granularity", granularity);
    }
    MPI_Win_allocate(elements * 16 + 16, 1, info, MPI_COMM_WORLD, memory, &win);
    MPI_Info_free(&info);
    std::memset(*memory, 0, elements * 16 + 16);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

std::string value_of(MPI_Win win, const char* key) {
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, found = 0;
    MPI_Win_get_info(win, &info);
    MPI_Info_get_string(info, key, &length, value, &found);
    MPI_Info_free(&info);
    return found != 0 ? value : "";
}
std::string in_effect(MPI_Win win) {
    return value_of(win, "mpi_accumulate_granularity");
}

// Adds one to each element of rank 0 in every round, in five ways: alone, by comparing, and with others, by which the
// former values are returned or not.
template <class T>
void add_in_all_ways(MPI_Win win, MPI_Datatype type, int offset, bool compares) {
    const std::vector<T> ones(elements, T(1));
    std::vector<T> former(elements), last(elements, T(0));
    MPI_Datatype even;
    MPI_Type_vector(elements / 2, 1, 2, type, &even);
    MPI_Type_commit(&even);
    const auto place = [&](int i) { return MPI_Aint(offset) + MPI_Aint(i) * MPI_Aint(sizeof(T)); };
    const auto remember = [&](int i, T value) {
        CHECK(value >= last[std::size_t(i)]); // values of one element grow
        last[std::size_t(i)] = value;
    };
    const int own_rounds = sizeof(T) == 1 ? 3 : rounds; // no overflow with 8 ranks
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < own_rounds; ++round) {
        const int i = (round * 7 + rank) % 4; // all meet at few of them
        T value = T(1), old = T(0);
        MPI_Fetch_and_op(&value, &old, type, 0, place(i), MPI_SUM, win);
        MPI_Win_flush(0, win);
        remember(i, old);
        if (compares) {
            T expected = old;
            for (;;) {
                value = T(expected + 1);
                MPI_Compare_and_swap(&value, &expected, &old, type, 0, place(i), win);
                MPI_Win_flush(0, win);
                if (old == expected) {
                    break;
                }
                expected = old;
            }
            remember(i, old);
        }
        MPI_Accumulate(ones.data(), elements, type, 0, place(0), elements, type, MPI_SUM, win);
        MPI_Accumulate(ones.data(), elements / 2, type, 0, place(0), 1, even, MPI_SUM, win);
        MPI_Get_accumulate(ones.data(), elements / 2, type, former.data(), 1, even, 0, place(0), 1, even, MPI_SUM, win);
        MPI_Win_flush(0, win);
        for (int k = 0; k < elements; k += 2) {
            remember(k, former[std::size_t(k)]);
        }
        MPI_Get_accumulate(
            nullptr, 0, type, former.data(), elements, type, 0, place(0), elements, type, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        for (int k = 0; k < elements; ++k) {
            remember(k, former[std::size_t(k)]);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get_accumulate(nullptr, 0, type, former.data(), elements, type, 0, place(0), elements, type, MPI_NO_OP, win);
    MPI_Win_unlock(0, win);
    std::vector<int> expected(elements, 0);
    for (int process = 0; process < size; ++process) {
        for (int round = 0; round < own_rounds; ++round) {
            expected[std::size_t((round * 7 + process) % 4)] += compares ? 2 : 1;
        }
    }
    for (int k = 0; k < elements; ++k) {
        const int both = k % 2 == 0 ? 3 : 1;
        CHECK(former[std::size_t(k)] == T(expected[std::size_t(k)] + both * own_rounds * size));
    }
    MPI_Type_free(&even);
}

template <class T>
void test_type(MPI_Datatype type, bool compares) {
    for (const int offset : {0, 1}) { // places that are a multiple of the element's size, and others
        std::byte* memory;
        MPI_Win win = open_window("8", &memory);
        add_in_all_ways<T>(win, type, offset, compares);
        MPI_Win_free(&win);
    }
}

// Ops for which no processor has an instruction, with MPI_REPLACE at the same elements: a value is one that a process
// has written, and at the end the largest one.
template <class T>
void test_largest(MPI_Datatype type) {
    std::byte* memory;
    MPI_Win win = open_window("1", &memory);
    const int most = 100;
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < rounds; ++round) {
        T value = T((round * 13 + rank * 5) % most), old = T(0);
        MPI_Fetch_and_op(&value, &old, type, 0, 0, MPI_MAX, win);
        MPI_Win_flush(0, win);
        CHECK(old >= T(0) && old <= T(most) && old == T(int(old)));
        value = T(round % 3);
        MPI_Accumulate(&value, 1, type, 0, MPI_Aint(sizeof(T)), 1, type, MPI_REPLACE, win);
        MPI_Fetch_and_op(nullptr, &old, type, 0, MPI_Aint(sizeof(T)), MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        CHECK(old == T(0) || old == T(1) || old == T(2));
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    T value = T(most), old = T(0);
    MPI_Fetch_and_op(&value, &old, type, 0, 0, MPI_MAX, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(*reinterpret_cast<T*>(memory) == T(most));
    }
    MPI_Win_free(&win);
}

void test_hints() {
    const struct {
        const char *given, *effective;
    } cases[] = {{nullptr, "0"}, {"0", "0"}, {"1", "1"}, {"8", "8"}, {"64", "0"}, {"many", "0"}};
    for (const auto& one : cases) {
        std::byte* memory;
        MPI_Win win = open_window(one.given, &memory);
        CHECK(in_effect(win) == one.effective);
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_accumulate_granularity", "4");
        MPI_Win_set_info(win, info); // others may be accessing the memory now
        MPI_Info_free(&info);
        CHECK(in_effect(win) == one.effective);
        MPI_Win_free(&win);
    }
    // A member that does not ask for it: all others do as it does.
    std::byte* memory;
    MPI_Win win = open_window(rank == size - 1 ? nullptr : "8", &memory);
    CHECK(in_effect(win) == "0");
    add_in_all_ways<long>(win, MPI_LONG, 0, true);
    MPI_Win_free(&win);
}

// Memory that is mapped in no other process, or in the others for a part of the members only: no member uses atomics.
void test_memory_of_program(bool of_one_member) {
    alignas(64) static std::byte own[elements * 16 + 16];
    std::byte* base;
    MPI_Win allocated, win;
    MPI_Info info;
    MPI_Win_allocate(sizeof own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    base = !of_one_member || rank == size - 1 ? own : base;
    std::memset(base, 0, sizeof own);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    MPI_Win_create(base, sizeof own, 1, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    if (value_of(win, "patchbay_osc") == "rdma") {
        CHECK(in_effect(win) == (size == 1 ? "8" : "0"));
    }
    add_in_all_ways<long>(win, MPI_LONG, 0, true);
    MPI_Win_free(&win);
    MPI_Win_free(&allocated);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* const component = std::getenv("PATCHBAY_MCA_osc");
    test_hints();
    if (size == 1 || (component != nullptr && std::strcmp(component, "rdma") == 0)) {
        test_memory_of_program(false);
        test_memory_of_program(true);
    }
    test_type<std::int8_t>(MPI_INT8_T, true);
    test_type<short>(MPI_SHORT, true);
    test_type<int>(MPI_INT, true);
    test_type<std::uint64_t>(MPI_UINT64_T, true);
    test_type<float>(MPI_FLOAT, false);
    test_type<double>(MPI_DOUBLE, false);
    test_type<long double>(MPI_LONG_DOUBLE, false); // has no atomic
    test_largest<int>(MPI_INT);
    test_largest<double>(MPI_DOUBLE);
    test_largest<unsigned char>(MPI_UNSIGNED_CHAR);
    return finish();
}
