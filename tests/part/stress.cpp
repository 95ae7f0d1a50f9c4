// SPDX-License-Identifier: BSD-3-Clause
// Random partitioned requests between all ranks, several with the same tag for each pair, all outstanding at once: in
// each round they start in random order, their partitions become ready in random order, with ordinary messages between.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

int rank, size;

// What both sides know of the n-th request from one rank to another.
struct Shape {
    int send_partitions, send_count, receive_partitions, receive_count, tag;

    Shape(int from, int to, int n) {
        std::mt19937 random(unsigned(from * 7919 + to * 104729 + n * 31));
        const int pieces[] = {1, 2, 3, 8, 12, 60, 120};
        const int ints[] = {120, 480, 8160, 120 * 400};
        const int total = ints[random() % 4];
        send_partitions = pieces[random() % 7];
        receive_partitions = pieces[random() % 7];
        send_count = total / send_partitions;
        receive_count = total / receive_partitions;
        tag = n % 3;
    }
    std::size_t ints() const { return std::size_t(send_partitions) * std::size_t(send_count); }
};

int value_of(int from, int to, int n, int round, std::size_t i) {
    return int(unsigned(from) * 16777619u ^ unsigned(to) * 65599u ^ unsigned(n) * 4099u ^ unsigned(round) * 257u) +
        int(i);
}

struct Operation {
    Shape shape;
    int peer, n;
    bool sends;
    std::vector<int> data;
};

struct Ready {
    std::size_t operation;
    int partition;
};

class Ranks {
public:
    Ranks(int per_pair, MPI_Comm comm)
        : _comm(comm),
          _random(unsigned(rank) + 5) {
        // In one order here and in another there, but for the requests of one pair.
        for (int n = 0; n < per_pair; ++n) {
            for (int step = 0; step < size; ++step) {
                const int peer = (rank * 3 + step) % size;
                if (rank % 2 == 0) {
                    add(peer, n, true);
                    add(peer, n, false);
                } else {
                    add(peer, n, false);
                    add(peer, n, true);
                }
            }
        }
        for (Operation& one : _operations) {
            const Shape& shape = one.shape;
            _requests.push_back(MPI_REQUEST_NULL);
            CHECK_OK(one.sends ? MPI_Psend_init_c(one.data.data(), shape.send_partitions, shape.send_count, MPI_INT,
                                     one.peer, shape.tag, comm, MPI_INFO_NULL, &_requests.back())
                               : MPI_Precv_init(one.data.data(), shape.receive_partitions, shape.receive_count, MPI_INT,
                                     one.peer, shape.tag, comm, MPI_INFO_NULL, &_requests.back()));
        }
    }
    ~Ranks() {
        for (MPI_Request& request : _requests) {
            CHECK_OK(MPI_Request_free(&request));
        }
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    void run(int round) {
        std::vector<std::size_t> order(_operations.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        std::shuffle(order.begin(), order.end(), _random);
        std::vector<Ready> ready;
        for (const std::size_t i : order) {
            start(i, round, ready);
        }
        std::shuffle(ready.begin(), ready.end(), _random);
        for (const Ready& one : ready) {
            CHECK_OK(MPI_Pready(one.partition, _requests[one.operation]));
            if (_random() % 64 == 0) {
                ask();
            }
            if (_random() % 256 == 0) {
                exchange_ordinary();
            }
        }
        finish_round(round);
    }

private:
    void add(int peer, int n, bool sends) {
        const Shape shape = sends ? Shape(rank, peer, n) : Shape(peer, rank, n);
        _operations.push_back({shape, peer, n, sends, std::vector<int>(shape.ints(), -1)});
    }
    void start(std::size_t i, int round, std::vector<Ready>& ready) {
        Operation& one = _operations[i];
        for (std::size_t k = 0; k < one.data.size(); ++k) {
            one.data[k] = one.sends ? value_of(rank, one.peer, one.n, round, k) : -1;
        }
        CHECK_OK(MPI_Start(&_requests[i]));
        for (int partition = 0; one.sends && partition < one.shape.send_partitions; ++partition) {
            ready.push_back({i, partition});
        }
    }
    // Makes progress in one way or another.
    void ask() {
        const std::size_t i = _random() % _operations.size();
        int flag = 0;
        if (!_operations[i].sends) {
            CHECK_OK(
                MPI_Parrived(_requests[i], int(_random() % unsigned(_operations[i].shape.receive_partitions)), &flag));
        } else {
            CHECK_OK(MPI_Request_get_status(_requests[i], &flag, MPI_STATUS_IGNORE));
        }
    }
    void exchange_ordinary() {
        int out = rank, in = -1;
        CHECK_OK(MPI_Sendrecv(
            &out, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, _comm, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in, rank);
    }
    void finish_round(int round) {
        for (std::size_t left = _operations.size(); left != 0; --left) {
            int index;
            CHECK_OK(MPI_Waitany(int(_requests.size()), _requests.data(), &index, MPI_STATUS_IGNORE));
            if (index == MPI_UNDEFINED) {
                CHECK(index != MPI_UNDEFINED);
                return;
            }
            const Operation& one = _operations[std::size_t(index)];
            for (std::size_t k = 0; !one.sends && k < one.data.size(); ++k) {
                if (one.data[k] != value_of(one.peer, rank, one.n, round, k)) {
                    CHECK_EQUAL(one.data[k], value_of(one.peer, rank, one.n, round, k));
                    return;
                }
            }
        }
    }

    MPI_Comm _comm;
    std::mt19937 _random;
    std::vector<Operation> _operations;
    std::vector<MPI_Request> _requests;
};

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    for (int generation = 0; generation < 2; ++generation) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        {
            Ranks ranks(5, comm);
            for (int round = 0; round < rounds; ++round) {
                ranks.run(round);
            }
        }
        MPI_Comm_free(&comm);
    }
    return finish();
}
