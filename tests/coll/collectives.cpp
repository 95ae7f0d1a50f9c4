// SPDX-License-Identifier: BSD-3-Clause
// Every blocking collective against a result computed locally, for several communicators, sizes and roots, with and
// without MPI_IN_PLACE, with a strided datatype and with an operation that does not commute.
#include "tests/mpi_check/check.h"

#include <array>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

struct Comm {
    MPI_Comm comm;
    const char* name;
    int rank = 0;
    int size = 0;
    Comm(MPI_Comm comm, const char* name)
        : comm(comm),
          name(name) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
    }
};

void expect(bool fine, const Comm& c, const char* what, int count, long got, long wanted) {
    if (!fine) {
        std::array<char, 200> text;
        snprintf(text.data(), text.size(), "%s on %s, rank %d of %d, count %d: got %ld, wanted %ld", what, c.name,
            c.rank, c.size, count, got, wanted);
        check_failed(__FILE__, __LINE__, text.data());
    }
}

// The value of element i of rank r.
int value(int r, int i) {
    return 1000 * (r + 1) + i % 997;
}

std::vector<int> own(const Comm& c, int count) {
    std::vector<int> v(std::size_t(count) + 1, -7);
    for (int i = 0; i < count; ++i) {
        v[std::size_t(i)] = value(c.rank, i);
    }
    return v;
}

// Compares `count` elements with wanted(i) and the element behind them with the guard.
void check(
    const Comm& c, const char* what, const std::vector<int>& got, int count, const std::function<int(int)>& wanted) {
    for (int i = 0; i < count; ++i) {
        expect(got[std::size_t(i)] == wanted(i), c, what, count, got[std::size_t(i)], wanted(i));
    }
    expect(got[std::size_t(count)] == -7, c, what, count, got[std::size_t(count)], -7);
}

std::vector<int> guarded(int count) {
    return std::vector<int>(std::size_t(count) + 1, -7);
}

void test_bcast(const Comm& c, int count) {
    for (int root = 0; root < c.size; ++root) {
        auto buffer = c.rank == root ? own(c, count) : guarded(count);
        MPI_Bcast(buffer.data(), count, MPI_INT, root, c.comm);
        check(c, "bcast", buffer, count, [&](int i) { return value(root, i); });
    }
    // Same signature, another layout on each side: every second int of the root, packed elsewhere.
    MPI_Datatype strided;
    MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    auto sparse = guarded(2 * count);
    if (c.rank == 0) {
        for (int i = 0; i < count; ++i) {
            sparse[std::size_t(2 * i)] = value(0, i);
        }
        MPI_Bcast(sparse.data(), 1, strided, 0, c.comm);
    } else {
        auto dense = guarded(count);
        MPI_Bcast(dense.data(), count, MPI_INT, 0, c.comm);
        check(c, "bcast strided", dense, count, [&](int i) { return value(0, i); });
    }
    MPI_Type_free(&strided);
}

void test_gather_scatter(const Comm& c, int count) {
    const int total = count * c.size;
    for (int root = 0; root<c.size; root += c.size> 2 ? 2 : 1) {
        for (const bool in_place : {false, true}) {
            auto mine = own(c, count);
            auto all = guarded(total);
            const bool here = c.rank == root;
            if (here && in_place) {
                std::copy(mine.begin(), mine.begin() + count, all.begin() + c.rank * count);
            }
            MPI_Gather(here && in_place ? MPI_IN_PLACE : mine.data(), count, MPI_INT, here ? all.data() : nullptr,
                count, MPI_INT, root, c.comm);
            if (here) {
                check(c, "gather", all, total, [&](int i) { return value(i / count, i % count); });
            }
            auto back = guarded(count);
            MPI_Scatter(here ? all.data() : nullptr, count, MPI_INT, here && in_place ? MPI_IN_PLACE : back.data(),
                count, MPI_INT, root, c.comm);
            if (!here || !in_place) {
                check(c, "scatter", back, count, [&](int i) { return value(c.rank, i); });
            }
        }
    }
}

// Rank r takes part with r % 3 * count elements, a gap of one before each block.
struct Uneven {
    std::vector<int> counts;
    std::vector<int> displacements;
    int total = 0;
    Uneven(int size, int count) {
        for (int r = 0; r < size; ++r) {
            counts.push_back(r % 3 * count);
            displacements.push_back(total + 1);
            total += counts.back() + 1;
        }
    }
    // What the buffer holds when every rank's block is in place.
    int wanted(int i) const {
        for (std::size_t r = 0; r < counts.size(); ++r) {
            if (i >= displacements[r] && i < displacements[r] + counts[r]) {
                return value(int(r), i - displacements[r]);
            }
        }
        return -7;
    }
};

void test_vector_forms(const Comm& c, int count) {
    const Uneven u(c.size, count);
    const int mine_count = u.counts[std::size_t(c.rank)];
    auto mine = own(c, mine_count);
    const int root = c.size - 1;
    auto all = guarded(u.total);
    MPI_Gatherv(
        mine.data(), mine_count, MPI_INT, all.data(), u.counts.data(), u.displacements.data(), MPI_INT, root, c.comm);
    if (c.rank == root) {
        check(c, "gatherv", all, u.total, [&](int i) { return u.wanted(i); });
    }
    auto back = guarded(mine_count);
    MPI_Scatterv(
        all.data(), u.counts.data(), u.displacements.data(), MPI_INT, back.data(), mine_count, MPI_INT, root, c.comm);
    check(c, "scatterv", back, mine_count, [&](int i) { return value(c.rank, i); });
    all = guarded(u.total);
    MPI_Allgatherv(
        mine.data(), mine_count, MPI_INT, all.data(), u.counts.data(), u.displacements.data(), MPI_INT, c.comm);
    check(c, "allgatherv", all, u.total, [&](int i) { return u.wanted(i); });
    // The large-count twin on the same data.
    const std::vector<MPI_Count> counts(u.counts.begin(), u.counts.end());
    const std::vector<MPI_Aint> displacements(u.displacements.begin(), u.displacements.end());
    all = guarded(u.total);
    MPI_Allgatherv_c(
        mine.data(), mine_count, MPI_INT, all.data(), counts.data(), displacements.data(), MPI_INT, c.comm);
    check(c, "allgatherv_c", all, u.total, [&](int i) { return u.wanted(i); });
}

void test_allgather_alltoall(const Comm& c, int count) {
    const int total = count * c.size;
    auto mine = own(c, count);
    auto all = guarded(total);
    MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, c.comm);
    check(c, "allgather", all, total, [&](int i) { return value(i / count, i % count); });
    auto in_place = guarded(total);
    std::copy(mine.begin(), mine.begin() + count, in_place.begin() + c.rank * count);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_place.data(), count, MPI_INT, c.comm);
    check(c, "allgather in place", in_place, total, [&](int i) { return value(i / count, i % count); });

    const auto to = [&](int from, int dest, int i) { return value(from, i) * 64 + dest; };
    auto out = guarded(total);
    for (int i = 0; i < total; ++i) {
        out[std::size_t(i)] = to(c.rank, i / count, i % count);
    }
    auto in = guarded(total);
    MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, c.comm);
    const auto wanted = [&](int i) { return to(i / count, c.rank, i % count); };
    check(c, "alltoall", in, total, wanted);
    auto same = out;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, same.data(), count, MPI_INT, c.comm);
    check(c, "alltoall in place", same, total, wanted);

    std::vector<int> counts(std::size_t(c.size), count);
    std::vector<int> displacements;
    std::vector<int> bytes;
    std::vector<MPI_Datatype> types(std::size_t(c.size), MPI_INT);
    for (int r = 0; r < c.size; ++r) {
        displacements.push_back(r * count);
        bytes.push_back(r * count * int(sizeof(int)));
    }
    in = guarded(total);
    MPI_Alltoallv(out.data(), counts.data(), displacements.data(), MPI_INT, in.data(), counts.data(),
        displacements.data(), MPI_INT, c.comm);
    check(c, "alltoallv", in, total, wanted);
    in = guarded(total);
    MPI_Alltoallw(out.data(), counts.data(), bytes.data(), types.data(), in.data(), counts.data(), bytes.data(),
        types.data(), c.comm);
    check(c, "alltoallw", in, total, wanted);
    same = out;
    MPI_Alltoallw(
        MPI_IN_PLACE, nullptr, nullptr, nullptr, same.data(), counts.data(), bytes.data(), types.data(), c.comm);
    check(c, "alltoallw in place", same, total, wanted);
}

int sum_below(int ranks, int i) {
    int sum = 0;
    for (int r = 0; r < ranks; ++r) {
        sum += value(r, i);
    }
    return sum;
}

void test_reductions(const Comm& c, int count) {
    const auto sum_of_all = [&](int i) { return sum_below(c.size, i); };
    auto mine = own(c, count);
    for (int root = 0; root < c.size; ++root) {
        auto result = c.rank == root ? guarded(count) : std::vector<int>{-7};
        MPI_Reduce(mine.data(), result.data(), count, MPI_INT, MPI_SUM, root, c.comm);
        if (c.rank == root) {
            check(c, "reduce", result, count, sum_of_all);
        }
        auto in_place = mine;
        const bool here = c.rank == root;
        MPI_Reduce(here ? MPI_IN_PLACE : in_place.data(), here ? in_place.data() : nullptr, count, MPI_INT, MPI_SUM,
            root, c.comm);
        check(c, "reduce in place", in_place, count, [&](int i) { return here ? sum_of_all(i) : value(c.rank, i); });
    }
    auto result = guarded(count);
    MPI_Allreduce(mine.data(), result.data(), count, MPI_INT, MPI_SUM, c.comm);
    check(c, "allreduce", result, count, sum_of_all);
    result = mine;
    MPI_Allreduce(MPI_IN_PLACE, result.data(), count, MPI_INT, MPI_MAX, c.comm);
    check(c, "allreduce max in place", result, count, [&](int i) { return value(c.size - 1, i); });
    result = guarded(count);
    MPI_Scan(mine.data(), result.data(), count, MPI_INT, MPI_SUM, c.comm);
    check(c, "scan", result, count, [&](int i) { return sum_below(c.rank + 1, i); });
    result = mine;
    MPI_Scan(MPI_IN_PLACE, result.data(), count, MPI_INT, MPI_SUM, c.comm);
    check(c, "scan in place", result, count, [&](int i) { return sum_below(c.rank + 1, i); });
    result = guarded(count);
    MPI_Exscan(mine.data(), result.data(), count, MPI_INT, MPI_SUM, c.comm);
    check(c, "exscan", result, count, [&](int i) { return c.rank == 0 ? -7 : sum_below(c.rank, i); });
}

void test_reduce_scatter(const Comm& c, int count) {
    const Uneven u(c.size, count);
    int total = 0;
    int first = 0;
    for (int r = 0; r < c.size; ++r) {
        first = r == c.rank ? total : first;
        total += u.counts[std::size_t(r)];
    }
    auto input = own(c, total);
    auto result = guarded(u.counts[std::size_t(c.rank)]);
    MPI_Reduce_scatter(input.data(), result.data(), u.counts.data(), MPI_INT, MPI_SUM, c.comm);
    check(c, "reduce_scatter", result, u.counts[std::size_t(c.rank)],
        [&](int i) { return sum_below(c.size, first + i); });
    MPI_Reduce_scatter(MPI_IN_PLACE, input.data(), u.counts.data(), MPI_INT, MPI_SUM, c.comm);
    for (int i = 0; i < u.counts[std::size_t(c.rank)]; ++i) {
        expect(input[std::size_t(i)] == sum_below(c.size, first + i), c, "reduce_scatter in place", count,
            input[std::size_t(i)], sum_below(c.size, first + i));
    }
    input = own(c, count * c.size);
    result = guarded(count);
    MPI_Reduce_scatter_block(input.data(), result.data(), count, MPI_INT, MPI_SUM, c.comm);
    check(c, "reduce_scatter_block", result, count, [&](int i) { return sum_below(c.size, c.rank * count + i); });
    MPI_Reduce_scatter_block(MPI_IN_PLACE, input.data(), count, MPI_INT, MPI_SUM, c.comm);
    for (int i = 0; i < count; ++i) {
        expect(input[std::size_t(i)] == sum_below(c.size, c.rank * count + i), c, "reduce_scatter_block in place",
            count, input[std::size_t(i)], sum_below(c.size, c.rank * count + i));
    }
}

// Composition of affine maps x -> a*x + b modulo a prime: associative, does not commute.
struct Affine {
    int a;
    int b;
};
constexpr int prime = 9973;
Affine after(Affine first, Affine then) {
    return {then.a * first.a % prime, (then.a * first.b + then.b) % prime};
}
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* first = static_cast<const Affine*>(in);
    auto* then = static_cast<Affine*>(inout);
    for (int i = 0; i < *count; ++i) {
        then[i] = after(first[i], then[i]);
    }
}
Affine map_of(int r, int i) {
    return {2 + (r * 31 + i) % 997, 1 + (r * 7 + i) % 991};
}
Affine composed(int from, int to, int i) {
    Affine result = map_of(from, i);
    for (int r = from + 1; r < to; ++r) {
        result = after(result, map_of(r, i));
    }
    return result;
}

void test_order(const Comm& c, int count) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    std::vector<Affine> mine(std::size_t(count) * std::size_t(c.size));
    for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = map_of(c.rank, int(i));
    }
    std::vector<Affine> result(mine.size(), Affine{-7, -7});
    const auto same = [&](const char* what, int elements, int from, int to, int shift) {
        for (int i = 0; i < elements; ++i) {
            const Affine wanted = composed(from, to, i + shift);
            const Affine got = result[std::size_t(i)];
            expect(got.a == wanted.a && got.b == wanted.b, c, what, count, got.a, wanted.a);
        }
    };
    MPI_Allreduce(mine.data(), result.data(), count, pair, op, c.comm);
    same("allreduce ordered", count, 0, c.size, 0);
    for (int root = 0; root<c.size; root += c.size> 2 ? 2 : 1) {
        result.assign(mine.size(), Affine{-7, -7});
        MPI_Reduce(mine.data(), result.data(), count, pair, op, root, c.comm);
        if (c.rank == root) {
            same("reduce ordered", count, 0, c.size, 0);
        }
    }
    MPI_Scan(mine.data(), result.data(), count, pair, op, c.comm);
    same("scan ordered", count, 0, c.rank + 1, 0);
    if (c.rank > 0) {
        MPI_Exscan(mine.data(), result.data(), count, pair, op, c.comm);
        same("exscan ordered", count, 0, c.rank, 0);
    } else {
        MPI_Exscan(mine.data(), result.data(), count, pair, op, c.comm);
    }
    MPI_Reduce_scatter_block(mine.data(), result.data(), count, pair, op, c.comm);
    same("reduce_scatter_block ordered", count, 0, c.size, c.rank * count);
    const std::vector<int> counts(std::size_t(c.size), count);
    MPI_Reduce_scatter(mine.data(), result.data(), counts.data(), pair, op, c.comm);
    same("reduce_scatter ordered", count, 0, c.size, c.rank * count);
    result = mine;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, result.data(), count, pair, op, c.comm);
    same("reduce_scatter_block ordered in place", count, 0, c.size, c.rank * count);
    // The result of the last rank is longer than what stands before its part, so the two overlap.
    std::vector<int> rising(std::size_t(c.size), 0);
    rising.front() = count / 4;
    rising.back() += count - count / 4;
    result = mine;
    MPI_Reduce_scatter(MPI_IN_PLACE, result.data(), rising.data(), pair, op, c.comm);
    same("reduce_scatter ordered in place", rising[std::size_t(c.rank)], 0, c.size, c.rank == 0 ? 0 : count / 4);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

// The checks of each element take much longer under the address sanitizer. 20,000 bytes are still in several fragments;
// thresholds.cpp has more.
#ifdef __SANITIZE_ADDRESS__
constexpr int largest = 5000;
#else
constexpr int largest = 20000;
#endif

void test_all(const Comm& c) {
    for (const int count : {1, 3, 300, largest}) {
        test_bcast(c, count);
        test_gather_scatter(c, count);
        test_vector_forms(c, count);
        test_allgather_alltoall(c, count);
        test_reductions(c, count);
        test_reduce_scatter(c, count);
        MPI_Barrier(c.comm);
    }
    test_order(c, 5);
}

// No rank leaves MPI_Barrier before the last rank has entered it. All ranks are on one node here and share its
// monotonic clock.
void test_barrier(const Comm& c) {
    for (int late = 0; late < c.size; ++late) {
        if (c.rank == late) {
            const double until = MPI_Wtime() + 0.002;
            while (MPI_Wtime() < until) {
            }
        }
        const double entered = MPI_Wtime();
        MPI_Barrier(c.comm);
        const double left = MPI_Wtime();
        double last_entered = 0;
        MPI_Allreduce(&entered, &last_entered, 1, MPI_DOUBLE, MPI_MAX, c.comm);
        expect(left >= last_entered, c, "barrier left early (us)", late, long((left - last_entered) * 1e6), 0);
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const Comm world(MPI_COMM_WORLD, "world");
    test_all(world);
    test_barrier(world);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &reversed);
    test_all(Comm(reversed, "reversed world"));
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, world.rank, &half);
    test_all(Comm(half, "odd or even ranks"));
    test_all(Comm(MPI_COMM_SELF, "self"));
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    return finish();
}
