// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators whose ranks are threads: both groups have threads of the same processes. What each thread has for
// itself, messages of every mode within a process and between processes, errors, what finish says of one that is left,
// and arguments with which there is none. The suites of tests/intercomm run with threads as ranks, too
// (tests/thread_ranks).
#include "tests/threadcomm/region.h"

#include <array>
#include <cstring>
#include <functional>
#include <string>

namespace {

int process = 0; // its rank in MPI_COMM_WORLD

// The two groups of a thread communicator with an intercommunicator between them: its even ranks and its odd ones, so
// that each process with several threads has some in both.
struct Sides {
    int side = 0;
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    int rank = 0, size = 0, remote_size = 0;

    explicit Sides(const Here& here) {
        side = here.rank % 2;
        CHECK_OK(MPI_Comm_split(here.comm, side, 0, &local));
        CHECK_OK(MPI_Intercomm_create(local, 0, here.comm, 1 - side, 5, &inter));
        CHECK_OK(MPI_Comm_rank(inter, &rank));
        CHECK_OK(MPI_Comm_size(inter, &size));
        CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
        CHECK(size == (here.size + 1 - side) / 2 && remote_size == here.size - size);
    }
    void free() {
        CHECK_OK(MPI_Comm_free(&inter));
        CHECK_OK(MPI_Comm_free(&local));
    }
};

// In regions with at least two ranks.
void with_sides(int threads, const std::function<void(const Here&, Sides&)>& body) {
    in_region(threads, false, [&](const Here& here) {
        if (here.size > 1) {
            Sides sides(here);
            body(here, sides);
            sides.free();
        }
    });
}

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return text;
}
void expect_text(int code, const char* part) {
    CHECK(text_of(code).find(part) != std::string::npos);
}

int add_one(MPI_Comm, int, void*, void* value, void* result, int* flag) {
    *static_cast<void**>(result) = static_cast<char*>(value) + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

thread_local int handled = 0; // errors of this thread
void count_error(MPI_Comm*, int* code, ...) {
    handled += *code != MPI_SUCCESS;
}

// Names, attributes and error handlers are those of the thread, although the ranks of a process share its memory.
void of_each_thread() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CHECK_OK(MPI_Comm_create_keyval(&add_one, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
    CHECK_OK(MPI_Comm_create_errhandler(&count_error, &handler));
    with_sides(4, [&](const Here& here, Sides& s) {
        char values[3] = {}, name[MPI_MAX_OBJECT_NAME];
        int length = 0, found = 0, result = MPI_UNEQUAL;
        char* value = nullptr;
        CHECK_OK(MPI_Comm_set_name(s.inter, std::to_string(here.rank).c_str()));
        CHECK_OK(MPI_Comm_set_attr(s.inter, key, values));
        CHECK_OK(MPI_Barrier(s.inter));
        CHECK_OK(MPI_Comm_get_name(s.inter, name, &length));
        CHECK(name == std::to_string(here.rank));
        MPI_Comm dup, again;
        CHECK_OK(MPI_Comm_dup(s.inter, &dup));
        CHECK_OK(MPI_Comm_get_attr(dup, key, static_cast<void*>(&value), &found));
        CHECK(found && value == values + 1);
        MPI_Request request;
        CHECK_OK(MPI_Comm_idup(dup, &again, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_get_attr(again, key, static_cast<void*>(&value), &found));
        CHECK(found && value == values + 2);
        CHECK_OK(MPI_Comm_compare(again, s.inter, &result));
        CHECK(result == MPI_CONGRUENT);
        CHECK_OK(MPI_Comm_get_name(again, name, &length));
        CHECK(length == 0);

        CHECK_OK(MPI_Comm_set_errhandler(dup, handler));
        handled = 0;
        if (here.rank % 3 == 0) {
            CHECK_CLASS(MPI_Send(values, 1, MPI_CHAR, s.remote_size, 0, dup), MPI_ERR_RANK);
            CHECK_CLASS(MPI_Scan(values, values + 1, 1, MPI_CHAR, MPI_MAX, dup), MPI_ERR_COMM);
        }
        CHECK(handled == (here.rank % 3 == 0 ? 2 : 0));
        CHECK_OK(MPI_Comm_free(&again));
        CHECK_OK(MPI_Comm_disconnect(&dup));
    });
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_free_keyval(&key));
}

// Whether a thread of the calling thread's process is that rank of the remote group.
bool is_of_process(const Sides& s, int remote_rank) {
    std::vector<int> all(std::size_t(s.remote_size), -1);
    CHECK_OK(MPI_Allgather(&process, 1, MPI_INT, all.data(), 1, MPI_INT, s.inter));
    return all[std::size_t(remote_rank)] == process;
}

// Each thread sends to each one of the other group, in one mode.
void exchange(const Sides& s, int count, const std::function<int(const int*, int, int, MPI_Request*)>& start) {
    const auto peers = std::size_t(s.remote_size), n = std::size_t(count);
    std::vector<std::vector<int>> out(peers, std::vector<int>(n)), in(peers, std::vector<int>(n, -1));
    std::vector<MPI_Request> receives(peers), sends(peers);
    for (int peer = 0; peer < s.remote_size; ++peer) {
        CHECK_OK(
            MPI_Irecv(in[std::size_t(peer)].data(), count, MPI_INT, peer, 3, s.inter, &receives[std::size_t(peer)]));
    }
    CHECK_OK(MPI_Barrier(s.inter)); // for ready sends
    for (int peer = 0; peer < s.remote_size; ++peer) {
        std::vector<int>& data = out[std::size_t(peer)];
        for (std::size_t i = 0; i < n; ++i) {
            data[i] = s.side * 1000000 + s.rank * 1000 + int(i % 1000);
        }
        CHECK_OK(start(data.data(), count, peer, &sends[std::size_t(peer)]));
    }
    CHECK_OK(MPI_Waitall(s.remote_size, sends.data(), MPI_STATUSES_IGNORE));
    std::vector<MPI_Status> statuses(peers);
    CHECK_OK(MPI_Waitall(s.remote_size, receives.data(), statuses.data()));
    for (int peer = 0; peer < s.remote_size; ++peer) {
        int received = -1;
        CHECK_OK(MPI_Get_count(&statuses[std::size_t(peer)], MPI_INT, &received));
        CHECK(received == count && statuses[std::size_t(peer)].MPI_SOURCE == peer);
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(in[std::size_t(peer)][i] == (1 - s.side) * 1000000 + peer * 1000 + int(i % 1000));
        }
    }
}

// The lengths go in the envelope, in a cell, by the header between processes, and by rendezvous.
void modes() {
    with_sides(4, [](const Here&, Sides& s) {
        CHECK_OK(MPI_Comm_attach_buffer(s.inter, MPI_BUFFER_AUTOMATIC, 0));
        for (const int count : {0, 1, 8, 300, 900, 20000}) {
            const auto in_mode = [&](auto start) {
                exchange(s, count, [&](const int* data, int n, int peer, MPI_Request* request) {
                    return start(data, n, MPI_INT, peer, 3, s.inter, request);
                });
            };
            in_mode(&MPI_Isend);
            in_mode(&MPI_Issend);
            in_mode(&MPI_Ibsend);
            in_mode(&MPI_Irsend);
        }
        void* buffer = nullptr;
        int size = 0;
        CHECK_OK(MPI_Comm_detach_buffer(s.inter, static_cast<void*>(&buffer), &size));
    });
}

// The receiver of a message that is too long gets MPI_ERR_TRUNCATE, and both sides go on.
void truncation() {
    with_sides(3, [](const Here&, Sides& s) {
        CHECK_OK(MPI_Comm_set_errhandler(s.inter, MPI_ERRORS_RETURN));
        for (const int count : {4, 200, 2000, 30000}) {
            std::vector<int> out(std::size_t(count), s.rank), in(std::size_t(count), -1);
            const int peer = s.rank % s.remote_size;
            MPI_Request send;
            CHECK_OK(MPI_Isend(out.data(), count, MPI_INT, peer, 1, s.inter, &send));
            for (int source = s.rank; source < s.remote_size; source += s.size) {
                MPI_Status status;
                CHECK_CLASS(MPI_Recv(in.data(), count - 1, MPI_INT, source, 1, s.inter, &status), MPI_ERR_TRUNCATE);
                CHECK(in.back() == -1);
                CHECK(status.MPI_SOURCE == source && status.MPI_TAG == 1);
            }
            CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        }
    });
}

// MPI_Cancel of a receive, and of a send to a thread of the own process that no receive matches.
void cancelling() {
    with_sides(4, [](const Here&, Sides& s) {
        const int peer = s.rank % s.remote_size;
        const bool here = is_of_process(s, peer);
        std::vector<int> data(30000, 7);
        MPI_Request receive, send;
        MPI_Status status;
        int cancelled = 0;
        CHECK_OK(MPI_Irecv(data.data(), 1, MPI_INT, MPI_ANY_SOURCE, 77, s.inter, &receive));
        CHECK_OK(MPI_Cancel(&receive));
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled);
        if (here) {
            CHECK_OK(MPI_Isend(data.data(), 30000, MPI_INT, peer, 78, s.inter, &send));
            CHECK_OK(MPI_Cancel(&send));
            CHECK_OK(MPI_Wait(&send, &status));
            CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
            CHECK(cancelled);
        }
        CHECK_OK(MPI_Barrier(s.inter));
    });
}

void partitioned() {
    with_sides(4, [](const Here&, Sides& s) {
        if (s.rank >= s.remote_size || s.rank >= s.size) {
            return;
        }
        constexpr int partitions = 4, count = 100;
        std::array<int, partitions * count> out, in;
        out.fill(s.rank + 1000 * s.side);
        in.fill(-1);
        std::array<MPI_Request, 2> part;
        CHECK_OK(MPI_Psend_init(out.data(), partitions, count, MPI_INT, s.rank, 9, s.inter, MPI_INFO_NULL, &part[0]));
        CHECK_OK(MPI_Precv_init(in.data(), partitions, count, MPI_INT, s.rank, 9, s.inter, MPI_INFO_NULL, &part[1]));
        for (int round = 0; round < 3; ++round) {
            CHECK_OK(MPI_Startall(2, part.data()));
            CHECK_OK(MPI_Pready_range(0, partitions - 1, part[0]));
            CHECK_OK(MPI_Waitall(2, part.data(), MPI_STATUSES_IGNORE));
            CHECK(in.front() == s.rank + 1000 * (1 - s.side) && in.back() == in.front());
            in.fill(-1);
        }
        for (MPI_Request& one : part) {
            CHECK_OK(MPI_Request_free(&one));
        }
    });
}

// The intercommunicator is freed, and exists as long as the request does, until MPIX_Threadcomm_finish.
void freed_before_start() {
    with_sides(4, [](const Here&, Sides& s) {
        int in = -1;
        MPI_Request receive = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, 0, 10, s.inter, MPI_INFO_NULL, &receive));
        CHECK_OK(MPI_Request_free(&receive));
    });
}

// An intercommunicator, what is made of it, and the thread communicator, many at a time: their messages do not mix.
void many() {
    with_sides(4, [](const Here& here, Sides& s) {
        std::array<MPI_Comm, 24> made;
        std::array<MPI_Request, 24> requests;
        for (std::size_t i = 0; i < made.size(); ++i) {
            CHECK_OK(MPI_Comm_idup(i % 3 == 0 ? here.comm : s.inter, &made[i], &requests[i]));
        }
        for (std::size_t i = 0; i < made.size(); ++i) {
            const std::size_t which = here.rank % 2 == 0 ? i : made.size() - 1 - i;
            CHECK_OK(MPI_Wait(&requests[which], MPI_STATUS_IGNORE));
        }
        std::array<int, 24> out, in;
        in.fill(-1);
        std::array<MPI_Request, 48> exchanges;
        for (std::size_t i = 0; i < made.size(); ++i) {
            int size = 0, inter = 0, rank = 0;
            CHECK_OK(MPI_Comm_test_inter(made[i], &inter));
            CHECK((inter != 0) == (i % 3 != 0));
            CHECK_OK(MPI_Comm_rank(made[i], &rank));
            CHECK_OK(inter ? MPI_Comm_remote_size(made[i], &size) : MPI_Comm_size(made[i], &size));
            out[i] = int(i);
            // The lowest ranks of both groups, and pairs of ranks of the thread communicator.
            const bool takes_part = inter ? rank == 0 : (rank ^ 1) < size;
            const int peer = takes_part ? (inter ? 0 : rank ^ 1) : MPI_PROC_NULL;
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, peer, 0, made[i], &exchanges[2 * i]));
            CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, peer, 0, made[i], &exchanges[2 * i + 1]));
            if (!takes_part) {
                in[i] = int(i);
            }
        }
        CHECK_OK(MPI_Waitall(int(exchanges.size()), exchanges.data(), MPI_STATUSES_IGNORE));
        CHECK(in == out);
        for (MPI_Comm& comm : made) {
            CHECK_OK(MPI_Comm_free(&comm));
        }
    });
}

// Of two communicators that an intercommunicator has, a program counts one.
void finish_with_one_left() {
    in_region(2, true, [](const Here& here) {
        Sides s(here);
        CHECK_OK(MPI_Comm_free(&s.local));
        const int code = MPIX_Threadcomm_finish(here.comm);
        CHECK_CLASS(code, MPI_ERR_PENDING);
        expect_text(code, (" 1 communicators or windows of rank " + std::to_string(here.rank) + " that").c_str());
        CHECK_OK(MPI_Barrier(s.inter));
        CHECK_OK(MPI_Comm_free(&s.inter));
    });
}

// Each of these is an error in all threads of both groups, after which the same call with the same tag succeeds.
void refused_arguments() {
    in_region(2, true, [](const Here& here) {
        MPI_Comm local, made = MPI_COMM_WORLD;
        const int side = here.rank % 2;
        CHECK_OK(MPI_Comm_split(here.comm, side, 0, &local));
        CHECK_OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
        int size = 0;
        CHECK_OK(MPI_Comm_size(local, &size));
        const auto create = [&](int leader, MPI_Comm peer, int remote_leader, MPI_Comm* result) {
            return MPI_Intercomm_create(local, leader, peer, remote_leader, 6, result);
        };
        const auto succeeds = [&] {
            CHECK_OK(create(0, here.comm, 1 - side, &made));
            CHECK_OK(MPI_Barrier(made));
            CHECK_OK(MPI_Comm_free(&made));
        };
        succeeds();
        // A communicator of processes. Both leaders detect it.
        int code = create(0, MPI_COMM_WORLD, 0, &made);
        CHECK_CLASS(code, MPI_ERR_COMM);
        CHECK(made == MPI_COMM_NULL);
        expect_text(code, here.rank < 2 ? "must be a communicator of threads" : "the leader of the local group");
        succeeds();
        // One group alone is wrong, and its leader tells the other one.
        code = create(0, here.comm, 1 - side, side == 0 && here.rank == 0 ? nullptr : &made);
        CHECK_CLASS(code, MPI_ERR_ARG);
        expect_text(code, side == 1 ? "the remote group" : here.rank == 0 ? "newintercomm" : "the leader of the local");
        succeeds();
        // The remote leader is in the own group, and so is everybody else there.
        code = create(0, here.comm, side, &made);
        CHECK_CLASS(code, MPI_ERR_COMM);
        expect_text(code, "of the thread communicator is in both groups");
        succeeds();
        if (size > 1) {
            code = create(here.rank / 2, here.comm, here.rank ^ 1, &made);
            CHECK_CLASS(code, MPI_ERR_RANK);
            expect_text(code, "different values of local_leader");
            succeeds();
        }
        // There are no intercommunicators over the groups of threads without a communicator.
        MPI_Group group;
        CHECK_OK(MPI_Comm_group(here.comm, &group));
        CHECK_CLASS(MPI_Comm_create_from_group(group, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_GROUP);
        code = MPI_Intercomm_create_from_groups(group, 0, group, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
        CHECK_CLASS(code, MPI_ERR_GROUP);
        expect_text(code, "number of threads in local_group");
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Comm_free(&local));
    });
}

// Groups of one thread communicator and a peer communicator of another one.
void other_region() {
    MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &first));
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &second));
    run_threads(first, 2, [second](const Here& here) {
        CHECK_OK(MPIX_Threadcomm_start(second));
        MPI_Comm alone, made = MPI_COMM_WORLD;
        int rank = 0;
        CHECK_OK(MPI_Comm_rank(second, &rank));
        CHECK_OK(MPI_Comm_split(here.comm, here.rank, 0, &alone));
        CHECK_OK(MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN));
        const int code = MPI_Intercomm_create(alone, 0, second, rank ^ 1, 3, &made);
        CHECK_CLASS(code, MPI_ERR_COMM);
        expect_text(code, "the same thread communicator as local_comm");
        // Their other communicators serve. Each thread is a group of its own.
        MPI_Comm peer;
        CHECK_OK(MPI_Comm_dup(here.comm, &peer));
        CHECK_OK(MPI_Intercomm_create(alone, 0, peer, here.rank ^ 1, 3, &made));
        CHECK_OK(MPI_Comm_free(&peer));
        int got = -1;
        CHECK_OK(MPI_Sendrecv(
            &here.rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made, MPI_STATUS_IGNORE));
        CHECK(got == (here.rank ^ 1));
        CHECK_OK(MPI_Comm_free(&made));
        CHECK_OK(MPI_Comm_free(&alone));
        CHECK_OK(MPIX_Threadcomm_finish(second));
    });
    CHECK_OK(MPIX_Threadcomm_free(&second));
    CHECK_OK(MPIX_Threadcomm_free(&first));
    // Processes with a peer communicator of threads: the leader detects it.
    MPI_Comm comm = MPI_COMM_NULL, made = MPI_COMM_WORLD;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 1, &comm));
    CHECK_OK(MPIX_Threadcomm_start(comm));
    const int code = MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, process, 3, &made);
    CHECK_CLASS(code, MPI_ERR_COMM);
    expect_text(code, "must not be a communicator of threads");
    CHECK_OK(MPIX_Threadcomm_finish(comm));
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

} // namespace

int main() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    of_each_thread();
    modes();
    truncation();
    cancelling();
    partitioned();
    freed_before_start();
    many();
    finish_with_one_left();
    refused_arguments();
    other_region();
    return finish();
}
