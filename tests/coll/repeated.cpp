// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives that repeat calls of before, whose plans the library has still, in between others: buffers
// with new values, several of the same call outstanding, communicators that end and others that come.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace {

constexpr int most = 2000; // elements
int rank;
int size;

// The buffers of one call, the same at each use.
class Operation {
public:
    Operation(int number, int count)
        : _kind(number % 8),
          _count(count),
          _root(number % size),
          _from(std::size_t(count) * std::size_t(size)),
          _into(std::size_t(count) * std::size_t(size)) {}

    void start(int value, MPI_Comm comm) {
        _value = value;
        for (std::size_t i = 0; i < _from.size(); ++i) {
            _from[i] = element(rank, int(i));
        }
        std::fill(_into.begin(), _into.end(), -1);
        int* from = _from.data();
        int* into = _into.data();
        switch (_kind) {
        case 0:
            std::copy_n(_from.begin(), _count, _into.begin());
            CHECK_OK(MPI_Ibcast(into, _count, MPI_INT, _root, comm, &_request));
            break;
        case 1:
            CHECK_OK(MPI_Igather(from, _count, MPI_INT, into, _count, MPI_INT, _root, comm, &_request));
            break;
        case 2:
            CHECK_OK(MPI_Iscatter(from, _count, MPI_INT, into, _count, MPI_INT, _root, comm, &_request));
            break;
        case 3:
            CHECK_OK(MPI_Iallgather(from, _count, MPI_INT, into, _count, MPI_INT, comm, &_request));
            break;
        case 4:
            CHECK_OK(MPI_Ialltoall(from, _count, MPI_INT, into, _count, MPI_INT, comm, &_request));
            break;
        case 5:
            CHECK_OK(MPI_Iallreduce(from, into, _count, MPI_INT, MPI_SUM, comm, &_request));
            break;
        case 6:
            std::copy_n(_from.begin(), _count, _into.begin());
            CHECK_OK(MPI_Iscan(MPI_IN_PLACE, into, _count, MPI_INT, MPI_SUM, comm, &_request));
            break;
        default:
            CHECK_OK(MPI_Ibarrier(comm, &_request));
            break;
        }
    }
    void finish() {
        CHECK_OK(MPI_Wait(&_request, MPI_STATUS_IGNORE));
        const int wrong = int(std::count_if(
            _into.begin(), _into.end(), [this](const int& got) { return got != wanted(int(&got - _into.data())); }));
        CHECK_EQUAL(wrong, 0);
    }

private:
    int element(int of_rank, int i) const { return of_rank * 1000 + i * 3 + _value; }
    int sum(int ranks, int i) const {
        int total = 0;
        for (int r = 0; r < ranks; ++r) {
            total += element(r, i);
        }
        return total;
    }
    int wanted(int i) const {
        const int block = i / _count, in_block = i % _count;
        switch (_kind) {
        case 0:
            return block == 0 ? element(_root, i) : -1;
        case 1:
            return rank == _root ? element(block, in_block) : -1;
        case 2:
            return block == 0 ? element(_root, rank * _count + i) : -1;
        case 3:
            return element(block, in_block);
        case 4:
            return element(block, rank * _count + in_block);
        case 5:
            return block == 0 ? sum(size, i) : -1;
        case 6:
            return block == 0 ? sum(rank + 1, i) : -1;
        default:
            return -1;
        }
    }

    const int _kind;
    const int _count;
    const int _root;
    int _value = 0;
    std::vector<int> _from;
    std::vector<int> _into;
    MPI_Request _request = MPI_REQUEST_NULL;
};

void run(unsigned seed, MPI_Comm comm) {
    std::mt19937 random(seed); // the same in all members
    std::vector<Operation> operations;
    for (int i = 0; i < 16; ++i) {
        operations.emplace_back(int(random() % 1000), random() % 8 == 0 ? most : 1 + int(random() % 20));
    }
    for (int round = 0; round < 60; ++round) {
        // A few of them are repeated again and again; each of several that are outstanding has its own buffers.
        std::vector<std::size_t> now;
        for (int k = 1 + int(random() % 4); k > 0; --k) {
            const std::size_t next = random() % (random() % 3 == 0 ? operations.size() : 4);
            if (std::find(now.begin(), now.end(), next) == now.end()) {
                now.push_back(next);
            }
        }
        for (const std::size_t i : now) {
            operations[i].start(round * 7 + int(i), comm);
        }
        std::shuffle(now.begin(), now.end(), std::mt19937(seed + unsigned(round + rank))); // differs
        for (const std::size_t i : now) {
            operations[i].finish();
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    run(1, MPI_COMM_WORLD);
    for (unsigned seed = 2; seed < 10; ++seed) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        run(seed, comm);
        MPI_Comm_free(&comm);
    }
    run(10, MPI_COMM_WORLD);
    return finish();
}
