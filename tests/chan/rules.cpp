// SPDX-License-Identifier: BSD-3-Clause
// All forms of binding and unbinding, with what may differ: order of the two sides, communicators, equal and wildcard
// tags, intercommunicators, the process itself, MPI_PROC_NULL. Every channel then moves messages.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

int rank, size, next, previous;

// Ready: the receive has been started before the send.
void transfer(MPI_Request* send, int* out, MPI_Request* receive, int* in, int count, int value, int source, int tag) {
    std::iota(out, out + count, value + rank);
    CHECK_OK(MPI_Start(receive));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Start(send));
    MPI_Status status;
    CHECK_OK(MPI_Wait(receive, &status));
    CHECK_OK(MPI_Wait(send, MPI_STATUS_IGNORE));
    int got;
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQUAL(got, count);
    CHECK_EQUAL(status.MPI_SOURCE, source);
    CHECK_EQUAL(status.MPI_TAG, tag);
    for (int i = 0; i < count; ++i) {
        CHECK_EQUAL(in[i], value + source + i);
    }
}

// A ring: each process binds a send to the next one and a receive from the previous one.
struct Ring {
    explicit Ring(int tag, int source_tag = MPI_UNDEFINED, int source = MPI_UNDEFINED, MPI_Comm on = MPI_COMM_WORLD)
        : tag(tag) {
        MPI_Send_init(out, count, MPI_INT, next, tag, on, &in_requests[0]);
        MPI_Recv_init(in, count, MPI_INT, source == MPI_UNDEFINED ? previous : source,
            source_tag == MPI_UNDEFINED ? tag : source_tag, on, &in_requests[1]);
    }
    ~Ring() {
        MPI_Request_free(&in_requests[0]);
        MPI_Request_free(&in_requests[1]);
    }
    void use() {
        for (int round = 0; round < 5; ++round) {
            transfer(&bound[0], out, &bound[1], in, count, 1000 * round, previous, tag);
        }
        // The requests that were bound can be used as before, beside the channel.
        transfer(&in_requests[0], out, &in_requests[1], in, count, 77, previous, tag);
        transfer(&bound[0], out, &bound[1], in, count, 5, previous, tag);
    }

    static constexpr int count = 100;
    int tag;
    int out[count], in[count];
    MPI_Request in_requests[2], bound[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

void test_forms() {
    {
        Ring ring(1);
        CHECK_OK(MPIX_Bind_channels(ring.in_requests, ring.bound, 2, nullptr));
        ring.use();
        CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
        CHECK(ring.bound[0] == MPI_REQUEST_NULL && ring.bound[1] == MPI_REQUEST_NULL);
    }
    {
        Ring ring(2);
        MPI_Status statuses[2];
        CHECK_OK(MPIX_Ibind_channel(ring.in_requests[rank % 2], &ring.bound[rank % 2], MPI_INFO_NULL));
        CHECK_OK(MPIX_Ibind_channel(ring.in_requests[1 - rank % 2], &ring.bound[1 - rank % 2], MPI_INFO_NULL));
        CHECK_OK(MPI_Waitall(2, ring.in_requests, statuses));
        CHECK_EQUAL(statuses[0].MPI_SOURCE, next);
        CHECK_EQUAL(statuses[1].MPI_SOURCE, previous);
        CHECK_EQUAL(statuses[1].MPI_TAG, 2);
        CHECK(ring.in_requests[0] != MPI_REQUEST_NULL && ring.bound[0] != MPI_REQUEST_NULL);
        ring.use();
        CHECK_OK(MPIX_Iunbind_channel(ring.bound[0], MPI_INFO_NULL));
        CHECK_OK(MPIX_Iunbind_channel(ring.bound[1], MPI_INFO_NULL));
        CHECK_OK(MPI_Waitall(2, ring.bound, MPI_STATUSES_IGNORE));
        CHECK(ring.bound[0] == MPI_REQUEST_NULL && ring.bound[1] == MPI_REQUEST_NULL);
    }
    {
        Ring ring(3);
        MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
        CHECK_OK(MPIX_Ibind_channels(ring.in_requests, ring.bound, 2, infos));
        for (int left = 2; left > 0;) {
            int done, indices[2];
            CHECK_OK(MPI_Waitsome(2, ring.in_requests, &done, indices, MPI_STATUSES_IGNORE));
            left -= done;
        }
        ring.use();
        CHECK_OK(MPIX_Iunbind_channels(ring.bound, 2, infos));
        for (int flag = 0; !flag;) {
            CHECK_OK(MPI_Testall(2, ring.bound, &flag, MPI_STATUSES_IGNORE));
        }
    }
    {
        Ring ring(4);
        int slackness[2] = {3, 3};
        CHECK_OK(MPIX_Bind_slack_channels(ring.in_requests, ring.bound, 2, slackness, nullptr));
        ring.use();
        CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
        CHECK_OK(MPIX_Ibind_slack_channel(ring.in_requests[0], &ring.bound[0], 2, MPI_INFO_NULL));
        CHECK_OK(MPIX_Ibind_slack_channel(ring.in_requests[1], &ring.bound[1], 2, MPI_INFO_NULL));
        for (int left = 2; left > 0; --left) {
            int index;
            CHECK_OK(MPI_Waitany(2, ring.in_requests, &index, MPI_STATUS_IGNORE));
            CHECK(index != MPI_UNDEFINED && ring.bound[index] != MPI_REQUEST_NULL);
        }
        ring.use();
        CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
        CHECK_OK(MPIX_Ibind_slack_channels(ring.in_requests, ring.bound, 2, slackness, nullptr));
        for (int done = 0, flag = 0; done < 2; done += flag) {
            int index;
            CHECK_OK(MPI_Testany(2, ring.in_requests, &index, &flag, MPI_STATUS_IGNORE));
        }
        ring.use();
        CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
    }
}

// The blocking forms for one request, in an order that no process waits in for ever.
void test_blocking() {
    if (size % 2 != 0) {
        return;
    }
    Ring ring(5);
    for (int side = 0; side < 2; ++side) {
        const int i = (side + rank) % 2;
        if (side == 0) {
            CHECK_OK(MPIX_Bind_channel(ring.in_requests[i], &ring.bound[i], MPI_INFO_NULL));
        } else {
            CHECK_OK(MPIX_Bind_slack_channel(ring.in_requests[i], &ring.bound[i], 1, MPI_INFO_NULL));
        }
    }
    ring.use();
    CHECK_OK(MPIX_Unbind_channel(&ring.bound[rank % 2]));
    CHECK(ring.bound[rank % 2] == MPI_REQUEST_NULL);
    CHECK_OK(MPIX_Unbind_channel(&ring.bound[1 - rank % 2]));
}

// Many binds in one call, in an order of each process's own, on several communicators; several have equal tags. Any
// pairing of the equal ones is right; a message says who has sent it.
void test_plural() {
    constexpr int pairs = 12;
    MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]); // reversed
    std::vector<int> order(2 * pairs);
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < 2 * pairs; ++i) {
        std::swap(order[std::size_t(i)], order[std::size_t((i * 7 + rank * 5) % (2 * pairs))]);
    }
    std::vector<MPI_Request> ins(2 * pairs), outs(2 * pairs);
    int out[pairs], in[pairs];
    for (int i = 0; i < 2 * pairs; ++i) {
        const int which = order[std::size_t(i)], pair = which / 2;
        const MPI_Comm comm = comms[pair % 3];
        int own;
        MPI_Comm_rank(comm, &own);
        const int tag = pair % 2 == 0 ? 50 : pair; // every second one is equal to others
        if (which % 2 == 0) {
            MPI_Send_init(&out[pair], 1, MPI_INT, (own + 1) % size, tag, comm, &ins[std::size_t(i)]);
        } else {
            MPI_Recv_init(&in[pair], 1, MPI_INT, (own + size - 1) % size, tag, comm, &ins[std::size_t(i)]);
        }
    }
    CHECK_OK(MPIX_Bind_channels(ins.data(), outs.data(), 2 * pairs, nullptr));
    for (int round = 0; round < 3; ++round) {
        std::vector<MPI_Request> sends, receives;
        for (int i = 0; i < 2 * pairs; ++i) {
            (order[std::size_t(i)] % 2 == 0 ? sends : receives).push_back(outs[std::size_t(i)]);
        }
        for (int pair = 0; pair < pairs; ++pair) {
            out[pair] = rank * 1000 + pair;
            in[pair] = -1;
        }
        CHECK_OK(MPI_Startall(pairs, receives.data()));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Startall(pairs, sends.data()));
        CHECK_OK(MPI_Waitall(pairs, sends.data(), MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(pairs, receives.data(), MPI_STATUSES_IGNORE));
        std::vector<bool> seen(pairs, false);
        for (int pair = 0; pair < pairs; ++pair) {
            const int source = pair % 3 == 2 ? next : previous, sent = in[pair] % 1000;
            CHECK_EQUAL(in[pair] / 1000, source);
            CHECK(sent >= 0 && sent < pairs && !seen[std::size_t(sent)]);
            CHECK(sent == pair || (sent % 2 == 0 && pair % 2 == 0 && sent % 3 == pair % 3));
            if (sent >= 0 && sent < pairs) {
                seen[std::size_t(sent)] = true;
            }
        }
    }
    CHECK_OK(MPIX_Unbind_channels(outs.data(), 2 * pairs));
    for (MPI_Request& request : ins) {
        MPI_Request_free(&request);
    }
    MPI_Comm_free(&comms[1]);
    MPI_Comm_disconnect(&comms[2]);
}

void test_wildcards() {
    {
        Ring ring(60, MPI_ANY_TAG);
        CHECK_OK(MPIX_Bind_channels(ring.in_requests, ring.bound, 2, nullptr));
        for (int round = 0; round < 3; ++round) {
            transfer(&ring.bound[0], ring.out, &ring.bound[1], ring.in, Ring::count, round, previous, 60);
        }
        CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
    }
    {
        Ring ring(61, 61, MPI_ANY_SOURCE);
        CHECK_OK(MPIX_Bind_channels(ring.in_requests, ring.bound, 2, nullptr));
        transfer(&ring.bound[0], ring.out, &ring.bound[1], ring.in, Ring::count, 3, previous, 61);
        CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
    }
    // Rank 0 binds a receive from each process; the status says from which.
    int value = rank, got[64];
    MPI_Request in, bound, ins[64], bounds[64];
    MPI_Send_init(&value, 1, MPI_INT, 0, 10 + rank, MPI_COMM_WORLD, &in);
    CHECK_OK(MPIX_Ibind_channel(in, &bound, MPI_INFO_NULL));
    std::vector<MPI_Status> statuses(std::size_t(size), MPI_Status{});
    if (rank == 0) {
        for (int i = 0; i < size; ++i) {
            MPI_Recv_init(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ins[i]);
        }
        CHECK_OK(MPIX_Ibind_channels(ins, bounds, size, nullptr));
        CHECK_OK(MPI_Waitall(size, ins, statuses.data()));
        CHECK_OK(MPI_Startall(size, bounds));
    }
    CHECK_OK(MPI_Wait(&in, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Start(&bound));
    CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
    if (rank == 0) {
        std::vector<MPI_Status> received(std::size_t(size), MPI_Status{});
        CHECK_OK(MPI_Waitall(size, bounds, received.data()));
        std::vector<bool> seen(std::size_t(size), false);
        for (int i = 0; i < size; ++i) {
            const MPI_Status& status = statuses[std::size_t(i)];
            CHECK_EQUAL(got[i], status.MPI_SOURCE);
            CHECK_EQUAL(status.MPI_TAG, 10 + status.MPI_SOURCE);
            CHECK_EQUAL(received[std::size_t(i)].MPI_SOURCE, status.MPI_SOURCE);
            CHECK_EQUAL(received[std::size_t(i)].MPI_TAG, status.MPI_TAG);
            CHECK(!seen[std::size_t(status.MPI_SOURCE)]);
            seen[std::size_t(status.MPI_SOURCE)] = true;
        }
        CHECK_OK(MPIX_Iunbind_channels(bounds, size, nullptr));
    }
    CHECK_OK(MPIX_Iunbind_channel(bound, MPI_INFO_NULL));
    CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
    if (rank == 0) {
        CHECK_OK(MPI_Waitall(size, bounds, MPI_STATUSES_IGNORE));
        for (int i = 0; i < size; ++i) {
            MPI_Request_free(&ins[i]);
        }
    }
    MPI_Request_free(&in);
}

void test_intercommunicator() {
    if (size < 2) {
        return;
    }
    const int half = size / 2, side = rank < half ? 0 : 1;
    MPI_Comm local, inter;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? half : 0, 1, &inter);
    int own, remote_size;
    MPI_Comm_rank(inter, &own);
    MPI_Comm_remote_size(inter, &remote_size);
    if (own < std::min(half, size - half)) {
        int out = rank + 100, in = -1;
        MPI_Request ins[2], bound[2];
        MPI_Send_init(&out, 1, MPI_INT, own, 9, inter, &ins[0]);
        MPI_Recv_init(&in, 1, MPI_INT, own, 9, inter, &ins[1]);
        CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
        const int partner = side == 0 ? half + own : own;
        for (int round = 0; round < 3; ++round, ++out) {
            MPI_Status status;
            CHECK_OK(MPI_Start(&bound[1]));
            CHECK_OK(MPI_Sendrecv(nullptr, 0, MPI_INT, own, 3, nullptr, 0, MPI_INT, own, 3, inter, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Start(&bound[0]));
            CHECK_OK(MPI_Wait(&bound[1], &status));
            CHECK_OK(MPI_Wait(&bound[0], MPI_STATUS_IGNORE));
            CHECK_EQUAL(in, partner + 100 + round);
            CHECK_EQUAL(status.MPI_SOURCE, own);
        }
        CHECK_OK(MPIX_Unbind_channels(bound, 2));
        MPI_Request_free(&ins[0]);
        MPI_Request_free(&ins[1]);
    }
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&local);
}

void test_self() {
    int out[3] = {4, 5, 6}, in[3] = {};
    MPI_Request ins[2], bound[2];
    MPI_Ssend_init(out, 3, MPI_INT, 0, 0, MPI_COMM_SELF, &ins[0]);
    MPI_Recv_init(in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &ins[1]);
    CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
    for (int round = 0; round < 4; ++round) {
        out[1] = round;
        CHECK_OK(MPI_Start(&bound[1]));
        CHECK_OK(MPI_Start(&bound[0]));
        CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(std::memcmp(in, out, sizeof in), 0);
    }
    CHECK_OK(MPIX_Unbind_channels(bound, 2));
    MPI_Request_free(&ins[0]);
    MPI_Request_free(&ins[1]);
}

void test_proc_null() {
    int data = 7;
    MPI_Request ins[2], bound[2];
    MPI_Send_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &ins[0]);
    MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &ins[1]);
    const int slackness[2] = {1, 4};
    CHECK_OK(MPIX_Bind_slack_channels(ins, bound, 2, const_cast<int*>(slackness), nullptr));
    for (int i = 0; i < 4; ++i) {
        CHECK_OK(MPI_Start(&bound[1]));
    }
    CHECK_CLASS(MPI_Start(&bound[1]), MPI_ERR_REQUEST);
    for (int i = 0; i < 4; ++i) {
        MPI_Status status;
        CHECK_OK(MPI_Wait(&bound[1], &status));
        CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    }
    CHECK_OK(MPI_Start(&bound[0]));
    CHECK_OK(MPI_Wait(&bound[0], MPI_STATUS_IGNORE));
    CHECK_EQUAL(data, 7);
    CHECK_OK(MPIX_Unbind_channel(&bound[0]));
    CHECK_OK(MPIX_Unbind_channel(&bound[1]));
    MPI_Request_free(&ins[0]);
    MPI_Request_free(&ins[1]);
}

// Five starts outstanding, each with its own part of the buffer, forwards in the sender and backwards in the receiver.
void test_circular() {
    constexpr int slots = 5, count = 10;
    int out[slots * count], in[slots * count];
    MPI_Info infos[2];
    MPI_Info_create(&infos[0]);
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[0], "address_base_increment", "10");
    MPI_Info_set(infos[1], "address_base_increment", "-10");
    MPI_Request ins[2], bound[2];
    MPI_Send_init(out, count, MPI_INT, next, 0, MPI_COMM_WORLD, &ins[0]);
    MPI_Recv_init(in + (slots - 1) * count, count, MPI_INT, previous, 0, MPI_COMM_WORLD, &ins[1]);
    int slackness[2] = {slots, slots};
    CHECK_OK(MPIX_Bind_slack_channels(ins, bound, 2, slackness, infos));
    for (int round = 0; round < 4; ++round) {
        std::iota(out, out + slots * count, rank * 1000 + round);
        for (int i = 0; i < slots; ++i) {
            CHECK_OK(MPI_Start(&bound[1]));
        }
        CHECK_CLASS(MPI_Start(&bound[1]), MPI_ERR_REQUEST);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < slots; ++i) {
            CHECK_OK(MPI_Start(&bound[0]));
        }
        for (int i = 0; i < slots; ++i) {
            CHECK_OK(MPI_Wait(&bound[1], MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&bound[0], MPI_STATUS_IGNORE));
            const int* part = in + (slots - 1 - i) * count;
            CHECK_EQUAL(part[0], previous * 1000 + round + i * count);
            CHECK_EQUAL(part[count - 1], previous * 1000 + round + i * count + count - 1);
        }
        int flag;
        CHECK_OK(MPI_Test(&bound[0], &flag, MPI_STATUS_IGNORE)); // inactive
        CHECK_EQUAL(flag, 1);
    }
    CHECK_OK(MPIX_Unbind_channels(bound, 2));
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&ins[i]);
        MPI_Info_free(&infos[i]);
    }
}

// A synchronous send is complete only when its receive has been started.
void test_synchronous() {
    if (size < 2 || rank > 1) {
        return;
    }
    int data = 42;
    MPI_Request in, bound;
    if (rank == 0) {
        MPI_Ssend_init(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &in);
    } else {
        MPI_Recv_init(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &in);
    }
    CHECK_OK(MPIX_Bind_slack_channel(in, &bound, 2, MPI_INFO_NULL));
    for (int round = 0; round < 3; ++round) {
        if (rank == 1) {
            CHECK_OK(MPI_Start(&bound));
            CHECK_OK(MPI_Start(&bound));
        }
        CHECK_OK(MPI_Sendrecv(
            nullptr, 0, MPI_INT, 1 - rank, 3, nullptr, 0, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (rank == 0) {
            CHECK_OK(MPI_Start(&bound));
            CHECK_OK(MPI_Start(&bound));
        }
        CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
        CHECK_EQUAL(data, 42);
    }
    CHECK_OK(MPIX_Unbind_channel(&bound));
    MPI_Request_free(&in);
}

void test_rebind() {
    Ring ring(70);
    CHECK_OK(MPIX_Bind_channels(ring.in_requests, ring.bound, 2, nullptr));
    ring.use();
    int out[Ring::count], in[Ring::count];
    for (const int count : {Ring::count, 10, 0, 50, Ring::count}) {
        CHECK_OK(MPIX_Rebind_channel(ring.bound[0], out, count));
        CHECK_OK(MPIX_Rebind_channel(ring.bound[1], in, count));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        transfer(&ring.bound[0], out, &ring.bound[1], in, count, count, previous, 70);
    }
    // Fewer elements than the receiver expects.
    CHECK_OK(MPIX_Rebind_channel(ring.bound[0], out, 3));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    transfer(&ring.bound[0], out, &ring.bound[1], in, 3, 8, previous, 70);
    CHECK_OK(MPIX_Rebind_channel(ring.bound[0], ring.out, Ring::count));
    CHECK_OK(MPIX_Rebind_channel(ring.bound[1], ring.in, Ring::count));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    ring.use();
    CHECK_OK(MPIX_Unbind_channels(ring.bound, 2));
}

// Channels of several lengths carry messages of 8 bytes, and others that are shorter than what was bound: these stand
// in other places of chan/sm's chunks. A channel takes a shorter way from its second start on.
void test_rebound_lengths() {
    for (const int most : {100, 300, 1'000, 2'000, 5'000}) {
        std::vector<int> out(std::size_t(most), 0), in(std::size_t(most), 0);
        MPI_Request ins[2], bound[2];
        MPI_Send_init(out.data(), most, MPI_INT, next, 71, MPI_COMM_WORLD, &ins[0]);
        MPI_Recv_init(in.data(), most, MPI_INT, previous, 71, MPI_COMM_WORLD, &ins[1]);
        CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
        for (const int count : {most, 2, most / 2, 1, most, 2}) {
            CHECK_OK(MPIX_Rebind_channel(bound[0], out.data(), count));
            CHECK_OK(MPIX_Rebind_channel(bound[1], in.data(), count));
            for (int start = 0; start < 3; ++start) {
                CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
                transfer(&bound[0], out.data(), &bound[1], in.data(), count, count + start, previous, 71);
            }
        }
        CHECK_OK(MPIX_Rebind_channel(bound[1], in.data(), most)); // room for more than the 2 elements that come
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        transfer(&bound[0], out.data(), &bound[1], in.data(), 2, 9, previous, 71);
        CHECK_OK(MPIX_Unbind_channels(bound, 2));
        MPI_Request_free(&ins[0]);
        MPI_Request_free(&ins[1]);
    }
}

// The channel has its own references: what it was made of may go.
void test_lifetime() {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Type_vector(4, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    int out[8], in[8] = {};
    std::iota(out, out + 8, rank);
    MPI_Request ins[2], bound[2];
    MPI_Send_init(out, 1, type, next, 1, comm, &ins[0]);
    MPI_Recv_init(in, 1, type, previous, 1, comm, &ins[1]);
    CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr));
    MPI_Request_free(&ins[0]);
    MPI_Request_free(&ins[1]);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    CHECK_OK(MPI_Start(&bound[1]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Start(&bound[0]));
    CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 8; i += 2) {
        CHECK_EQUAL(in[i], previous + i);
        CHECK_EQUAL(in[i + 1], 0);
    }
    CHECK_OK(MPIX_Unbind_channels(bound, 2));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    test_forms();
    test_blocking();
    test_plural();
    test_wildcards();
    test_intercommunicator();
    test_self();
    test_proc_null();
    test_circular();
    test_synchronous();
    test_rebind();
    test_rebound_lengths();
    test_lifetime();
    return finish();
}
