// SPDX-License-Identifier: BSD-3-Clause
// Info key patchbay_effort of the initialization of persistent collectives: with every value the results are those of
// the blocking functions, the initialization leaves the program's buffers as they were, all members use the same
// candidate, and the lowest value of all members decides whether candidates are timed.
#include "tests/mpi_t/mpi_t.h"

#include <algorithm>
#include <cfenv>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

int rank;
int size;
MPI_Comm comm; // of this test alone

using Buffer = std::vector<double>;
using Init = std::function<int(Buffer& send, Buffer& recv, MPI_Info info, MPI_Request* request)>;
using Blocking = std::function<int(Buffer& send, Buffer& recv)>;

struct Info {
    explicit Info(const std::string& effort) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "patchbay_effort", effort.c_str());
    }
    ~Info() { MPI_Info_free(&info); }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    MPI_Info info = MPI_INFO_NULL;
};

// Every second double.
struct Strided {
    explicit Strided(int count) {
        MPI_Datatype vector = MPI_DATATYPE_NULL;
        MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &vector);
        MPI_Type_create_resized(vector, 0, MPI_Aint(sizeof(double)) * 2 * count, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&vector);
    }
    ~Strided() { MPI_Type_free(&type); }
    Strided(const Strided&) = delete;
    Strided& operator=(const Strided&) = delete;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

double value(int turn, std::size_t i) {
    return double((rank + 1) * (turn + 2)) + double(i % 7);
}

// What a tool reads of the library.
class Tool {
public:
    Tool() {
        int provided = 0;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_T_pvar_session_create(&_session);
        _sent = pvar_handle(_session, "pml_ob1_messages_sent", MPI_T_PVAR_CLASS_COUNTER, nullptr);
        CHECK(MPI_T_pvar_start(_session, _sent) == MPI_SUCCESS);
        const int index = pvar_index("coll_tuned_algorithm", MPI_T_PVAR_CLASS_STATE);
        int count = 0;
        CHECK(MPI_T_pvar_handle_alloc(_session, index, &comm, &_algorithm, &count) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_start(_session, _algorithm) == MPI_SUCCESS);
        _algorithms.assign(std::size_t(count), -1);
    }
    ~Tool() {
        MPI_T_pvar_handle_free(_session, &_sent);
        MPI_T_pvar_handle_free(_session, &_algorithm);
        MPI_T_pvar_session_free(&_session);
        MPI_T_finalize();
    }
    Tool(const Tool&) = delete;
    Tool& operator=(const Tool&) = delete;

    unsigned long long messages() { return read_pvar(_session, _sent); }
    // By function.
    const std::vector<int>& algorithms() {
        CHECK(MPI_T_pvar_read(_session, _algorithm, _algorithms.data()) == MPI_SUCCESS);
        return _algorithms;
    }

private:
    MPI_T_pvar_session _session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle _sent = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_handle _algorithm = MPI_T_PVAR_HANDLE_NULL;
    std::vector<int> _algorithms;
};
Tool* tool;

void check_same_algorithms(const char* name) {
    const std::vector<int> own = tool->algorithms();
    std::vector<int> least(own.size());
    std::vector<int> most(own.size());
    CHECK_OK(MPI_Allreduce(own.data(), least.data(), int(own.size()), MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(own.data(), most.data(), int(own.size()), MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK_TEXT(least == most, name);
}

// Initializes the operation, and starts it several times with other data.
void test(const char* name, const std::string& effort, std::size_t elements, const Init& init, const Blocking& run) {
    Buffer send(elements);
    Buffer recv(elements);
    for (std::size_t i = 0; i < elements; ++i) {
        send[i] = value(9, i);
        recv[i] = -value(10, i);
    }
    const Buffer send_before = send;
    const Buffer recv_before = recv;
    MPI_Request request = MPI_REQUEST_NULL;
    const Info info(effort);
    CHECK_OK(init(send, recv, info.info, &request));
    CHECK_TEXT(send == send_before, name);
    CHECK_TEXT(recv == recv_before, name);
    check_same_algorithms(name);
    for (int turn = 0; turn < 3; ++turn) {
        for (std::size_t i = 0; i < elements; ++i) {
            send[i] = value(turn, i);
            recv[i] = value(turn + 5, i);
        }
        Buffer wanted = recv;
        CHECK_OK(run(send, wanted));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_TEXT(recv == wanted, name);
    }
    CHECK_OK(MPI_Request_free(&request));
}

// A form of a function, with its name, in both forms of the call.
#define BOTH(name, function, ...)                                                                                      \
    test(                                                                                                              \
        name, effort, elements,                                                                                        \
        [&](Buffer& send, Buffer& recv, MPI_Info info, MPI_Request* request) {                                         \
            (void)send, (void)recv;                                                                                    \
            return MPI_##function##_init(__VA_ARGS__, comm, info, request);                                            \
        },                                                                                                             \
        [&](Buffer& send, Buffer& recv) {                                                                              \
            (void)send, (void)recv;                                                                                    \
            return MPI_##function(__VA_ARGS__, comm);                                                                  \
        })

void test_rooted(const std::string& effort, int n) {
    const std::size_t elements = std::size_t(2) * std::size_t(n) * std::size_t(size);
    const Strided strided(n);
    const int root = size - 1;
    const bool is_root = rank == root;
    BOTH("bcast", Bcast, recv.data(), n, MPI_DOUBLE, root);
    BOTH("strided bcast", Bcast, recv.data(), 1, strided.type, 0);
    BOTH("gather", Gather, send.data(), n, MPI_DOUBLE, recv.data(), n, MPI_DOUBLE, root);
    BOTH("gather in place", Gather, is_root ? MPI_IN_PLACE : send.data(), n, MPI_DOUBLE,
        is_root ? recv.data() : nullptr, 1, strided.type, root);
    BOTH("scatter", Scatter, send.data(), n, MPI_DOUBLE, recv.data(), n, MPI_DOUBLE, root);
    BOTH("scatter in place", Scatter, is_root ? send.data() : nullptr, n, MPI_DOUBLE,
        is_root ? MPI_IN_PLACE : recv.data(), 1, strided.type, root);
    BOTH("reduce", Reduce, send.data(), is_root ? recv.data() : nullptr, n, MPI_DOUBLE, MPI_SUM, root);
    BOTH("reduce in place", Reduce, is_root ? MPI_IN_PLACE : send.data(), is_root ? recv.data() : nullptr, n,
        MPI_DOUBLE, MPI_SUM, root);
}

void test_everywhere(const std::string& effort, int n) {
    const std::size_t elements = std::size_t(2) * std::size_t(n) * std::size_t(size);
    const Strided strided(n);
    BOTH("allgather", Allgather, send.data(), n, MPI_DOUBLE, recv.data(), 1, strided.type);
    BOTH("allgather in place", Allgather, MPI_IN_PLACE, 0, MPI_DOUBLE, recv.data(), n, MPI_DOUBLE);
    BOTH("alltoall", Alltoall, send.data(), 1, strided.type, recv.data(), n, MPI_DOUBLE);
    BOTH("alltoall in place", Alltoall, MPI_IN_PLACE, 0, MPI_DOUBLE, recv.data(), n, MPI_DOUBLE);
    BOTH("allreduce", Allreduce, send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM);
    BOTH("allreduce in place", Allreduce, MPI_IN_PLACE, recv.data(), n, MPI_DOUBLE, MPI_SUM);
    BOTH("scan", Scan, send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM);
    BOTH("scan in place", Scan, MPI_IN_PLACE, recv.data(), n, MPI_DOUBLE, MPI_SUM);
    BOTH("exscan", Exscan, send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM);
    BOTH("exscan in place", Exscan, MPI_IN_PLACE, recv.data(), n, MPI_DOUBLE, MPI_SUM);
    BOTH("reduce_scatter_block", Reduce_scatter_block, send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM);
    const std::vector<int> counts(std::size_t(size), n);
    BOTH("reduce_scatter", Reduce_scatter, send.data(), recv.data(), counts.data(), MPI_DOUBLE, MPI_SUM);
}

// How many messages this member sends in an initialization.
unsigned long long messages_of_init(const std::string& effort) {
    Buffer send(8, 1);
    Buffer recv(8, 1);
    MPI_Request request = MPI_REQUEST_NULL;
    const Info info(effort);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    const unsigned long long before = tool->messages();
    CHECK_OK(MPI_Allreduce_init(send.data(), recv.data(), 8, MPI_DOUBLE, MPI_SUM, comm, info.info, &request));
    const unsigned long long sent = tool->messages() - before;
    CHECK_OK(MPI_Request_free(&request));
    return sent;
}

void test_lowest_effort_decides() {
    const unsigned long long without = messages_of_init("1");
    const unsigned long long with = messages_of_init("3");
    CHECK_EQUAL(messages_of_init(rank == size - 1 ? "2" : "3"), size == 1 ? messages_of_init("2") : without);
    CHECK(messages_of_init("0") <= without); // nothing is bound
    // With no other algorithm than one that a parameter or the component gives, there is nothing to ask or to time.
    // With coll/sm the members ask each other without messages.
    const bool asks_by_memory = std::getenv("PATCHBAY_MCA_coll_sm_where") != nullptr;
    if (without == 0 && !asks_by_memory) {
        CHECK_EQUAL(with, 0);
    } else {
        CHECK(with >= 10 * without);
    }
}

void test_ill_values() {
    const unsigned long long without = messages_of_init("1");
    for (const char* ill : {"4", "-1", "30", "high", "3 "}) {
        CHECK_EQUAL(messages_of_init(ill), without);
        test_rooted(ill, 2);
    }
}

// The data of the program may be anything before the first start.
void test_floating_point_exceptions() {
    const double infinity = std::numeric_limits<double>::infinity();
    double send = rank % 2 == 0 ? infinity : -infinity;
    double recv = 0;
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_INVALID);
    MPI_Request request = MPI_REQUEST_NULL;
    const Info info("3");
    CHECK_OK(MPI_Allreduce_init(&send, &recv, 1, MPI_DOUBLE, MPI_SUM, comm, info.info, &request));
    CHECK_EQUAL(fegetexcept() & FE_INVALID, FE_INVALID);
    fedisableexcept(FE_INVALID);
    CHECK_EQUAL(std::fetestexcept(FE_INVALID), 0);
    CHECK_OK(MPI_Request_free(&request));
}

int calls;
void add(void* in, void* inout, int* count, MPI_Datatype*) {
    ++calls;
    for (int i = 0; i < *count; ++i) {
        static_cast<double*>(inout)[i] += static_cast<double*>(in)[i];
    }
}

void test_user_ops_are_not_called() {
    MPI_Op op = MPI_OP_NULL;
    CHECK_OK(MPI_Op_create(add, 1, &op));
    double send = rank + 1;
    double recv = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const Info info("3");
    CHECK_OK(MPI_Allreduce_init(&send, &recv, 1, MPI_DOUBLE, op, comm, info.info, &request));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_EQUAL(calls, 0);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(recv, size * (size + 1) / 2);
    CHECK_OK(MPI_Request_free(&request));
}

// The tag that the candidates had in turn is used by the operation alone: others that are active at the same time, and
// messages of the program, are not mixed with it.
void test_several_operations() {
    constexpr int number = 6;
    std::vector<Buffer> send(number, Buffer(40));
    std::vector<Buffer> recv(number, Buffer(40));
    MPI_Request requests[number];
    const Info info("3");
    for (int k = 0; k < number; ++k) {
        CHECK_OK(MPI_Allreduce_init(send[std::size_t(k)].data(), recv[std::size_t(k)].data(), 40, MPI_DOUBLE, MPI_SUM,
            comm, k % 2 == 0 ? info.info : MPI_INFO_NULL, &requests[k]));
    }
    for (int turn = 0; turn < 5; ++turn) {
        for (int k = 0; k < number; ++k) {
            std::fill(send[std::size_t(k)].begin(), send[std::size_t(k)].end(), rank + k + turn);
        }
        for (int i = 0; i < number; ++i) {
            CHECK_OK(MPI_Start(&requests[(i * 5 + rank) % number]));
        }
        CHECK_OK(MPI_Waitall(number, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < number; ++k) {
            CHECK_EQUAL(recv[std::size_t(k)][39], size * (size - 1) / 2 + size * (k + turn));
        }
    }
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
}

// More messages than are bound without a wish of the program.
void test_many_messages() {
    for (const char* effort : {"0", "1", "2"}) {
        const std::size_t elements = 40000;
        BOTH("long bcast", Bcast, recv.data(), 40000, MPI_DOUBLE, 0);
    }
}

void test_barrier() {
    for (const char* effort : {"0", "1", "2", "3"}) {
        const Info info(effort);
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Barrier_init(comm, info.info, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&request));
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    {
        Tool own;
        tool = &own;
        for (const char* effort : {"0", "1", "2", "3"}) {
            test_rooted(effort, 3);
            test_everywhere(effort, 3);
        }
        test_rooted("3", 6000);
        test_everywhere("3", 6000);
        test_rooted(rank % 2 == 0 ? "3" : "1", 3);
        test_everywhere(rank % 2 == 0 ? "3" : "1", 3);
        test_lowest_effort_decides();
        test_ill_values();
        test_floating_point_exceptions();
        test_user_ops_are_not_called();
        test_several_operations();
        test_many_messages();
        test_barrier();
    }
    MPI_Comm_free(&comm);
    return finish();
}
