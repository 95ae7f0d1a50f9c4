// SPDX-License-Identifier: BSD-3-Clause
// Many nonblocking collectives that are outstanding at the same time: on one communicator and on overlapping ones, in
// an order of completion that differs between the processes, between blocking ones, and with objects that the program
// frees at once. No operation may receive a message of another one.
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <random>
#include <vector>

namespace {

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

// Element i of the data of rank r for rank p in operation `id`.
int value(int id, int r, int p, int i) {
    return 1000003 * id + 1009 * r + 31 * p + i % 13;
}

// An operation that is outstanding, and what it has to give.
struct Operation {
    std::vector<int> send;
    std::vector<int> recv;
    std::vector<int> wanted;
    MPI_Request request = MPI_REQUEST_NULL;
    const char* name = "";

    void check() const {
        if (recv != wanted) {
            check_failed(__FILE__, __LINE__, name);
        }
    }
};

std::vector<int> sums(const Comm& c, int id, int ranks, int count) {
    std::vector<int> result(std::size_t(count), 0);
    for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i < count; ++i) {
            result[std::size_t(i)] += value(id, r, 0, i) % 1000;
        }
    }
    (void)c;
    return result;
}

constexpr int kinds = 9;

// Starts operation `id` of one of the kinds.
void start(const Comm& c, int id, int count, Operation& op) {
    const int root = id % c.size;
    const auto n = std::size_t(count);
    const auto fill = [&](std::vector<int>& v, auto element) {
        for (std::size_t i = 0; i < v.size(); ++i) {
            v[i] = element(int(i));
        }
    };
    op.recv.assign(n, -1);
    op.wanted.assign(n, -1);
    op.send.assign(n, 0);
    fill(op.send, [&](int i) { return value(id, c.rank, 0, i) % 1000; });
    switch (id % kinds) {
    case 0:
        op.name = "Ibcast";
        fill(op.wanted, [&](int i) { return value(id, root, 0, i); });
        if (c.rank == root) {
            op.recv = op.wanted;
        }
        CHECK_OK(MPI_Ibcast(op.recv.data(), count, MPI_INT, root, c.comm, &op.request));
        break;
    case 1:
        op.name = "Iallreduce";
        op.wanted = sums(c, id, c.size, count);
        CHECK_OK(MPI_Iallreduce(op.send.data(), op.recv.data(), count, MPI_INT, MPI_SUM, c.comm, &op.request));
        break;
    case 2:
        op.name = "Ibarrier";
        op.recv = op.wanted;
        CHECK_OK(MPI_Ibarrier(c.comm, &op.request));
        break;
    case 3:
        op.name = "Ireduce";
        op.wanted = c.rank == root ? sums(c, id, c.size, count) : op.recv;
        CHECK_OK(MPI_Ireduce(op.send.data(), op.recv.data(), count, MPI_INT, MPI_SUM, root, c.comm, &op.request));
        break;
    case 4:
        op.name = "Iscan";
        op.wanted = sums(c, id, c.rank + 1, count);
        CHECK_OK(MPI_Iscan(op.send.data(), op.recv.data(), count, MPI_INT, MPI_SUM, c.comm, &op.request));
        break;
    case 5:
    case 6: {
        const bool all = id % kinds == 5;
        op.name = all ? "Iallgather" : "Igather";
        op.recv.assign(n * std::size_t(c.size), -1);
        op.wanted = op.recv;
        if (all || c.rank == root) {
            fill(op.wanted, [&](int i) { return value(id, i / count, 0, i % count) % 1000; });
        }
        CHECK_OK(all
                ? MPI_Iallgather(op.send.data(), count, MPI_INT, op.recv.data(), count, MPI_INT, c.comm, &op.request)
                : MPI_Igather(
                      op.send.data(), count, MPI_INT, op.recv.data(), count, MPI_INT, root, c.comm, &op.request));
        break;
    }
    case 7:
        op.name = "Ialltoall";
        op.send.assign(n * std::size_t(c.size), 0);
        op.recv.assign(op.send.size(), -1);
        op.wanted = op.recv;
        fill(op.send, [&](int i) { return value(id, c.rank, i / count, i % count); });
        fill(op.wanted, [&](int i) { return value(id, i / count, c.rank, i % count); });
        CHECK_OK(MPI_Ialltoall(op.send.data(), count, MPI_INT, op.recv.data(), count, MPI_INT, c.comm, &op.request));
        break;
    default: {
        op.name = "Ireduce_scatter_block";
        op.send.assign(n * std::size_t(c.size), 0);
        fill(op.send, [&](int i) { return value(id, c.rank, i / count, i % count) % 1000; });
        op.wanted.assign(n, 0);
        for (int r = 0; r < c.size; ++r) {
            for (int i = 0; i < count; ++i) {
                op.wanted[std::size_t(i)] += value(id, r, c.rank, i) % 1000;
            }
        }
        CHECK_OK(
            MPI_Ireduce_scatter_block(op.send.data(), op.recv.data(), count, MPI_INT, MPI_SUM, c.comm, &op.request));
        break;
    }
    }
}

// Lengths on both sides of every limit between protocols.
int length(int id) {
    static constexpr int lengths[] = {1, 700, 3, 20000, 40};
    return lengths[std::size_t(id) % std::size(lengths)];
}

std::vector<Operation> start_all(const Comm& c, int first, int operations) {
    std::vector<Operation> all((std::size_t(operations)));
    for (int i = 0; i < operations; ++i) {
        start(c, first + i, length(first + i), all[std::size_t(i)]);
    }
    return all;
}

void check_all(const std::vector<Operation>& all) {
    for (const Operation& op : all) {
        CHECK(op.request == MPI_REQUEST_NULL);
        op.check();
    }
}

enum class Order { waitall, backwards, random, any, test };

void complete(std::vector<Operation>& all, Order order, int seed) {
    std::vector<MPI_Request> requests;
    for (Operation& op : all) {
        requests.push_back(op.request);
        op.request = MPI_REQUEST_NULL;
    }
    const int count = int(requests.size());
    switch (order) {
    case Order::waitall:
        CHECK_OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
        break;
    case Order::backwards:
        std::reverse(requests.begin(), requests.end());
        for (MPI_Request& request : requests) {
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        break;
    case Order::random: {
        std::mt19937 random{unsigned(seed)};
        std::shuffle(requests.begin(), requests.end(), random);
        for (MPI_Request& request : requests) {
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        break;
    }
    case Order::any:
        for (int left = count; left > 0; --left) {
            int index = MPI_UNDEFINED;
            CHECK_OK(MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE));
            CHECK(index != MPI_UNDEFINED);
        }
        break;
    case Order::test:
        for (int done = 0; !done;) {
            CHECK_OK(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE));
        }
        break;
    }
    for (const MPI_Request request : requests) {
        CHECK(request == MPI_REQUEST_NULL);
    }
}

void test_orders(const Comm& c) {
    int first = 0;
    for (const Order order : {Order::waitall, Order::backwards, Order::random, Order::any, Order::test}) {
        auto all = start_all(c, first, 4 * kinds);
        complete(all, order, c.rank + first);
        check_all(all);
        first += 4 * kinds;
    }
}

// One process after the other starts late.
void test_late_process(const Comm& c) {
    for (int late = 0; late < c.size; ++late) {
        if (c.rank == late) {
            const double until = MPI_Wtime() + 0.005;
            while (MPI_Wtime() < until) {
            }
        }
        auto all = start_all(c, 7 * late, 2 * kinds);
        complete(all, c.rank % 2 == 0 ? Order::backwards : Order::any, 0);
        check_all(all);
    }
}

// Blocking collectives between nonblocking ones.
void test_mixed(const Comm& c) {
    std::vector<Operation> all(2 * kinds);
    for (int i = 0; i < int(all.size()); ++i) {
        start(c, i, length(i), all[std::size_t(i)]);
        int sum = 0;
        const int one = 1;
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c.comm));
        CHECK_EQUAL(sum, c.size);
        int root = c.rank == i % c.size ? i : -1;
        CHECK_OK(MPI_Bcast(&root, 1, MPI_INT, i % c.size, c.comm));
        CHECK_EQUAL(root, i);
        CHECK_OK(MPI_Barrier(c.comm));
    }
    complete(all, Order::random, c.rank);
    check_all(all);
}

// A process is in several communicators, and starts the operations of all of them before it completes any.
void test_overlapping(const Comm& world) {
    MPI_Comm copy;
    MPI_Comm half;
    MPI_Comm reversed;
    MPI_Comm_dup(world.comm, &copy);
    MPI_Comm_split(world.comm, world.rank % 2, 0, &half);
    MPI_Comm_split(world.comm, 0, -world.rank, &reversed);
    std::list<std::vector<Operation>> all;
    for (int turn = 0; turn < 3; ++turn) {
        for (const MPI_Comm comm : {world.comm, copy, half, reversed, MPI_COMM_SELF}) {
            all.push_back(start_all(Comm(comm), 100 * turn, kinds));
        }
    }
    while (!all.empty()) {
        auto& operations = world.rank % 2 == 0 ? all.front() : all.back();
        complete(operations, Order::random, world.rank);
        check_all(operations);
        world.rank % 2 == 0 ? all.pop_front() : all.pop_back();
    }
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < 2 * *count; ++i) {
        static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
    }
}

// The program frees the communicator, the datatypes and the op at once; argument arrays must stay until completion.
void test_freed_objects(const Comm& world) {
    MPI_Comm comm;
    MPI_Comm_dup(world.comm, &comm);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    constexpr int count = 5000;
    std::vector<int> send(2 * count, world.rank + 1);
    std::vector<int> sum(2 * count, -1);
    std::vector<int> shared(2 * count, world.rank == 0 ? 42 : -1);
    std::vector<MPI_Datatype> types(std::size_t(world.size), pair);
    std::vector<int> counts(std::size_t(world.size), 1);
    std::vector<int> places;
    for (int r = 0; r < world.size; ++r) {
        places.push_back(r * int(2 * sizeof(int)));
    }
    std::vector<int> out(std::size_t(2 * world.size), world.rank);
    std::vector<int> in(out.size(), -1);
    std::array<MPI_Request, 3> requests;
    if (world.rank == world.size - 1) {
        const double until = MPI_Wtime() + 0.005;
        while (MPI_Wtime() < until) {
        }
    }
    CHECK_OK(MPI_Iallreduce(send.data(), sum.data(), count, pair, op, comm, &requests[0]));
    CHECK_OK(MPI_Ibcast(shared.data(), count, pair, 0, comm, &requests[1]));
    CHECK_OK(MPI_Ialltoallw(out.data(), counts.data(), places.data(), types.data(), in.data(), counts.data(),
        places.data(), types.data(), comm, &requests[2]));
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    CHECK_OK(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE));
    CHECK(sum == std::vector<int>(sum.size(), world.size * (world.size + 1) / 2));
    CHECK(shared == std::vector<int>(shared.size(), 42));
    for (int r = 0; r < world.size; ++r) {
        CHECK(in[std::size_t(2 * r)] == r && in[std::size_t(2 * r + 1)] == r);
    }
}

// The calls on requests.
void test_requests(const Comm& world) {
    MPI_Comm comm;
    MPI_Comm_dup(world.comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); // the errors below are reported to no other communicator
    int sum = 0;
    const int one = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Iallreduce(&one, &sum, -1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, nullptr), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Ibcast(&sum, 1, MPI_INT, world.size, comm, &request), MPI_ERR_ROOT);
    CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    MPI_Request same = request;
    CHECK_CLASS(MPI_Request_free(&same), MPI_ERR_REQUEST);
    CHECK(same == request);
    CHECK_CLASS(MPI_Cancel(&same), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&same), MPI_ERR_REQUEST);
    MPI_Status status;
    for (int flag = 0; !flag;) {
        CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    }
    status.MPI_SOURCE = 5;
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQUAL(sum, world.size);
    int cancelled = 1;
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled);
    MPI_Comm_free(&comm);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const Comm world(MPI_COMM_WORLD);
    test_orders(world);
    test_late_process(world);
    test_mixed(world);
    test_overlapping(world);
    test_freed_objects(world);
    test_requests(world);
    return finish();
}
