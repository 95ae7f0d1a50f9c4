// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of the target: each is described to the target once and cached there, may be freed before the operation is
// complete, and others take its place. What is put, fetched and accumulated is compared with the same layout in local
// memory.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace {

int rank, size, target;

struct ValueAndIndex {
    double value;
    int index;
};

MPI_Datatype vector_type() {
    MPI_Datatype type;
    MPI_Type_vector(5, 3, 7, MPI_INT, &type);
    return type;
}

MPI_Datatype struct_type() {
    struct Record {
        ValueAndIndex pairs[2];
        char letters[3];
        short number;
    };
    const int lengths[] = {2, 3, 1};
    const MPI_Aint places[] = {offsetof(Record, pairs), offsetof(Record, letters), offsetof(Record, number)};
    const MPI_Datatype types[] = {MPI_DOUBLE_INT, MPI_CHAR, MPI_SHORT};
    MPI_Datatype inner, type;
    MPI_Type_create_struct(3, lengths, places, types, &inner);
    MPI_Type_create_resized(inner, 0, sizeof(Record), &type);
    MPI_Type_free(&inner);
    return type;
}

MPI_Datatype subarray_type() {
    const int sizes[] = {6, 9}, part[] = {3, 4}, start[] = {2, 1};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_FORTRAN, MPI_SHORT, &type);
    return type;
}

MPI_Datatype darray_type() {
    const int sizes[] = {8, 6}, distribution[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
              arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 3};
    MPI_Datatype type;
    MPI_Type_create_darray(6, 4, 2, sizes, distribution, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
    return type;
}

// So many irregular blocks that its description is longer than a control message.
MPI_Datatype long_type() {
    std::vector<int> lengths(3000), places(3000);
    for (int i = 0; i < 3000; ++i) {
        lengths[std::size_t(i)] = 1 + i % 2;
        places[std::size_t(i)] = 4 * i + (i * 7) % 3;
    }
    MPI_Datatype type;
    MPI_Type_indexed(3000, lengths.data(), places.data(), MPI_INT, &type);
    return type;
}

MPI_Datatype nested_type() {
    MPI_Datatype inner = vector_type(), pair = struct_type(), record, type;
    const int lengths[] = {2, 1};
    const MPI_Aint places[] = {512, 0};
    const MPI_Datatype types[] = {inner, pair};
    MPI_Type_create_struct(2, lengths, places, types, &record);
    MPI_Type_create_resized(record, 0, 768, &type); // its extent is that of the pair, which has explicit bounds
    MPI_Type_free(&record);
    MPI_Type_free(&inner);
    MPI_Type_free(&pair);
    return type;
}

MPI_Datatype duplicate_type() {
    MPI_Datatype type;
    MPI_Type_dup(MPI_DOUBLE_INT, &type);
    return type;
}

constexpr std::size_t window_bytes = 256 * 1024;

using Memory = std::vector<unsigned char>;

// What the window of `owner` contains at the beginning.
unsigned char first_value(int owner, std::size_t at) {
    return static_cast<unsigned char>(at * 31 + at / 256 + std::size_t(owner) * 17);
}

Memory packed_numbers(MPI_Datatype type, int count, int seed) {
    int bytes;
    MPI_Type_size(type, &bytes);
    Memory data(std::size_t(bytes) * std::size_t(count));
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<unsigned char>(i * 7 + std::size_t(seed) * 13 + 1);
    }
    return data;
}

// `data` as `count` elements of the type in `memory`.
void scatter(const Memory& data, MPI_Datatype type, int count, unsigned char* memory) {
    int position = 0;
    CHECK_OK(MPI_Unpack(data.data(), int(data.size()), &position, memory, count, type, MPI_COMM_SELF));
}
Memory collect(const unsigned char* memory, MPI_Datatype type, int count) {
    int bytes, position = 0;
    MPI_Type_size(type, &bytes);
    Memory data(std::size_t(bytes) * std::size_t(count));
    CHECK_OK(MPI_Pack(memory, count, type, data.data(), int(data.size()), &position, MPI_COMM_SELF));
    return data;
}

// A type for put and get: the origin has packed bytes, and the target the type.
void put_and_get(MPI_Win win, unsigned char* memory, const std::function<MPI_Datatype()>& make, int count, int seed) {
    for (std::size_t i = 0; i < window_bytes; ++i) {
        memory[i] = first_value(rank, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Datatype type = make();
    CHECK_OK(MPI_Type_commit(&type));
    const Memory data = packed_numbers(type, count, seed);
    Memory expected(window_bytes);
    for (std::size_t i = 0; i < window_bytes; ++i) {
        expected[i] = first_value(target, i);
    }
    Memory fetched(data.size());
    constexpr MPI_Aint place = 64;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    // MPI_BYTE and the type have the same data; as the library checks no signatures, this is one layout for all types.
    CHECK_OK(MPI_Get(fetched.data(), int(data.size()), MPI_BYTE, target, place, count, type, win));
    MPI_Win_flush(target, win);
    CHECK(fetched == collect(expected.data() + place, type, count));
    CHECK_OK(MPI_Put(data.data(), int(data.size()), MPI_BYTE, target, place, count, type, win));
    MPI_Win_flush(target, win);
    std::fill(fetched.begin(), fetched.end(), 0);
    CHECK_OK(MPI_Get(fetched.data(), int(data.size()), MPI_BYTE, target, place, count, type, win));
    MPI_Datatype freed = type;
    CHECK_OK(MPI_Type_dup(type, &type));
    CHECK_OK(MPI_Type_free(&freed)); // while the operation is under way
    MPI_Win_unlock(target, win);
    const auto differs =
        std::size_t(std::mismatch(fetched.begin(), fetched.end(), data.begin()).first - fetched.begin());
    if (differs < data.size()) {
        fprintf(stderr, "type and count number %d: byte %zu of %zu differs\n", seed, differs, data.size());
        check_failed(__FILE__, __LINE__, "what was put is fetched");
    }
    Memory whole(window_bytes);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    CHECK_OK(MPI_Get(whole.data(), int(window_bytes), MPI_BYTE, target, 0, int(window_bytes), MPI_BYTE, win));
    MPI_Win_unlock(target, win);
    scatter(data, type, count, expected.data() + place);
    CHECK(whole == expected);
    MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
}

// More types than the target keeps, in turn, so that each is described again and again; their handles are reused.
void many_types(MPI_Win win, int* memory) {
    std::fill_n(memory, 1000, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    for (int round = 0; round < 3; ++round) {
        std::vector<MPI_Datatype> types(40);
        for (int i = 0; i < 40; ++i) {
            MPI_Type_vector(2, 1, 3 + i, MPI_INT, &types[std::size_t(i)]);
            MPI_Type_commit(&types[std::size_t(i)]);
            const int numbers[] = {1000 * round + i, -1000 * round - i};
            // Element 400 + i of this round, and the one after it at a distance of 3 + i.
            CHECK_OK(
                MPI_Put(numbers, 2, MPI_INT, target, MPI_Aint(sizeof(int)) * (10 * i), 1, types[std::size_t(i)], win));
            MPI_Win_flush(target, win);
            int back[2] = {0, 0};
            CHECK_OK(
                MPI_Get(back, 2, MPI_INT, target, MPI_Aint(sizeof(int)) * (10 * i), 1, types[std::size_t(i)], win));
            MPI_Win_flush(target, win);
            CHECK_EQUAL(back[0], numbers[0]);
            CHECK_EQUAL(back[1], numbers[1]);
        }
        for (MPI_Datatype& type : types) {
            MPI_Type_free(&type);
        }
    }
    MPI_Win_unlock(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Accumulates with derived types on both sides, short ones and ones with messages of their own, from all ranks to one.
void accumulate(MPI_Win win, int* memory, int blocks) {
    const int distance = 3;
    const std::size_t ints = std::size_t(blocks) * distance;
    std::fill_n(memory, ints, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Datatype strided;
    MPI_Type_vector(blocks, 2, distance, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    std::vector<int> mine(std::size_t(blocks) * 2), before(mine.size());
    std::iota(mine.begin(), mine.end(), rank);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK_OK(MPI_Accumulate(mine.data(), 2 * blocks, MPI_INT, 0, 0, 1, strided, MPI_SUM, win));
    CHECK_OK(MPI_Get_accumulate(
        mine.data(), 2 * blocks, MPI_INT, before.data(), 2 * blocks, MPI_INT, 0, 0, 1, strided, MPI_SUM, win));
    MPI_Win_unlock(0, win);
    for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK(before[i] >= 5 + int(i) + rank); // the own accumulate has been carried out before
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (int i = 0; i < 2 * blocks; ++i) {
            const int place = i / 2 * distance + i % 2;
            CHECK_EQUAL(memory[place], 5 + 2 * (size * i + size * (size - 1) / 2));
            if (i % 2 == 1 && i < 2 * blocks - 1) {
                CHECK_EQUAL(memory[place + 1], 5);
            }
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Type_free(&strided);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Pairs have padding, which does not travel.
void pairs(MPI_Win win, void* memory, int count) {
    auto* own = static_cast<ValueAndIndex*>(memory);
    for (int i = 0; i < count; ++i) {
        own[i] = {double(i % 3), 100};
    }
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<ValueAndIndex> mine(std::size_t(count), ValueAndIndex{0, 0});
    for (int i = 0; i < count; ++i) {
        mine[std::size_t(i)] = {1.0 + double((rank + i) % size), rank};
    }
    MPI_Datatype spread;
    MPI_Type_create_indexed_block(1, count, std::vector<int>{0}.data(), MPI_DOUBLE_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK_OK(MPI_Accumulate(mine.data(), count, MPI_DOUBLE_INT, 0, 0, 1, spread, MPI_MAXLOC, win));
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (int i = 0; i < count; ++i) {
            const double highest = double(size);
            const int where = ((size - 1 - i) % size + size) % size;
            if (highest > double(i % 3)) {
                CHECK(own[i].value == highest);
                CHECK_EQUAL(own[i].index, where);
            }
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Type_free(&spread);
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    target = (rank + 1) % size;
    void* memory = nullptr;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    auto* bytes = static_cast<unsigned char*>(memory);
    int seed = 0;
    for (MPI_Datatype (*make)() :
        {vector_type, struct_type, subarray_type, darray_type, long_type, nested_type, duplicate_type}) {
        put_and_get(win, bytes, make, 1, ++seed);
        put_and_get(win, bytes, make, 3, ++seed);
    }
    many_types(win, static_cast<int*>(memory));
    accumulate(win, static_cast<int*>(memory), 10);
    accumulate(win, static_cast<int*>(memory), 5000);
    pairs(win, memory, 7);
    pairs(win, memory, 3000);
    CHECK_OK(MPI_Win_free(&win));
    return finish();
}
