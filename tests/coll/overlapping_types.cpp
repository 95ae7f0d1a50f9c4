// SPDX-License-Identifier: BSD-3-Clause
// Reductions with an op of the program on types whose elements stand in the gaps of each other: columns of a matrix,
// and a type of extent 0; and on a structure whose first member is not in the type.
#include "tests/mpi_check/check.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

int rank, size;

// Element i has the values at i * step + k * stride.
struct Layout {
    int count;
    int parts;
    int step;
    int stride;
    std::size_t place(int i, int k) const { return std::size_t(i) * std::size_t(step) + std::size_t(k * stride); }
    std::size_t values() const { return std::size_t(count * parts); }
};

Layout layout; // of the reduction under way

using Values = std::vector<unsigned>;

unsigned value(int of_rank, int i, int k) {
    return 1000U * unsigned(of_rank) + 10U * unsigned(k) + 7U * unsigned(i) + 1U;
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        for (int k = 0; k < layout.parts; ++k) {
            static_cast<unsigned*>(inout)[layout.place(i, k)] += static_cast<unsigned*>(in)[layout.place(i, k)];
        }
    }
}

// Two values are the map x -> a x + b; the op composes two maps, which is not commutative.
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* first = static_cast<unsigned*>(in);
    auto* second = static_cast<unsigned*>(inout);
    for (int i = 0; i < *count; ++i) {
        for (int k = 0; k < layout.parts; k += 2) {
            const std::size_t a = layout.place(i, k), b = layout.place(i, k + 1);
            second[b] += first[b] * second[a];
            second[a] *= first[a];
        }
    }
}

Values contribution(int of_rank) {
    Values all(layout.values());
    for (int i = 0; i < layout.count; ++i) {
        for (int k = 0; k < layout.parts; ++k) {
            all[layout.place(i, k)] = value(of_rank, i, k);
        }
    }
    return all;
}

// Of the ranks from 0 to `last`.
Values expected(MPI_User_function* op, int last) {
    Values all = contribution(last);
    for (int of = last - 1; of >= 0; --of) {
        Values lower = contribution(of);
        op(lower.data(), all.data(), &layout.count, nullptr);
    }
    return all;
}

// Whether the first `count` elements are those from `first` on.
bool equal(const Values& got, const Values& all, int first, int count) {
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < layout.parts; ++k) {
            if (got[layout.place(i, k)] != all[layout.place(first + i, k)]) {
                return false;
            }
        }
    }
    return true;
}

void reduce_all_ways(MPI_Datatype type, MPI_User_function* function, bool commutes) {
    MPI_Op op;
    MPI_Op_create(function, commutes, &op);
    const Values mine = contribution(rank), all = expected(function, size - 1);
    const int count = layout.count;
    Values result(layout.values());
    CHECK_OK(MPI_Allreduce(mine.data(), result.data(), count, type, op, MPI_COMM_WORLD));
    CHECK(equal(result, all, 0, count));
    result = mine;
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, result.data(), count, type, op, MPI_COMM_WORLD));
    CHECK(equal(result, all, 0, count));
    for (int root = 0; root<size; root += size> 1 ? size - 1 : 1) {
        CHECK_OK(MPI_Reduce(mine.data(), result.data(), count, type, op, root, MPI_COMM_WORLD));
        CHECK(rank != root || equal(result, all, 0, count));
    }
    CHECK_OK(MPI_Scan(mine.data(), result.data(), count, type, op, MPI_COMM_WORLD));
    CHECK(equal(result, expected(function, rank), 0, count));
    CHECK_OK(MPI_Exscan(mine.data(), result.data(), count, type, op, MPI_COMM_WORLD));
    CHECK(rank == 0 || equal(result, expected(function, rank - 1), 0, count));

    // The last rank gets most.
    std::vector<int> counts(std::size_t(size), count >= size ? 1 : 0);
    counts.back() = count - std::accumulate(counts.begin(), counts.end() - 1, 0);
    const int first = std::accumulate(counts.begin(), counts.begin() + rank, 0);
    CHECK_OK(MPI_Reduce_scatter(mine.data(), result.data(), counts.data(), type, op, MPI_COMM_WORLD));
    CHECK(equal(result, all, first, counts[std::size_t(rank)]));
    if (count % size == 0) {
        CHECK_OK(MPI_Reduce_scatter_block(mine.data(), result.data(), count / size, type, op, MPI_COMM_WORLD));
        CHECK(equal(result, all, rank * (count / size), count / size));
    }
    MPI_Op_free(&op);
}

void reduce(const Layout& of, MPI_Datatype parts, MPI_Aint extent) {
    MPI_Datatype type;
    MPI_Type_create_resized(parts, 0, extent, &type);
    MPI_Type_commit(&type);
    layout = of;
    reduce_all_ways(type, add, true);
    reduce_all_ways(type, compose, false);
    MPI_Type_free(&type);
    MPI_Type_free(&parts);
}

void columns(int count, int rows) {
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, count, MPI_UNSIGNED, &column);
    reduce({count, rows, 1, count}, column, MPI_Aint(sizeof(unsigned)));
}

void extent_zero(int parts) {
    MPI_Datatype all;
    MPI_Type_contiguous(parts, MPI_UNSIGNED, &all);
    reduce({1, parts, 0, 1}, all, 0);
}

struct Item {
    float not_sent;
    float a;
    double b;
};

bool aligned = true;

void add_items(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto is_aligned = [](void* address) {
        return reinterpret_cast<std::uintptr_t>(address) % alignof(Item) == 0;
    };
    aligned = aligned && is_aligned(in) && is_aligned(inout);
    for (int i = 0; i < *count; ++i) {
        static_cast<Item*>(inout)[i].a += static_cast<Item*>(in)[i].a;
        static_cast<Item*>(inout)[i].b += static_cast<Item*>(in)[i].b;
    }
}

// What the op gets is aligned as the structure is.
void structures(int count) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {offsetof(Item, a), offsetof(Item, b)};
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE};
    MPI_Datatype members, type;
    MPI_Type_create_struct(2, lengths, places, types, &members);
    MPI_Type_create_resized(members, 0, sizeof(Item), &type);
    MPI_Type_commit(&type);
    MPI_Op op;
    MPI_Op_create(add_items, 0, &op);
    const std::vector<Item> mine(std::size_t(count * size), Item{0, 1, 2});
    std::vector<Item> result(mine.size());
    const int all = count * size;
    CHECK_OK(MPI_Allreduce(mine.data(), result.data(), all, type, op, MPI_COMM_WORLD));
    CHECK(result.back().b == 2 * size);
    CHECK_OK(MPI_Reduce(mine.data(), result.data(), all, type, op, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Scan(mine.data(), result.data(), all, type, op, MPI_COMM_WORLD));
    CHECK(result.back().b == 2 * (rank + 1));
    CHECK_OK(MPI_Reduce_scatter_block(mine.data(), result.data(), count, type, op, MPI_COMM_WORLD));
    CHECK(result.front().a == float(size));
    CHECK(aligned);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&members);
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (const int count : {2, 8, 12, 1200}) {
        columns(count, 2);
        columns(count, 6);
        extent_zero(count);
        structures(count);
    }
    return finish();
}
