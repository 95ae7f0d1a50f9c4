// SPDX-License-Identifier: BSD-3-Clause
// The functions of coll/tuned with counts below, at and above the thresholds of decision tables, with roots at the
// begin, in the middle and at the end, with datatypes that have gaps, in place, and with an op that does not commute.
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <functional>
#include <vector>

namespace {

int rank = 0;
int ranks = 0;

// Element i of what `from` gives to `to`.
int value(int from, int to, int i) {
    return (from + 1) * 10007 + to * 101 + i % 8191;
}

std::vector<int> roots() {
    std::vector<int> result{0};
    if (ranks > 1) {
        result.push_back(ranks - 1);
    }
    if (ranks > 2) {
        result.push_back(ranks / 2);
    }
    return result;
}

// A buffer of ints, of which every `stride`-th one is data; the others must stay as they are.
class Buffer {
public:
    Buffer(int count, int stride)
        : _count(count),
          _stride(stride),
          _ints(std::size_t(count) * std::size_t(stride) + 1, -1) {
        if (stride == 1) {
            MPI_Type_contiguous(1, MPI_INT, &_type);
        } else {
            MPI_Type_create_resized(MPI_INT, 0, MPI_Aint(stride * int(sizeof(int))), &_type);
        }
        MPI_Type_commit(&_type);
    }
    ~Buffer() { MPI_Type_free(&_type); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    int* data() { return _ints.data(); }
    MPI_Datatype type() const { return _type; }
    void fill(const std::function<int(int)>& content, int first = 0, int end = -1) {
        for (int i = first; i < (end < 0 ? _count : end); ++i) {
            _ints[std::size_t(i) * std::size_t(_stride)] = content(i);
        }
    }
    void check(const char* what, const std::function<int(int)>& wanted) const {
        bool right = true;
        for (std::size_t i = 0; i < _ints.size(); ++i) {
            const bool data = i % std::size_t(_stride) == 0 && i + 1 < _ints.size();
            const int expected = data ? wanted(int(i) / _stride) : -1;
            if (_ints[i] != expected && right) {
                right = false;
                std::fprintf(stderr, "%s: rank %d of %d, count %d, stride %d: element %zu is %d, not %d\n", what, rank,
                    ranks, _count, _stride, i, _ints[i], expected);
            }
        }
        CHECK_TEXT(right, what);
    }

private:
    int _count;
    int _stride;
    std::vector<int> _ints;
    MPI_Datatype _type = MPI_DATATYPE_NULL;
};

void test_bcast(int count) {
    for (const int root : roots()) {
        // The layout differs from rank to rank, the signature does not.
        Buffer buffer(count, rank % 2 + 1);
        const auto content = [&](int i) { return value(root, 0, i); };
        if (rank == root) {
            buffer.fill(content);
        }
        CHECK_OK(MPI_Bcast(buffer.data(), count, buffer.type(), root, MPI_COMM_WORLD));
        buffer.check("bcast", content);
    }
}

void test_gather_scatter(int count, bool in_place) {
    for (const int root : roots()) {
        const bool here = rank == root;
        Buffer all(here ? count * ranks : 0, 2);
        Buffer mine(count, 1);
        const auto own = [&](int i) { return value(rank, 0, i); };
        const auto whole = [&](int i) { return value(i / count, 0, i % count); };
        mine.fill(own);
        if (here && in_place) {
            all.fill(whole, rank * count, (rank + 1) * count);
        }
        CHECK_OK(MPI_Gather(here && in_place ? MPI_IN_PLACE : mine.data(), count, mine.type(), all.data(), count,
            all.type(), root, MPI_COMM_WORLD));
        if (here) {
            all.check("gather", whole);
        }
        Buffer back(count, 1);
        CHECK_OK(MPI_Scatter(all.data(), count, all.type(), here && in_place ? MPI_IN_PLACE : back.data(), count,
            back.type(), root, MPI_COMM_WORLD));
        if (!here || !in_place) {
            back.check("scatter", own);
        }
    }
}

void test_allgather_alltoall(int count, int stride, bool in_place) {
    Buffer mine(count, 1);
    Buffer all(count * ranks, stride);
    mine.fill([&](int i) { return value(rank, 0, i); });
    const auto whole = [&](int i) { return value(i / count, 0, i % count); };
    if (in_place) {
        all.fill(whole, rank * count, (rank + 1) * count);
    }
    CHECK_OK(MPI_Allgather(
        in_place ? MPI_IN_PLACE : mine.data(), count, mine.type(), all.data(), count, all.type(), MPI_COMM_WORLD));
    all.check("allgather", whole);

    Buffer out(count * ranks, 1);
    Buffer in(count * ranks, stride);
    const auto sent = [&](int i) { return value(rank, i / count, i % count); };
    out.fill(sent);
    if (in_place) {
        in.fill(sent);
    }
    CHECK_OK(MPI_Alltoall(
        in_place ? MPI_IN_PLACE : out.data(), count, out.type(), in.data(), count, in.type(), MPI_COMM_WORLD));
    in.check("alltoall", [&](int i) { return value(i / count, rank, i % count); });
}

int sum(int i) {
    int result = 0;
    for (int r = 0; r < ranks; ++r) {
        result += value(r, 0, i);
    }
    return result;
}

void test_sums(int count, bool in_place) {
    const auto own = [&](int i) { return value(rank, 0, i); };
    Buffer mine(count, 1);
    mine.fill(own);
    for (const int root : roots()) {
        const bool here = rank == root;
        Buffer result(here ? count : 0, 1);
        if (here && in_place) {
            result.fill(own);
        }
        CHECK_OK(MPI_Reduce(here && in_place ? MPI_IN_PLACE : mine.data(), result.data(), count, MPI_INT, MPI_SUM, root,
            MPI_COMM_WORLD));
        if (here) {
            result.check("reduce", sum);
        }
    }
    Buffer result(count, 1);
    if (in_place) {
        result.fill(own);
    }
    CHECK_OK(
        MPI_Allreduce(in_place ? MPI_IN_PLACE : mine.data(), result.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    result.check("allreduce", sum);
    mine.check("contribution", own);
}

// Maps x -> a x + b modulo a prime: their composition is associative and does not commute.
struct Map {
    int a;
    int b;
};
constexpr int prime = 9973;
Map composed(Map first, Map then) {
    return {then.a * first.a % prime, (then.a * first.b + then.b) % prime};
}
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* first = static_cast<const Map*>(in);
    auto* then = static_cast<Map*>(inout);
    for (int i = 0; i < *count; ++i) {
        then[i] = composed(first[i], then[i]);
    }
}
Map map_of(int r, int i) {
    return {2 + (r * 31 + i) % 997, 1 + (r * 7 + i) % 991};
}

void test_order(int count, bool in_place, MPI_Datatype pair, MPI_Op op) {
    std::vector<Map> mine(std::size_t(count) + 1);
    std::vector<Map> wanted(std::size_t(count) + 1);
    for (int i = 0; i < count; ++i) {
        mine[std::size_t(i)] = map_of(rank, i);
        wanted[std::size_t(i)] = map_of(0, i);
        for (int r = 1; r < ranks; ++r) {
            wanted[std::size_t(i)] = composed(wanted[std::size_t(i)], map_of(r, i));
        }
    }
    const auto check = [&](const char* what, const std::vector<Map>& result) {
        bool right = true;
        for (std::size_t i = 0; i < std::size_t(count); ++i) {
            right = right && result[i].a == wanted[i].a && result[i].b == wanted[i].b;
        }
        CHECK_TEXT(right, what);
    };
    for (const int root : roots()) {
        const bool here = rank == root;
        std::vector<Map> result = mine;
        CHECK_OK(MPI_Reduce(
            here && in_place ? MPI_IN_PLACE : mine.data(), result.data(), count, pair, op, root, MPI_COMM_WORLD));
        if (here) {
            check("reduce in rank order", result);
        }
    }
    std::vector<Map> result = mine;
    CHECK_OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : mine.data(), result.data(), count, pair, op, MPI_COMM_WORLD));
    check("allreduce in rank order", result);
}

// Numbers of ints: small ones, and those about the sizes at which algorithms change.
std::vector<int> counts() {
    std::vector<int> result{0, 1, 2, ranks - 1, ranks, ranks + 1};
    for (int bytes = 64; bytes <= 128 << 10; bytes *= bytes < 1024 ? 4 : 2) {
        const int count = bytes / int(sizeof(int));
        result.insert(result.end(), {count - 1, count, count + 1});
    }
    return result;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    for (const int count : counts()) {
        test_bcast(count);
        for (const bool in_place : {false, true}) {
            test_gather_scatter(count, in_place);
            test_allgather_alltoall(count, in_place ? 1 : 2, in_place);
            test_sums(count, in_place);
            test_order(count, in_place, pair, op);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    return finish();
}
