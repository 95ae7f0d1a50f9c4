// SPDX-License-Identifier: BSD-3-Clause
// Every blocking collective with MPI_Count against its twin with int on the same data: result and guard are equal.
#include "tests/mpi_check/check.h"

#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

using Ints = std::vector<int>;

constexpr int guard = -7;

struct Comm {
    MPI_Comm comm;
    int rank = 0;
    int size = 0;
    explicit Comm(MPI_Comm comm)
        : comm(comm) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
    }
};

Ints own(const Comm& c, int count) {
    Ints v(std::size_t(count) + 1, guard);
    for (int i = 0; i < count; ++i) {
        v[std::size_t(i)] = 1000 * (c.rank + 1) + i;
    }
    return v;
}

Ints guarded(int count) {
    return Ints(std::size_t(count) + 1, guard);
}

// Both results, and that something was received at all.
void same(const char* what, const Ints& plain, const Ints& large, bool changes) {
    if (plain != large || (changes && plain[0] == guard)) {
        std::fprintf(stderr, "%s_c differs from %s: first element %d and %d\n", what, what, large[0], plain[0]);
        ++check_failures;
    }
}

// What rank r has in a vector collective: r % 3 + 1 times `count`, with a gap of one before each block.
struct Uneven {
    Ints counts;
    Ints displacements;
    std::vector<MPI_Count> large_counts;
    std::vector<MPI_Aint> large_displacements;
    int total = 0;
    Uneven(int size, int count) {
        for (int r = 0; r < size; ++r) {
            counts.push_back((r % 3 + 1) * count);
            displacements.push_back(total);
            total += counts.back() + 1;
        }
        large_counts.assign(counts.begin(), counts.end());
        large_displacements.assign(displacements.begin(), displacements.end());
    }
};

void rooted(const Comm& c, int count, int root) {
    const bool here = c.rank == root;
    const Ints mine = own(c, count);
    Ints plain = here ? mine : guarded(count);
    Ints large = plain;
    MPI_Bcast(plain.data(), count, MPI_INT, root, c.comm);
    MPI_Bcast_c(large.data(), count, MPI_INT, root, c.comm);
    same("MPI_Bcast", plain, large, true);

    Ints all = guarded(count * c.size);
    Ints all_large = all;
    MPI_Gather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, root, c.comm);
    MPI_Gather_c(mine.data(), count, MPI_INT, all_large.data(), count, MPI_INT, root, c.comm);
    same("MPI_Gather", all, all_large, here);

    plain = large = guarded(count);
    MPI_Scatter(all.data(), count, MPI_INT, plain.data(), count, MPI_INT, root, c.comm);
    MPI_Scatter_c(all.data(), count, MPI_INT, large.data(), count, MPI_INT, root, c.comm);
    same("MPI_Scatter", plain, large, true);

    plain = large = guarded(count);
    MPI_Reduce(mine.data(), plain.data(), count, MPI_INT, MPI_SUM, root, c.comm);
    MPI_Reduce_c(mine.data(), large.data(), count, MPI_INT, MPI_SUM, root, c.comm);
    same("MPI_Reduce", plain, large, here);
}

void rooted_vectors(const Comm& c, int count, int root) {
    const Uneven u(c.size, count);
    const int mine_count = u.counts[std::size_t(c.rank)];
    const Ints mine = own(c, mine_count);
    Ints all = guarded(u.total);
    Ints all_large = all;
    MPI_Gatherv(
        mine.data(), mine_count, MPI_INT, all.data(), u.counts.data(), u.displacements.data(), MPI_INT, root, c.comm);
    MPI_Gatherv_c(mine.data(), mine_count, MPI_INT, all_large.data(), u.large_counts.data(),
        u.large_displacements.data(), MPI_INT, root, c.comm);
    same("MPI_Gatherv", all, all_large, c.rank == root);

    Ints plain = guarded(mine_count);
    Ints large = plain;
    MPI_Scatterv(
        all.data(), u.counts.data(), u.displacements.data(), MPI_INT, plain.data(), mine_count, MPI_INT, root, c.comm);
    MPI_Scatterv_c(all.data(), u.large_counts.data(), u.large_displacements.data(), MPI_INT, large.data(), mine_count,
        MPI_INT, root, c.comm);
    same("MPI_Scatterv", plain, large, true);
}

void to_all(const Comm& c, int count) {
    const Ints mine = own(c, count * c.size);
    Ints plain = guarded(count * c.size);
    Ints large = plain;
    MPI_Allgather(mine.data(), count, MPI_INT, plain.data(), count, MPI_INT, c.comm);
    MPI_Allgather_c(mine.data(), count, MPI_INT, large.data(), count, MPI_INT, c.comm);
    same("MPI_Allgather", plain, large, true);

    plain = large = guarded(count * c.size);
    MPI_Alltoall(mine.data(), count, MPI_INT, plain.data(), count, MPI_INT, c.comm);
    MPI_Alltoall_c(mine.data(), count, MPI_INT, large.data(), count, MPI_INT, c.comm);
    same("MPI_Alltoall", plain, large, true);

    Ints counts(std::size_t(c.size), count);
    Ints displacements;
    Ints bytes;
    for (int r = 0; r < c.size; ++r) {
        displacements.push_back(r * count);
        bytes.push_back(r * count * int(sizeof(int)));
    }
    const std::vector<MPI_Count> large_counts(counts.begin(), counts.end());
    const std::vector<MPI_Aint> large_displacements(displacements.begin(), displacements.end());
    const std::vector<MPI_Aint> large_bytes(bytes.begin(), bytes.end());
    const std::vector<MPI_Datatype> types(std::size_t(c.size), MPI_INT);
    plain = large = guarded(count * c.size);
    MPI_Alltoallv(mine.data(), counts.data(), displacements.data(), MPI_INT, plain.data(), counts.data(),
        displacements.data(), MPI_INT, c.comm);
    MPI_Alltoallv_c(mine.data(), large_counts.data(), large_displacements.data(), MPI_INT, large.data(),
        large_counts.data(), large_displacements.data(), MPI_INT, c.comm);
    same("MPI_Alltoallv", plain, large, true);

    plain = large = guarded(count * c.size);
    MPI_Alltoallw(mine.data(), counts.data(), bytes.data(), types.data(), plain.data(), counts.data(), bytes.data(),
        types.data(), c.comm);
    MPI_Alltoallw_c(mine.data(), large_counts.data(), large_bytes.data(), types.data(), large.data(),
        large_counts.data(), large_bytes.data(), types.data(), c.comm);
    same("MPI_Alltoallw", plain, large, true);
}

void reductions(const Comm& c, int count) {
    const Ints mine = own(c, count);
    Ints plain = guarded(count);
    Ints large = plain;
    MPI_Allreduce(mine.data(), plain.data(), count, MPI_INT, MPI_SUM, c.comm);
    MPI_Allreduce_c(mine.data(), large.data(), count, MPI_INT, MPI_SUM, c.comm);
    same("MPI_Allreduce", plain, large, true);

    plain = large = guarded(count);
    MPI_Scan(mine.data(), plain.data(), count, MPI_INT, MPI_SUM, c.comm);
    MPI_Scan_c(mine.data(), large.data(), count, MPI_INT, MPI_SUM, c.comm);
    same("MPI_Scan", plain, large, true);

    plain = large = guarded(count);
    MPI_Exscan(mine.data(), plain.data(), count, MPI_INT, MPI_SUM, c.comm);
    MPI_Exscan_c(mine.data(), large.data(), count, MPI_INT, MPI_SUM, c.comm);
    same("MPI_Exscan", plain, large, c.rank > 0);

    const Ints input = own(c, count * c.size);
    plain = large = guarded(count);
    MPI_Reduce_scatter_block(input.data(), plain.data(), count, MPI_INT, MPI_SUM, c.comm);
    MPI_Reduce_scatter_block_c(input.data(), large.data(), count, MPI_INT, MPI_SUM, c.comm);
    same("MPI_Reduce_scatter_block", plain, large, true);

    const Uneven u(c.size, count);
    const Ints uneven = own(c, u.total);
    plain = large = guarded(u.counts[std::size_t(c.rank)]);
    MPI_Reduce_scatter(uneven.data(), plain.data(), u.counts.data(), MPI_INT, MPI_SUM, c.comm);
    MPI_Reduce_scatter_c(uneven.data(), large.data(), u.large_counts.data(), MPI_INT, MPI_SUM, c.comm);
    same("MPI_Reduce_scatter", plain, large, true);
}

// An operation of the user's that is given an MPI_Count: where it is called, the length is one.
MPI_Count elements_seen;

void add_and_count(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
    CHECK(*type == MPI_INT);
    elements_seen += *length;
    for (MPI_Count i = 0; i < *length; ++i) {
        static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
    }
}

void large_operation(const Comm& c, int count) {
    MPI_Op op = MPI_OP_NULL;
    int commutative = 0;
    CHECK(MPI_Op_create_c(add_and_count, 1, &op) == MPI_SUCCESS);
    MPI_Op_commutative(op, &commutative);
    CHECK(commutative == 1);
    const Ints mine = own(c, count);
    Ints plain = guarded(count);
    Ints large = plain;
    elements_seen = 0;
    MPI_Allreduce(mine.data(), plain.data(), count, MPI_INT, MPI_SUM, c.comm);
    MPI_Allreduce_c(mine.data(), large.data(), count, MPI_INT, op, c.comm);
    same("MPI_Allreduce with MPI_Op_create", plain, large, true);
    long long all_seen = elements_seen;
    MPI_Allreduce(MPI_IN_PLACE, &all_seen, 1, MPI_LONG_LONG, MPI_SUM, c.comm);
    CHECK(c.size == 1 ? all_seen == 0 : all_seen >= count * (c.size - 1));
    CHECK(MPI_Reduce_local(mine.data(), large.data(), count, MPI_INT, op) == MPI_SUCCESS);
    CHECK(large[0] == plain[0] + mine[0]);
    CHECK(MPI_Op_free(&op) == MPI_SUCCESS && op == MPI_OP_NULL);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const Comm world(MPI_COMM_WORLD);
    for (const int count : {1, 5, 3000}) {
        for (int root = 0; root < world.size; ++root) {
            rooted(world, count, root);
            rooted_vectors(world, count, root);
        }
        to_all(world, count);
        reductions(world, count);
        large_operation(world, count);
    }
    MPI_Finalize();
    return failures();
}
