// SPDX-License-Identifier: BSD-3-Clause
// Partitioned sends to the next rank and receives from the previous one: partitionings and datatypes that differ on the
// two sides, all forms of MPI_Pready, MPI_Parrived, statuses, many rounds of each request.
#include "tests/mpi_check/check.h"
#include "tests/part/typed_data.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

namespace {

struct Side {
    int partitions;
    int count;
    int type;
};

struct Case {
    Side send;
    Side receive;
};

constexpr int tag = 5;
int rank, next_rank, previous_rank;

int value_of(int sender, int round, std::size_t i) {
    return int(unsigned(sender) * 1000003u + unsigned(round) * 10007u + unsigned(i));
}

std::vector<int> values_of(int sender, int round, std::size_t count) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = value_of(sender, round, i);
    }
    return values;
}

std::vector<int> shuffled(int count, std::mt19937& random) {
    std::vector<int> order(std::size_t(count), 0);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

// Every partition becomes ready once; the way depends on the round.
void make_ready(MPI_Request request, int partitions, int round, std::mt19937& random) {
    switch (round % 4) {
    case 0:
        for (int i = 0; i < partitions; ++i) {
            CHECK_OK(MPI_Pready(i, request));
        }
        break;
    case 1:
        for (const int i : shuffled(partitions, random)) {
            CHECK_OK(MPI_Pready(i, request));
        }
        break;
    case 2:
        for (int end = partitions; end > 0;) {
            const int first = std::max(0, end - 3);
            CHECK_OK(MPI_Pready_range(first, end - 1, request));
            end = first;
        }
        break;
    default: {
        const std::vector<int> order = shuffled(partitions, random);
        const int half = partitions / 2;
        CHECK_OK(MPI_Pready_list(half, order.data(), request));
        CHECK_OK(MPI_Pready_list(partitions - half, order.data() + half, request));
    }
    }
}

// Waits for one partition after the other, and looks at the data of each before the operation is complete.
void expect_arrival(MPI_Request request, const Side& side, const int* data, int round, std::mt19937& random) {
    for (const int partition : shuffled(side.partitions, random)) {
        int flag = 0;
        while (!flag) {
            CHECK_OK(MPI_Parrived(request, partition, &flag));
        }
        const std::size_t first = std::size_t(partition) * std::size_t(side.count);
        for (std::size_t i = first; side.type == IntTypes::plain && i < first + std::size_t(side.count); ++i) {
            if (data[i] != value_of(previous_rank, round, i)) {
                CHECK_EQUAL(data[i], value_of(previous_rank, round, i));
                return;
            }
        }
    }
}

void expect_status(const MPI_Status& status, const Side& side, MPI_Datatype type) {
    int count = -1;
    CHECK_EQUAL(status.MPI_SOURCE, previous_rank);
    CHECK_EQUAL(status.MPI_TAG, tag);
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_EQUAL(count, side.partitions * side.count);
}

void run(const Case& one, const IntTypes& types, int rounds, MPI_Comm comm) {
    std::mt19937 random(unsigned(rank) * 77 + unsigned(one.send.partitions));
    const MPI_Datatype send_type = types.handle(one.send.type), receive_type = types.handle(one.receive.type);
    TypedBuffer out(types, one.send.type, one.send.partitions * one.send.count);
    TypedBuffer in(types, one.receive.type, one.receive.partitions * one.receive.count);
    CHECK_EQUAL(out.ints(), in.ints());
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(
        out.data(), one.send.partitions, one.send.count, send_type, next_rank, tag, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init_c(in.data(), one.receive.partitions, one.receive.count, receive_type, previous_rank, tag,
        comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < rounds; ++round) {
        out.put(values_of(rank, round, out.ints()));
        if (round % 3 == 0) {
            CHECK_OK(MPI_Startall(2, requests));
        } else {
            CHECK_OK(MPI_Start(&requests[round % 2]));
            CHECK_OK(MPI_Start(&requests[1 - round % 2]));
        }
        make_ready(requests[0], one.send.partitions, round, random);
        if (round % 2 == 0) {
            expect_arrival(requests[1], one.receive, static_cast<const int*>(in.data()), round, random);
        }
        MPI_Status statuses[2];
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        expect_status(statuses[1], one.receive, receive_type);
        CHECK(in.get() == values_of(previous_rank, round, in.ints()));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    next_rank = (rank + 1) % size;
    previous_rank = (rank + size - 1) % size;
    {
        using Types = IntTypes;
        const IntTypes types(24);
        const Case cases[] = {
            {{1, 24, Types::plain}, {1, 24, Types::plain}},
            {{1, 24, Types::plain}, {24, 1, Types::plain}},
            {{24, 1, Types::plain}, {1, 24, Types::plain}},
            {{6, 4, Types::plain}, {4, 6, Types::plain}},
            {{8, 3, Types::plain}, {8, 1, Types::triple}},
            {{24, 1, Types::plain}, {4, 2, Types::triple}}, // no boundary of a partition is one of an element
            {{24, 1, Types::plain}, {1, 1, Types::whole}},  // one element of the receiver for all
            {{5, 24, Types::plain}, {1, 5, Types::whole}},
            {{12, 1, Types::strided}, {3, 4, Types::strided}},
            {{4, 1, Types::blocks}, {24, 1, Types::plain}},
            {{12, 1, Types::strided}, {2, 2, Types::blocks}},
            {{7, 0, Types::plain}, {3, 0, Types::triple}}, // no data
            {{0, 5, Types::plain}, {0, 1, Types::plain}},  // no partition
            {{0, 5, Types::plain}, {4, 0, Types::plain}},
            {{64, 4096, Types::plain}, {64, 4096, Types::plain}},
            {{63, 4096, Types::plain}, {7, 12288, Types::triple}},
            {{3, 100000, Types::plain}, {50000, 1, Types::blocks}},
            {{1024, 3, Types::plain}, {64, 16, Types::triple}},
            {{1000, 7, Types::strided}, {500, 28, Types::plain}},
        };
        const int rounds = argc > 1 ? std::atoi(argv[1]) : 4;
        for (const Case& one : cases) {
            run(one, types, rounds, comm);
        }
    }
    CHECK_OK(MPI_Comm_disconnect(&comm));
    return finish();
}
