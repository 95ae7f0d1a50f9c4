// SPDX-License-Identifier: BSD-3-Clause
// Calls that are local return while the receiver is in no MPI call and its queue is full: buffered sends, and
// MPI_Cancel of a send.
#include "tests/threadcomm/region.h"

#include <atomic>
#include <chrono>
#include <cstring>

namespace {

constexpr int many = 700; // more than all queues of a receiver have room for
constexpr int number_tag = 1, vector_tag = 2, go_tag = 3, cancelled_tag = 4;
constexpr int vector_words = 600; // every second one; longer than what a queue has in place

// The sender has returned from its calls; the receiver looks at this and does not call MPI. false: after 20 s.
std::atomic<int> returned{0};
bool await_return(int round) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (returned.load() < round && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return returned.load() >= round;
}

struct Pair {
    const Here& here;
    int sender;
    int receiver;
};

void send_buffered(const Pair& pair, MPI_Datatype vector) {
    MPI_Comm comm = pair.here.comm;
    std::vector<int> words(2 * vector_words);
    int number = 0;
    MPI_Request persistent;
    CHECK_OK(MPI_Bsend_init(&number, 1, MPI_INT, pair.receiver, number_tag, comm, &persistent));
    for (int i = 0; i < many; ++i) {
        number = i;
        MPI_Request request = MPI_REQUEST_NULL;
        if (i % 3 == 0) {
            CHECK_OK(MPI_Bsend(&number, 1, MPI_INT, pair.receiver, number_tag, comm));
        } else if (i % 3 == 1) {
            CHECK_OK(MPI_Ibsend(&number, 1, MPI_INT, pair.receiver, number_tag, comm, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Start(&persistent));
            CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        }
        if (i % 16 == 0) {
            std::fill(words.begin(), words.end(), i);
            CHECK_OK(MPI_Bsend(words.data(), 1, vector, pair.receiver, vector_tag, comm));
        }
        number = -1;
    }
    std::fill(words.begin(), words.end(), -1);
    CHECK_OK(MPI_Request_free(&persistent));
}

void receive_buffered(const Pair& pair, MPI_Datatype vector) {
    for (int i = 0; i < many; ++i) {
        int number = -1;
        CHECK_OK(MPI_Recv(&number, 1, MPI_INT, pair.sender, number_tag, pair.here.comm, MPI_STATUS_IGNORE));
        CHECK_EQUAL(number, i);
        if (i % 16 == 0) {
            std::vector<int> words(2 * vector_words, -2);
            CHECK_OK(MPI_Recv(words.data(), 1, vector, pair.sender, vector_tag, pair.here.comm, MPI_STATUS_IGNORE));
            CHECK_EQUAL(words[0], i);
            CHECK_EQUAL(words[2 * vector_words - 2], i);
            CHECK_EQUAL(words[1], -2);
        }
    }
}

// Buffered sends of one thread to one that is not in MPI; in the same process or in another one.
void buffered(const Pair& pair, bool here_too, int round) {
    MPI_Datatype vector;
    CHECK_OK(MPI_Type_vector(vector_words, 1, 2, MPI_INT, &vector));
    CHECK_OK(MPI_Type_commit(&vector));
    std::vector<char> memory(1 << 22);
    CHECK_OK(MPI_Comm_attach_buffer(pair.here.comm, memory.data(), int(memory.size())));
    CHECK_OK(MPI_Barrier(pair.here.comm));
    if (pair.here.rank == pair.sender) {
        send_buffered(pair, vector);
        returned.store(round);
    } else if (pair.here.rank == pair.receiver) {
        CHECK(!here_too || await_return(round));
        receive_buffered(pair, vector);
    }
    void* attached = nullptr;
    int bytes = 0;
    CHECK_OK(MPI_Comm_detach_buffer(pair.here.comm, static_cast<void*>(&attached), &bytes));
    CHECK_OK(MPI_Type_free(&vector));
    CHECK_OK(MPI_Barrier(pair.here.comm));
}

void send_and_cancel(const Pair& pair, int round) {
    const int number = 5;
    std::vector<MPI_Request> others(many);
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;
    CHECK_OK(MPI_Issend(&number, 1, MPI_INT, pair.receiver, cancelled_tag, pair.here.comm, &request));
    for (MPI_Request& one : others) {
        CHECK_OK(MPI_Isend(&number, 1, MPI_INT, pair.receiver, number_tag, pair.here.comm, &one));
    }
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Cancel(&request));
    returned.store(round);
    CHECK_OK(MPI_Waitall(many, others.data(), MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled != 0);
    CHECK_OK(MPI_Send(&cancelled, 1, MPI_INT, pair.receiver, go_tag, pair.here.comm));
}

// The receive of the message comes before the request to drop it, which waits for room.
void send_and_cancel_late(const Pair& pair, int round) {
    const int number = 6;
    std::vector<MPI_Request> others(many);
    MPI_Request request;
    MPI_Status status;
    int cancelled = -1;
    CHECK_OK(MPI_Issend(&number, 1, MPI_INT, pair.receiver, cancelled_tag, pair.here.comm, &request));
    for (MPI_Request& one : others) {
        CHECK_OK(MPI_Isend(&number, 1, MPI_INT, pair.receiver, number_tag, pair.here.comm, &one));
    }
    CHECK_OK(MPI_Cancel(&request));
    returned.store(round);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_OK(MPI_Waitall(many, others.data(), MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Send(&cancelled, 1, MPI_INT, pair.receiver, go_tag, pair.here.comm));
}

void cancel(const Pair& pair, int round) {
    CHECK_OK(MPI_Barrier(pair.here.comm));
    int number = 0;
    if (pair.here.rank == pair.sender) {
        send_and_cancel(pair, round);
        send_and_cancel_late(pair, round + 1);
    } else if (pair.here.rank == pair.receiver) {
        CHECK(await_return(round));
        for (int i = 0; i < many; ++i) {
            CHECK_OK(MPI_Recv(&number, 1, MPI_INT, pair.sender, number_tag, pair.here.comm, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Recv(&number, 1, MPI_INT, pair.sender, go_tag, pair.here.comm, MPI_STATUS_IGNORE));
        // No call of MPI before the other one has cancelled the next message, too.
        CHECK(await_return(round + 1));
        MPI_Request early;
        int late = 0, cancelled = -1;
        CHECK_OK(MPI_Irecv(&late, 1, MPI_INT, pair.sender, cancelled_tag, pair.here.comm, &early));
        for (int i = 0; i < many; ++i) {
            CHECK_OK(MPI_Recv(&number, 1, MPI_INT, pair.sender, number_tag, pair.here.comm, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Recv(&cancelled, 1, MPI_INT, pair.sender, go_tag, pair.here.comm, MPI_STATUS_IGNORE));
        if (cancelled != 0) {
            CHECK_OK(MPI_Cancel(&early));
        }
        CHECK_OK(MPI_Wait(&early, MPI_STATUS_IGNORE));
        CHECK_EQUAL(late, cancelled != 0 ? 0 : 6);
    }
    CHECK_OK(MPI_Barrier(pair.here.comm));
}

// The receiver has freed the communicator without a receive.
void cancel_after_free(const Pair& pair) {
    MPI_Comm derived;
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<char> data(1 << 20);
    CHECK_OK(MPI_Comm_dup(pair.here.comm, &derived));
    if (pair.here.rank == pair.sender) {
        CHECK_OK(MPI_Isend(data.data(), int(data.size()), MPI_CHAR, pair.receiver, 1, derived, &request));
    }
    CHECK_OK(MPI_Barrier(pair.here.comm));
    int found = 0;
    if (pair.here.rank == pair.receiver) { // the message is at the receiver
        MPI_Status status;
        CHECK_OK(MPI_Probe(pair.sender, 1, derived, &status));
        CHECK_OK(MPI_Iprobe(pair.sender, 1, derived, &found, &status));
        CHECK(found != 0);
    }
    CHECK_OK(MPI_Comm_free(&derived));
    CHECK_OK(MPI_Barrier(pair.here.comm));
    if (pair.here.rank == pair.sender) {
        int cancelled = 0;
        MPI_Status status;
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled != 0);
    }
    CHECK_OK(MPI_Barrier(pair.here.comm));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    in_region(2, true, [](const Here& here) {
        buffered({here, 0, 1}, true, 1);
        if (here.size > 2) {
            buffered({here, 0, here.size - 1}, false, 2); // of another process
        }
        cancel({here, 0, 1}, 3);
        cancel_after_free({here, 0, 1});
        cancel_after_free({here, 0, here.size - 1}); // perhaps of another process
        buffered({here, 0, 1}, true, 5);             // some of the sends go by a lane
    });
    return finish();
}
