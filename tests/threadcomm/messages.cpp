// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point between threads of one and of several processes: all modes, sizes on both sides of every limit,
// wildcards, order, truncation, probes, matched probes, cancelling, persistent requests, derived datatypes, and more
// messages than an inbox has slots.
#include "tests/threadcomm/region.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <string>

namespace {

int next(const Here& here) {
    return (here.rank + 1) % here.size;
}
int previous(const Here& here) {
    return (here.rank + here.size - 1) % here.size;
}

void ring_of_sizes(const Here& here) {
    for (const int bytes : {0, 1, 8, 31, 32, 33, 2047, 2048, 2049, 4096, 4097, 65536, 1 << 20}) {
        std::vector<unsigned char> out(std::size_t(bytes) + 1, static_cast<unsigned char>(here.rank + bytes));
        std::vector<unsigned char> in(std::size_t(bytes) + 1, 255);
        MPI_Status status;
        CHECK_OK(MPI_Sendrecv(out.data(), bytes, MPI_BYTE, next(here), bytes % 1000, in.data(), bytes, MPI_BYTE,
            previous(here), bytes % 1000, here.comm, &status));
        int count = -1;
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_EQUAL(count, bytes);
        CHECK_EQUAL(status.MPI_SOURCE, previous(here));
        CHECK_EQUAL(status.MPI_TAG, bytes % 1000);
        const auto wanted = static_cast<unsigned char>(previous(here) + bytes);
        CHECK(std::all_of(in.begin(), in.end() - 1, [wanted](unsigned char one) { return one == wanted; }));
        CHECK_EQUAL(in.back(), 255);
    }
}

// Each rank sends to each, itself included, without a receive before: more than an inbox has room for.
void flood(const Here& here, int bytes, int messages) {
    std::vector<char> out(std::size_t(bytes), char(here.rank));
    std::vector<MPI_Request> requests;
    for (int i = 0; i < messages; ++i) {
        for (int dest = 0; dest < here.size; ++dest) {
            requests.emplace_back();
            CHECK_OK(MPI_Isend(out.data(), bytes, MPI_CHAR, dest, i, here.comm, &requests.back()));
        }
    }
    std::vector<char> in(std::size_t(bytes), -1);
    std::vector<int> received(std::size_t(here.size), 0);
    for (int i = 0; i < messages * here.size; ++i) {
        MPI_Status status;
        CHECK_OK(MPI_Recv(in.data(), bytes, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, here.comm, &status));
        // In the order of each sender.
        CHECK_EQUAL(status.MPI_TAG, received[std::size_t(status.MPI_SOURCE)]++);
        CHECK(bytes == 0 || in.back() == char(status.MPI_SOURCE));
    }
    CHECK_OK(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

void blocking_flood(const Here& here) {
    for (int i = 0; i < 500; ++i) {
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, next(here), 3, here.comm));
    }
    for (int i = 0; i < 500; ++i) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, previous(here), 3, here.comm, MPI_STATUS_IGNORE));
        CHECK_EQUAL(got, i);
    }
}

// A synchronous send is not complete before its receive.
void synchronous(const Here& here) {
    int out = here.rank, in = -1, flag = 1;
    MPI_Request request;
    CHECK_OK(MPI_Issend(&out, 1, MPI_INT, next(here), 1, here.comm, &request));
    for (int i = 0; i < 50; ++i) {
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, previous(here), 1, here.comm, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in, previous(here));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, previous(here), 2, here.comm, &request));
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Rsend(&out, 1, MPI_INT, next(here), 2, here.comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void buffered(const Here& here) {
    std::vector<int> out(5000, here.rank), in(5000, -1);
    std::vector<char> space(5000 * sizeof(int) + 2 * MPI_BSEND_OVERHEAD);
    CHECK_CLASS(MPI_Bsend(out.data(), 5000, MPI_INT, next(here), 1, here.comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_attach_buffer(here.comm, space.data(), int(space.size())));
    CHECK_OK(MPI_Bsend(out.data(), 5000, MPI_INT, next(here), 1, here.comm));
    out.assign(5000, -2);
    CHECK_OK(MPI_Recv(in.data(), 5000, MPI_INT, previous(here), 1, here.comm, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in[4999], previous(here));
    void* address = nullptr;
    int size = 0;
    CHECK_OK(MPI_Comm_detach_buffer(here.comm, &address, &size));
}

void truncation(const Here& here) {
    for (const int count : {4, 100, 1000, 20000}) {
        std::vector<int> out(std::size_t(count), here.rank), in(std::size_t(count), -1);
        MPI_Request request;
        CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, next(here), 9, here.comm, &request));
        const int code = MPI_Recv(in.data(), count / 2, MPI_INT, previous(here), 9, here.comm, MPI_STATUS_IGNORE);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK_EQUAL(in[std::size_t(count) / 2], -1);
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(code, text, &length);
        const std::string wanted = "the message from rank " + std::to_string(previous(here)) + " with tag 9 has " +
            std::to_string(4 * count) + " bytes, the buffer takes " + std::to_string(4 * (count / 2));
        CHECK(std::strstr(text, wanted.c_str()) != nullptr);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

void probes(const Here& here) {
    for (const int count : {3, 3000}) {
        std::vector<int> out(std::size_t(count), here.rank), in(std::size_t(count), -1);
        MPI_Request request;
        MPI_Status status;
        int got = -1, flag = 0;
        CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, next(here), 4, here.comm, &request));
        CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 4, here.comm, &status));
        CHECK_EQUAL(status.MPI_SOURCE, previous(here));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &got));
        CHECK_EQUAL(got, count);
        CHECK_OK(MPI_Iprobe(previous(here), 5, here.comm, &flag, &status));
        CHECK(!flag);
        MPI_Message message;
        CHECK_OK(MPI_Mprobe(previous(here), MPI_ANY_TAG, here.comm, &message, &status));
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, here.comm, &flag, &status));
        CHECK(!flag);
        CHECK_OK(MPI_Mrecv(in.data(), count, MPI_INT, &message, &status));
        CHECK_EQUAL(in.back(), previous(here));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(here.comm));
        CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, next(here), 4, here.comm, &request));
        for (flag = 0; !flag;) {
            CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, here.comm, &flag, &message, &status));
        }
        MPI_Request receive;
        CHECK_OK(MPI_Imrecv(in.data(), count, MPI_INT, &message, &receive));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(here.comm));
    }
}

void cancelling(const Here& here) {
    int in = -1, cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 77, here.comm, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
    CHECK_OK(MPI_Barrier(here.comm));
}

void persistent(const Here& here) {
    std::array<int, 600> out{}, in{};
    MPI_Request requests[2];
    CHECK_OK(MPI_Send_init(out.data(), 600, MPI_INT, next(here), 6, here.comm, &requests[0]));
    CHECK_OK(MPI_Recv_init(in.data(), 600, MPI_INT, previous(here), 6, here.comm, &requests[1]));
    for (int round = 0; round < 10; ++round) {
        out.fill(here.rank * 100 + round);
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(in[599], previous(here) * 100 + round);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

// No message of the neighbour with this tag is there, once its sends before are complete.
void check_gone(const Here& here, int tag) {
    int flag = -1;
    CHECK_OK(MPI_Sendrecv(
        nullptr, 0, MPI_INT, next(here), 5, nullptr, 0, MPI_INT, previous(here), 5, here.comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Iprobe(previous(here), tag, here.comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Barrier(here.comm)); // before the neighbour sends another one
}

// A cancelled synchronous send behind and before other messages of its sender; another one that is received.
void cancelled_sends(const Here& here) {
    for (int i = 0; i < 10; ++i) {
        const int tag_of_cancelled = 10 + i; // a neighbour may be ahead
        int out = i, in = -1, cancelled = -1;
        MPI_Request request, other;
        MPI_Status status;
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, next(here), 1, here.comm));
        CHECK_OK(MPI_Issend(&out, 1, MPI_INT, next(here), tag_of_cancelled, here.comm, &request));
        CHECK_OK(MPI_Issend(&out, 1, MPI_INT, next(here), 3, here.comm, &other));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, next(here), 4, here.comm));
        for (const int tag : {4, 3, 1}) {
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, previous(here), tag, here.comm, MPI_STATUS_IGNORE));
            CHECK_EQUAL(in, i);
        }
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled);
        CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
        check_gone(here, tag_of_cancelled);
    }
}

// Long ones of the standard mode, several times by the same persistent request, which is received in between.
void cancelled_long_sends(const Here& here) {
    constexpr int count = 100'000;
    std::vector<int> out(count), in(count);
    MPI_Request request;
    CHECK_OK(MPI_Send_init(out.data(), count, MPI_INT, next(here), 30, here.comm, &request));
    for (int i = 0; i < 6; ++i) {
        std::ranges::fill(out, i);
        CHECK_OK(MPI_Start(&request));
        if (i % 2 == 0) {
            int cancelled = -1;
            MPI_Status status;
            CHECK_OK(MPI_Cancel(&request));
            CHECK_OK(MPI_Wait(&request, &status));
            CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
            CHECK(cancelled);
            check_gone(here, 30);
        } else {
            CHECK_OK(MPI_Recv(in.data(), count, MPI_INT, previous(here), 30, here.comm, MPI_STATUS_IGNORE));
            CHECK(std::ranges::count(in, i) == count);
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    CHECK_OK(MPI_Request_free(&request));
}

// A matched message is not cancelled any more.
void cancelled_too_late(const Here& here) {
    int out = here.rank, in = -1, cancelled = -1;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    CHECK_OK(MPI_Issend(&out, 1, MPI_INT, next(here), 31, here.comm, &request));
    CHECK_OK(MPI_Mprobe(previous(here), 31, here.comm, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Barrier(here.comm));
    CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in, previous(here));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(!cancelled);
}

// More senders than a receiver has lanes, each of which sends short and long messages in turn; they arrive in the order
// of each sender.
void many_senders(const Here& here) {
    constexpr int messages = 60;
    const std::array<int, 4> counts{1, 100, 1000, 3000};
    std::vector<int> data(3000, here.rank);
    if (here.rank != 0) {
        for (int i = 0; i < messages; ++i) {
            CHECK_OK(MPI_Send(data.data(), counts[std::size_t(i % 4)], MPI_INT, 0, i, here.comm));
        }
        return;
    }
    std::vector<int> received(std::size_t(here.size), 0);
    for (int i = 0; i < messages * (here.size - 1); ++i) {
        MPI_Status status;
        int count = -1;
        CHECK_OK(MPI_Recv(data.data(), 3000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, here.comm, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_EQUAL(status.MPI_TAG, received[std::size_t(status.MPI_SOURCE)]++);
        CHECK_EQUAL(count, counts[std::size_t(status.MPI_TAG % 4)]);
        CHECK(data[0] == status.MPI_SOURCE && data[std::size_t(count) - 1] == status.MPI_SOURCE);
    }
}

// Messages that are never received; their senders may have finished before their receivers drop them.
void unmatched(const Here& here) {
    const std::array<char, 1000> out{};
    for (int i = 0; i < 20; ++i) {
        CHECK_OK(MPI_Send(out.data(), 1 + i % 2 * 999, MPI_CHAR, next(here), i, here.comm));
    }
    CHECK_OK(MPI_Barrier(here.comm));
}

// Every other element, short and long, to another layout.
void datatypes(const Here& here, MPI_Datatype strided, MPI_Datatype long_strided) {
    std::vector<int> out(40000), in(40000, -1);
    std::iota(out.begin(), out.end(), here.rank);
    for (const auto& [type, count] : {std::pair(strided, 100), std::pair(long_strided, 20000)}) {
        MPI_Request request;
        CHECK_OK(MPI_Isend(out.data(), 1, type, next(here), 8, here.comm, &request));
        CHECK_OK(MPI_Recv(in.data(), count, MPI_INT, previous(here), 8, here.comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in[0], previous(here));
        CHECK_EQUAL(in[std::size_t(count) - 1], previous(here) + 2 * (count - 1));
        CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, next(here), 8, here.comm, &request));
        std::fill(in.begin(), in.end(), -1);
        CHECK_OK(MPI_Recv(in.data(), 1, type, previous(here), 8, here.comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in[2], previous(here) + 1);
        CHECK_EQUAL(in[3], -1);
    }
}

// The tags have their full range between processes, too.
void large_tags(const Here& here, int highest) {
    int in = -1;
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, previous(here), highest, here.comm, &request));
    CHECK_OK(MPI_Send(&here.rank, 1, MPI_INT, next(here), highest, here.comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(in, previous(here));
    CHECK_CLASS(MPI_Send(&here.rank, 1, MPI_INT, next(here), highest + 1, here.comm), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&here.rank, 1, MPI_INT, here.size, 0, here.comm), MPI_ERR_RANK);
    CHECK_OK(MPI_Send(&here.rank, 1, MPI_INT, MPI_PROC_NULL, 0, here.comm));
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int flag = 0, processes = 0, *highest = nullptr;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &flag);
    MPI_Datatype strided, long_strided;
    MPI_Type_vector(100, 1, 2, MPI_INT, &strided);
    MPI_Type_vector(20000, 1, 2, MPI_INT, &long_strided);
    MPI_Type_commit(&strided);
    MPI_Type_commit(&long_strided);
    for (const int threads : {1, 2, 4}) {
        in_region(threads, threads != 4, [&](const Here& here) {
            // Some parts receive from anyone: none begins before all have ended the one before.
            ring_of_sizes(here);
            MPI_Barrier(here.comm);
            flood(here, 4, 100);
            MPI_Barrier(here.comm);
            flood(here, 500, 60);
            MPI_Barrier(here.comm);
            flood(here, 5000, 20);
            MPI_Barrier(here.comm);
            blocking_flood(here);
            MPI_Barrier(here.comm);
            synchronous(here);
            MPI_Barrier(here.comm);
            buffered(here);
            MPI_Barrier(here.comm);
            truncation(here);
            MPI_Barrier(here.comm);
            probes(here);
            MPI_Barrier(here.comm);
            cancelling(here);
            MPI_Barrier(here.comm);
            cancelled_sends(here);
            cancelled_long_sends(here);
            cancelled_too_late(here);
            MPI_Barrier(here.comm);
            persistent(here);
            MPI_Barrier(here.comm);
            datatypes(here, strided, long_strided);
            large_tags(here, *highest);
        });
    }
    in_region(processes > 2 ? 3 : 12, true, many_senders);
    for (int i = 0; i < 20; ++i) {
        in_region(3, true, unmatched);
    }
    MPI_Type_free(&strided);
    MPI_Type_free(&long_strided);
    return finish();
}
