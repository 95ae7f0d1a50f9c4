// SPDX-License-Identifier: BSD-3-Clause
// Which requests match: those of one communicator, tag and pair of ranks in the order of their initialization, whatever
// the order of the starts; never ordinary messages. Also when the two sides are initialized at different times, or a
// request is freed before it was started.
#include "tests/mpi_check/check.h"

#include <vector>

namespace {

int rank, size, next_rank, previous_rank;

constexpr int partitions = 4, count = 300;
using Data = std::vector<int>;

Data values(int base) {
    Data data(partitions * count);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = base + int(i);
    }
    return data;
}

MPI_Request make_send(const Data& data, int tag, MPI_Comm comm) {
    MPI_Request request;
    CHECK_OK(MPI_Psend_init(data.data(), partitions, count, MPI_INT, next_rank, tag, comm, MPI_INFO_NULL, &request));
    return request;
}

MPI_Request make_receive(Data& data, int tag, MPI_Comm comm) {
    MPI_Request request;
    data.assign(partitions * count, -1);
    CHECK_OK(
        MPI_Precv_init(data.data(), partitions, count, MPI_INT, previous_rank, tag, comm, MPI_INFO_NULL, &request));
    return request;
}

void start_and_send(MPI_Request& request) {
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Pready_range(0, partitions - 1, request));
}

void free_all(std::vector<MPI_Request>& requests) {
    for (MPI_Request& request : requests) {
        CHECK_OK(MPI_Request_free(&request));
    }
}

// Several requests with the same tag, started in different orders on the two sides, and others between them.
void test_order(MPI_Comm comm, MPI_Comm other) {
    constexpr std::size_t same = 6;
    std::vector<Data> out, in(same + 2);
    for (int i = 0; i < int(same) + 2; ++i) {
        out.push_back(values(rank * 100000 + i * 5000));
    }
    std::vector<MPI_Request> sends, receives;
    for (std::size_t i = 0; i < same; ++i) {
        sends.push_back(make_send(out[i], 3, comm));
    }
    sends.push_back(make_send(out[same], 4, comm));
    sends.push_back(make_send(out[same + 1], 3, other));
    receives.resize(same + 2);
    receives[same + 1] = make_receive(in[same + 1], 3, other);
    receives[same] = make_receive(in[same], 4, comm);
    for (std::size_t i = 0; i < same; ++i) {
        receives[i] = make_receive(in[i], 3, comm);
    }
    for (std::size_t round = 0; round < 4; ++round) {
        for (std::size_t i = sends.size(); i > 0; --i) {
            start_and_send(sends[(i - 1 + round) % sends.size()]);
        }
        for (std::size_t i = 0; i < receives.size(); ++i) {
            CHECK_OK(MPI_Start(&receives[(i * 3 + round) % receives.size()]));
        }
        CHECK_OK(MPI_Waitall(int(sends.size()), sends.data(), MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(int(receives.size()), receives.data(), MPI_STATUSES_IGNORE));
        for (std::size_t i = 0; i < in.size(); ++i) {
            CHECK(in[i] == values(previous_rank * 100000 + int(i) * 5000));
            in[i].assign(in[i].size(), -1);
        }
    }
    free_all(sends);
    free_all(receives);
}

// A receive with wildcards and a probe see ordinary messages only, and a partitioned receive sees none of these.
void test_ordinary_messages(MPI_Comm comm) {
    const Data out = values(rank);
    Data in;
    MPI_Request send = make_send(out, 7, comm);
    start_and_send(send);
    int flag = 0;
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    MPI_Barrier(comm);
    const int number = rank + 17;
    int got = 0;
    MPI_Request ordinary[2];
    MPI_Status statuses[2];
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &ordinary[0]));
    MPI_Request receive = make_receive(in, 7, comm);
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(in == values(previous_rank));
    CHECK_OK(MPI_Test(&ordinary[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    MPI_Barrier(comm);
    // An ordinary message with the same tag, between two rounds.
    in.assign(in.size(), -1);
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Isend(&number, 1, MPI_INT, next_rank, 7, comm, &ordinary[1]));
    CHECK_OK(MPI_Waitall(2, ordinary, statuses));
    CHECK_EQUAL(got, previous_rank + 17);
    CHECK_EQUAL(statuses[0].MPI_TAG, 7);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Parrived(receive, 0, &flag));
    CHECK(!flag);
    CHECK(in == Data(in.size(), -1));
    MPI_Barrier(comm);
    start_and_send(send);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(in == values(previous_rank));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

// MPI_Pready does not wait for the other side, which may be initialized much later, or earlier.
void test_delays(MPI_Comm comm) {
    for (int early = 0; early < 2; ++early) {
        const Data out = values(rank + 9);
        Data in;
        MPI_Request receive = MPI_REQUEST_NULL;
        if (early) {
            receive = make_receive(in, 8, comm);
            CHECK_OK(MPI_Start(&receive));
        }
        MPI_Barrier(comm);
        MPI_Request send = make_send(out, 8, comm);
        start_and_send(send);
        MPI_Barrier(comm);
        if (!early) {
            receive = make_receive(in, 8, comm);
            CHECK_OK(MPI_Start(&receive));
        }
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK(in == values(previous_rank + 9));
        CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Request_free(&receive));
    }
}

// Requests that are freed before a start match one another, not the next ones; each order of init and free.
void test_unstarted(MPI_Comm comm) {
    const Data never = values(-5000), out = values(rank + 3);
    Data unused, in;
    for (int order = 0; order < 3; ++order) {
        MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
        if (order == 0) { // the receive is freed before the send exists
            receive = make_receive(unused, 6, comm);
            CHECK_OK(MPI_Request_free(&receive));
            MPI_Barrier(comm);
            send = make_send(never, 6, comm);
            CHECK_OK(MPI_Request_free(&send));
        } else if (order == 1) {
            send = make_send(never, 6, comm);
            CHECK_OK(MPI_Request_free(&send));
            MPI_Barrier(comm);
            receive = make_receive(unused, 6, comm);
            CHECK_OK(MPI_Request_free(&receive));
        } else {
            send = make_send(never, 6, comm);
            receive = make_receive(unused, 6, comm);
            MPI_Barrier(comm);
            CHECK_OK(MPI_Request_free(&receive));
            CHECK_OK(MPI_Request_free(&send));
        }
        send = make_send(out, 6, comm);
        receive = make_receive(in, 6, comm);
        CHECK_OK(MPI_Start(&receive));
        start_and_send(send);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK(in == values(previous_rank + 3));
        CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Request_free(&receive));
    }
}

void test_null_process(MPI_Comm comm) {
    int data[8] = {};
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(data, 4, 2, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(data, 2, 4, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; ++round) {
        CHECK_OK(MPI_Startall(2, requests));
        int flag = 0, elements = -1;
        CHECK_OK(MPI_Pready_range(0, 2, requests[0]));
        CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE)); // as with any other partner
        CHECK(!flag);
        CHECK_OK(MPI_Pready(3, requests[0]));
        CHECK_OK(MPI_Parrived(requests[1], 1, &flag));
        CHECK(flag);
        MPI_Status statuses[2];
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        CHECK_EQUAL(statuses[1].MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQUAL(statuses[1].MPI_TAG, MPI_ANY_TAG);
        CHECK_OK(MPI_Get_count(&statuses[1], MPI_INT, &elements));
        CHECK_EQUAL(elements, 0);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    next_rank = (rank + 1) % size;
    previous_rank = (rank + size - 1) % size;
    test_order(comm, other);
    test_ordinary_messages(comm);
    test_delays(comm);
    test_unstarted(comm);
    test_null_process(comm);
    // A receive that nothing ever matches does not keep the communicator.
    Data unused;
    MPI_Request receive = make_receive(unused, 9, comm);
    CHECK_OK(MPI_Request_free(&receive));
    receive = make_receive(unused, 9, other);
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK_OK(MPI_Comm_free(&other));
    return finish();
}
