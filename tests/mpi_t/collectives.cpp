// SPDX-License-Identifier: BSD-3-Clause
// What the performance variables say about collectives, in each of their forms: the algorithm of the last one, and
// their messages, which all arrive.
#include "tests/mpi_check/shared_ints.h"
#include "tests/mpi_t/mpi_t.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

int rank, size;
MPI_T_pvar_session session;
enum Function { bcast = 1, gather = 2, allreduce = 12 }; // elements of the variable

// A barrier of all ranks without a message, in memory that they share.
class MemoryBarrier {
public:
    void wait() {
        _wanted += size;
        __atomic_fetch_add(_arrived, 1, __ATOMIC_ACQ_REL);
        while (shared_get(_arrived) < _wanted) {
            sched_yield();
        }
    }

private:
    int* const _arrived = shared_ints(MPI_COMM_WORLD, 1);
    int _wanted = 0;
};

class Algorithms {
public:
    explicit Algorithms(MPI_Comm comm)
        : _comm(comm) {
        const int index = pvar_index("coll_tuned_algorithm", MPI_T_PVAR_CLASS_STATE);
        int count = 0, enumeration_items = 0;
        CHECK(MPI_T_pvar_handle_alloc(session, index, &_comm, &_handle, &count) == MPI_SUCCESS);
        _values.resize(std::size_t(count));
        CHECK(MPI_T_pvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, &_items, nullptr, nullptr,
                  nullptr, nullptr, nullptr, nullptr) == MPI_SUCCESS);
        CHECK(MPI_T_enum_get_info(_items, &enumeration_items, nullptr, nullptr) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_start(session, _handle) == MPI_SUCCESS);
    }
    ~Algorithms() { CHECK(MPI_T_pvar_handle_free(session, &_handle) == MPI_SUCCESS); }
    Algorithms(const Algorithms&) = delete;
    Algorithms& operator=(const Algorithms&) = delete;

    std::string of(Function function) {
        char name[64] = "";
        int length = sizeof name;
        CHECK(MPI_T_pvar_read(session, _handle, _values.data()) == MPI_SUCCESS);
        CHECK(MPI_T_enum_get_item(_items, _values[function], nullptr, name, &length) == MPI_SUCCESS);
        return name;
    }

private:
    MPI_Comm _comm;
    MPI_T_pvar_handle _handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_enum _items = MPI_T_ENUM_NULL;
    std::vector<int> _values;
};

void complete(MPI_Request request) {
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

// The decision table of this test, so that each form of MPI_Allreduce has another algorithm.
constexpr const char* table = R"({
  "bcast": [{"use": "linear"}],
  "gather": [{"use": "linear"}],
  "allreduce": [{"forms": ["persistent"], "use": "ring"}, {"forms": ["nonblocking"], "use": "direct"}, {"use": "linear"}]
})";

void use_table() {
    std::string path = std::string(std::getenv("TEST_TMPDIR") == nullptr ? "/tmp" : std::getenv("TEST_TMPDIR")) +
        "/patchbay-table-XXXXXX";
    const int file = mkstemp(path.data());
    CHECK(file >= 0 && write(file, table, std::strlen(table)) == ssize_t(std::strlen(table)));
    close(file);
    setenv("PATCHBAY_MCA_coll_tuned_table", path.c_str(), 1);
}

// coll/tuned serves communicators of several processes.
std::string if_several(const char* name) {
    return size == 1 ? "none" : name;
}

void last_algorithm() {
    MPI_Comm comm;
    int one = 1, sum = 0;
    MPI_Request persistent = MPI_REQUEST_NULL, request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent));
    {
        Algorithms last(comm);
        CHECK_TEXT(last.of(allreduce) == "none", last.of(allreduce).c_str());
        CHECK_OK(MPI_Start(&persistent)); // initialized before the handle was started
        CHECK_TEXT(last.of(allreduce) == if_several("ring"), last.of(allreduce).c_str());
        CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_TEXT(last.of(allreduce) == if_several("linear"), last.of(allreduce).c_str());
        CHECK_OK(MPI_Start(&persistent));
        CHECK_TEXT(last.of(allreduce) == if_several("ring"), last.of(allreduce).c_str());
        CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        CHECK_EQUAL(sum, size);
        CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
        CHECK_TEXT(last.of(allreduce) == if_several("direct"), last.of(allreduce).c_str());
        complete(request);
        CHECK_TEXT(last.of(bcast) == "none" && last.of(gather) == "none", "another function was called");
    }
    CHECK_OK(MPI_Request_free(&persistent));
    CHECK_OK(MPI_Comm_free(&comm));
}

// A communicator that gets the memory and the index of one that has been freed.
void after_another_communicator() {
    Algorithms counting(MPI_COMM_WORLD); // without a handle nothing would be kept
    for (int round = 0; round < 5; ++round) {
        MPI_Comm comm;
        int one = 1, sum = 0;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_T_pvar_handle posted = pvar_handle(session, "pml_ob1_posted_length", MPI_T_PVAR_CLASS_LEVEL, &comm);
        MPI_T_pvar_handle stopped = pvar_handle(session, "coll_tuned_algorithm", MPI_T_PVAR_CLASS_STATE, &comm);
        CHECK(MPI_T_pvar_stop(session, stopped) == MPI_SUCCESS);
        {
            Algorithms last(comm);
            CHECK_TEXT(last.of(allreduce) == "none", last.of(allreduce).c_str());
            CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
            CHECK_TEXT(last.of(allreduce) == if_several("linear"), last.of(allreduce).c_str());
        }
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        unsigned long long length = 0;
        CHECK_EQUAL(MPI_T_pvar_read(session, posted, &length), MPI_T_ERR_INVALID_HANDLE);
        std::vector<unsigned long long> algorithms(64);
        CHECK_EQUAL(MPI_T_pvar_read(session, stopped, algorithms.data()), MPI_T_ERR_INVALID_HANDLE);
        CHECK(MPI_T_pvar_handle_free(session, &posted) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_free(session, &stopped) == MPI_SUCCESS);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

// All that is sent in a collective arrives before it is complete in all members, and is of a known size.
class Messages {
public:
    Messages() {
        for (const char* name : {"messages_sent", "messages_received", "eager_sent"}) {
            add(name, MPI_T_PVAR_CLASS_COUNTER);
        }
        for (const char* name : {"bytes_sent", "bytes_received"}) {
            add(name, MPI_T_PVAR_CLASS_AGGREGATE);
        }
    }
    ~Messages() {
        for (MPI_T_pvar_handle& handle : _handles) {
            MPI_T_pvar_handle_free(session, &handle);
        }
    }
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    // Sums over all ranks of what `run` has counted: sent, received, sent eagerly, bytes sent, bytes received.
    std::vector<unsigned long long> of(MemoryBarrier& barrier, const std::function<void()>& run) {
        std::vector<unsigned long long> own, all(_handles.size());
        CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
        barrier.wait();
        run();
        barrier.wait();
        for (MPI_T_pvar_handle handle : _handles) {
            own.push_back(read_pvar(session, handle));
        }
        barrier.wait();
        CHECK_OK(
            MPI_Allreduce(own.data(), all.data(), int(all.size()), MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
        MPI_Barrier(MPI_COMM_WORLD); // so that no message of these arrives in the next count
        return all;
    }

private:
    void add(const std::string& name, int variable_class) {
        _handles.push_back(pvar_handle(session, ("pml_ob1_" + name).c_str(), variable_class, nullptr));
        CHECK(MPI_T_pvar_start(session, _handles.back()) == MPI_SUCCESS);
    }
    std::vector<MPI_T_pvar_handle> _handles;
};

void check_all_arrives(const std::vector<unsigned long long>& all, const char* name) {
    CHECK_TEXT(all[0] == all[1], name);
    CHECK_TEXT(all[2] <= all[0], name);
    CHECK_TEXT(all[3] == all[4], name);
}

void messages(MemoryBarrier& barrier) {
    Messages counted;
    std::vector<int> send(100000, rank), recv(100000);
    const auto most = unsigned(size - 1);
    for (const int count : {1, 500, 20000}) {
        const auto bytes = 4ULL * unsigned(count);
        auto all = counted.of(barrier, [&] { MPI_Bcast(send.data(), count, MPI_INT, 0, MPI_COMM_WORLD); });
        check_all_arrives(all, "MPI_Bcast"); // linear
        CHECK_EQUAL(all[0], most);
        CHECK_EQUAL(all[3], most * bytes);
        CHECK_EQUAL(all[2], count == 20000 ? 0 : most);
        all = counted.of(
            barrier, [&] { MPI_Gather(send.data(), 2, MPI_INT, recv.data(), 2, MPI_INT, 0, MPI_COMM_WORLD); });
        check_all_arrives(all, "MPI_Gather"); // linear
        CHECK_EQUAL(all[0], most);
        CHECK_EQUAL(all[3], most * 8);
        all = counted.of(
            barrier, [&] { MPI_Allreduce(send.data(), recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); });
        check_all_arrives(all, "MPI_Allreduce"); // linear: to one rank, and back
        CHECK_EQUAL(all[0], 2 * most);
        CHECK_EQUAL(all[3], 2 * most * bytes);
        check_all_arrives(counted.of(barrier,
                              [&] {
                                  MPI_Request request = MPI_REQUEST_NULL;
                                  MPI_Iallreduce(
                                      send.data(), recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
                                  complete(request);
                              }),
            "MPI_Iallreduce");
    }
    MPI_Request persistent = MPI_REQUEST_NULL;
    MPI_Bcast_init(send.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    for (int start = 0; start < 3; ++start) {
        const auto all = counted.of(barrier, [&] {
            MPI_Start(&persistent);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        });
        check_all_arrives(all, "MPI_Bcast_init");
        CHECK_EQUAL(all[0], most);
    }
    MPI_Request_free(&persistent);
    check_all_arrives(counted.of(barrier, [] { MPI_Barrier(MPI_COMM_WORLD); }), "MPI_Barrier");
}

} // namespace

int main(int argc, char** argv) {
    int provided;
    use_table();
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK_OK(MPI_Init(&argc, &argv));
    unlink(std::getenv("PATCHBAY_MCA_coll_tuned_table"));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    last_algorithm();
    after_another_communicator();
    {
        MemoryBarrier barrier;
        messages(barrier);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return finish();
}
