// SPDX-License-Identifier: BSD-3-Clause
// Blocking, nonblocking and persistent collectives whose members are threads, and communicators derived from a thread
// communicator: dup, split, create, create_group, topologies.
#include "tests/threadcomm/region.h"

#include <numeric>

namespace {

int sum_of_ranks(int size) {
    return size * (size - 1) / 2;
}

void blocking(MPI_Comm comm, int rank, int size) {
    for (const int count : {1, 100, 5000}) {
        std::vector<int> in(std::size_t(count), rank), out(std::size_t(count), -1);
        for (int root = 0; root < size; ++root) {
            std::vector<int> data(std::size_t(count), rank == root ? root + 7 : -1);
            CHECK_OK(MPI_Bcast(data.data(), count, MPI_INT, root, comm));
            CHECK_EQUAL(data[std::size_t(count) - 1], root + 7);
            CHECK_OK(MPI_Reduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, root, comm));
            CHECK(rank != root || out[std::size_t(count) - 1] == sum_of_ranks(size));
        }
        CHECK_OK(MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm));
        CHECK_EQUAL(out[std::size_t(count) - 1], sum_of_ranks(size));
        CHECK_OK(MPI_Scan(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm));
        CHECK_EQUAL(out[0], rank * (rank + 1) / 2);
        std::vector<int> all(std::size_t(count * size), -1), back(std::size_t(count * size), -1);
        CHECK_OK(MPI_Allgather(in.data(), count, MPI_INT, all.data(), count, MPI_INT, comm));
        for (int i = 0; i < size; ++i) {
            CHECK_EQUAL(all[std::size_t(i * count)], i);
        }
        std::fill(all.begin(), all.end(), rank);
        CHECK_OK(MPI_Alltoall(all.data(), count, MPI_INT, back.data(), count, MPI_INT, comm));
        for (int i = 0; i < size; ++i) {
            CHECK_EQUAL(back[std::size_t(i * count)], i);
        }
        std::fill(all.begin(), all.end(), rank);
        CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, MPI_INT, comm));
        for (int i = 0; i < size; ++i) {
            CHECK_EQUAL(all[std::size_t(i * count)], i);
        }
        CHECK_OK(MPI_Gather(in.data(), count, MPI_INT, all.data(), count, MPI_INT, size - 1, comm));
        CHECK(rank != size - 1 || all[std::size_t((size - 1) * count)] == size - 1);
        CHECK_OK(MPI_Scatter(all.data(), count, MPI_INT, out.data(), count, MPI_INT, size - 1, comm));
        CHECK_EQUAL(out[0], rank);
        CHECK_OK(MPI_Barrier(comm));
    }
}

void nonblocking(MPI_Comm comm, int rank, int size) {
    MPI_Request requests[3];
    int sum = -1, word = rank == 0 ? 42 : -1;
    CHECK_OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
    CHECK_OK(MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &requests[1]));
    CHECK_OK(MPI_Ibarrier(comm, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(sum, sum_of_ranks(size));
    CHECK_EQUAL(word, 42);
    MPI_Request persistent;
    int value = 0;
    CHECK_OK(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent));
    for (int round = 0; round < 5; ++round) {
        value = rank + round;
        CHECK_OK(MPI_Start(&persistent));
        CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        CHECK_EQUAL(sum, sum_of_ranks(size) + size * round);
    }
    CHECK_OK(MPI_Request_free(&persistent));
}

void check(MPI_Comm comm) {
    int rank = -1, size = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    blocking(comm, rank, size);
    nonblocking(comm, rank, size);
}

// A message of one communicator is not received on another one.
void contexts(const Here& here, MPI_Comm other) {
    const int dest = (here.rank + 1) % here.size, source = (here.rank + here.size - 1) % here.size;
    int a = 1, b = 2, got = 0;
    MPI_Request requests[2];
    CHECK_OK(MPI_Isend(&a, 1, MPI_INT, dest, 0, here.comm, &requests[0]));
    CHECK_OK(MPI_Isend(&b, 1, MPI_INT, dest, 0, other, &requests[1]));
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, source, 0, other, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, 2);
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, source, 0, here.comm, MPI_STATUS_IGNORE));
    CHECK_EQUAL(got, 1);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

void derived(const Here& here) {
    MPI_Comm dup, half, again;
    int result = -1, size = -1, rank = -1;
    CHECK_OK(MPI_Comm_dup(here.comm, &dup));
    CHECK_OK(MPI_Comm_compare(here.comm, dup, &result));
    CHECK_EQUAL(result, MPI_CONGRUENT);
    contexts(here, dup);
    check(dup);
    CHECK_OK(MPI_Comm_split(dup, here.rank % 2, -here.rank, &half));
    CHECK_OK(MPI_Comm_size(half, &size));
    CHECK_OK(MPI_Comm_rank(half, &rank));
    CHECK_EQUAL(size, (here.size + (here.rank % 2 == 0 ? 1 : 0)) / 2);
    CHECK_EQUAL(rank, size - 1 - here.rank / 2);
    check(half);
    CHECK_OK(MPI_Comm_dup(half, &again));
    check(again);
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_split(dup, here.rank == 0 ? MPI_UNDEFINED : 1, 0, &half));
    CHECK((half == MPI_COMM_NULL) == (here.rank == 0));
    if (half != MPI_COMM_NULL) {
        check(half);
        CHECK_OK(MPI_Comm_disconnect(&half));
    }
    MPI_Group group, some;
    CHECK_OK(MPI_Comm_group(dup, &group));
    int range[1][3] = {{0, here.size / 2, 1}};
    CHECK_OK(MPI_Group_range_incl(group, 1, range, &some));
    CHECK_OK(MPI_Comm_create(dup, some, &half));
    CHECK((half != MPI_COMM_NULL) == (here.rank <= here.size / 2));
    if (half != MPI_COMM_NULL) {
        check(half);
        CHECK_OK(MPI_Comm_free(&half));
        CHECK_OK(MPI_Comm_create_group(dup, some, 5, &half));
        check(half);
        CHECK_OK(MPI_Comm_free(&half));
    }
    CHECK_OK(MPI_Group_free(&some));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&dup));
    MPI_Comm node;
    CHECK_OK(MPI_Comm_split_type(here.comm, MPI_COMM_TYPE_SHARED, here.rank, MPI_INFO_NULL, &node));
    CHECK_OK(MPI_Comm_size(node, &size));
    CHECK_EQUAL(size, here.size); // all processes of this test are on one node
    CHECK_OK(MPI_Comm_free(&node));
}

void topologies(const Here& here) {
    MPI_Comm ring;
    const int dims[1] = {here.size}, periods[1] = {1};
    CHECK_OK(MPI_Cart_create(here.comm, 1, dims, periods, 0, &ring));
    int before = -1, after = -1, got[2] = {-1, -1};
    CHECK_OK(MPI_Cart_shift(ring, 0, 1, &before, &after));
    CHECK_EQUAL(after, (here.rank + 1) % here.size);
    CHECK_OK(MPI_Neighbor_allgather(&here.rank, 1, MPI_INT, got, 1, MPI_INT, ring));
    CHECK_EQUAL(got[0], before);
    CHECK_EQUAL(got[1], after);
    CHECK_OK(MPI_Comm_free(&ring));
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const int threads : {1, 2, 3, 8}) {
        in_region(threads, threads != 3, [](const Here& here) {
            check(here.comm);
            derived(here);
            topologies(here);
        });
    }
    return finish();
}
