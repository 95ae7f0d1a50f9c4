// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_disconnect waits until all communication is complete, not until the program has completed its requests:
// MPI-5.0, 11.10.4. The requests that it leaves behind are completed afterwards.
#include "tests/mpi_check/check.h"

#include <vector>

namespace {

constexpr int large = 200000; // above every eager limit
int rank;
int size;

struct Pending {
    MPI_Comm comm = MPI_COMM_NULL;
    int next = (rank + 1) % size;
    int previous = (rank + size - 1) % size;
    std::vector<int> in = std::vector<int>(large, -1);
    std::vector<int> out = std::vector<int>(large, rank);
    std::vector<MPI_Request> requests;

    Pending() {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    }
    MPI_Request* request() {
        requests.push_back(MPI_REQUEST_NULL);
        return &requests.back();
    }
    void disconnect() {
        CHECK_OK(MPI_Comm_disconnect(&comm));
        CHECK(comm == MPI_COMM_NULL);
    }
    void complete() { CHECK_OK(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE)); }
};

void test_messages() {
    for (const int count : {1, large}) {
        for (const auto send : {&MPI_Isend, &MPI_Issend}) {
            Pending pending;
            CHECK_OK(
                MPI_Irecv(pending.in.data(), count, MPI_INT, pending.previous, 0, pending.comm, pending.request()));
            CHECK_OK(send(pending.out.data(), count, MPI_INT, pending.next, 0, pending.comm, pending.request()));
            pending.disconnect();
            CHECK_EQUAL(pending.in[std::size_t(count) - 1], pending.previous);
            MPI_Status status;
            CHECK_OK(MPI_Wait(&pending.requests[0], &status));
            CHECK_EQUAL(status.MPI_SOURCE, pending.previous);
            int got = 0;
            MPI_Get_count(&status, MPI_INT, &got);
            CHECK_EQUAL(got, count);
            pending.complete();
        }
    }
}

void test_other_requests() {
    Pending pending;
    std::vector<char> room(large * sizeof(int) + MPI_BSEND_OVERHEAD);
    CHECK_OK(MPI_Comm_attach_buffer(pending.comm, room.data(), int(room.size())));
    CHECK_OK(MPI_Ibsend(pending.out.data(), large, MPI_INT, pending.next, 0, pending.comm, pending.request()));
    MPI_Message message;
    CHECK_OK(MPI_Mprobe(pending.previous, 0, pending.comm, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Imrecv(pending.in.data(), large, MPI_INT, &message, pending.request()));
    CHECK_OK(MPI_Comm_iflush_buffer(pending.comm, pending.request()));
    pending.disconnect();
    CHECK_EQUAL(pending.in[large - 1], pending.previous);
    pending.complete();
}

// A receive with an error, and one that is cancelled.
void test_errors() {
    Pending pending;
    CHECK_OK(MPI_Irecv(pending.in.data(), 1, MPI_INT, pending.previous, 0, pending.comm, pending.request()));
    CHECK_OK(MPI_Isend(pending.out.data(), 2, MPI_INT, pending.next, 0, pending.comm, pending.request()));
    CHECK_OK(MPI_Irecv(pending.in.data(), 1, MPI_INT, pending.previous, 1, pending.comm, pending.request()));
    CHECK_OK(MPI_Cancel(&pending.requests[2]));
    pending.disconnect();
    CHECK_CLASS(MPI_Wait(&pending.requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Status status;
    CHECK_OK(MPI_Wait(&pending.requests[2], &status));
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    pending.complete();
}

void test_collectives() {
    Pending pending;
    int sum = 0;
    CHECK_OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, pending.comm, pending.request()));
    CHECK_OK(MPI_Ibcast(
        rank == 0 ? pending.out.data() : pending.in.data(), large, MPI_INT, 0, pending.comm, pending.request()));
    CHECK_OK(MPI_Ibarrier(pending.comm, pending.request()));
    pending.disconnect();
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    CHECK_EQUAL(pending.in[large - 1], rank == 0 ? -1 : 0);
    pending.complete();
}

void test_constructor() {
    Pending pending;
    MPI_Comm child = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_idup(pending.comm, &child, pending.request()));
    pending.disconnect();
    pending.complete();
    int sum = 0;
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, child));
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Comm_disconnect(&child));
}

// An operation whose request is freed is waited for, as the program does not wait.
void test_freed() {
    Pending pending;
    CHECK_OK(MPI_Irecv(pending.in.data(), large, MPI_INT, pending.previous, 0, pending.comm, pending.request()));
    CHECK_OK(MPI_Isend(pending.out.data(), large, MPI_INT, pending.next, 0, pending.comm, pending.request()));
    for (MPI_Request& request : pending.requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
    pending.disconnect();
    CHECK_EQUAL(pending.in[large - 1], pending.previous);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_messages();
    test_other_requests();
    test_errors();
    test_collectives();
    test_constructor();
    test_freed();
    return finish();
}
