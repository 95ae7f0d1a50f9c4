// SPDX-License-Identifier: BSD-3-Clause
// The life of thread communicators: ranks and sizes, groups, names and attributes of each thread, several activations,
// two at once, and thread levels: the library is initialized without MPI_THREAD_MULTIPLE.
#include "tests/threadcomm/region.h"
#include <chrono>
#include <thread>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>

namespace {

int processes, process;

int expected_size(int threads, bool uniform) {
    int size = 0;
    for (int i = 0; i < processes; ++i) {
        size += threads_of(i, threads, uniform);
    }
    return size;
}

// Every rank of this process exactly once, in the place of the process.
void check_ranks(int threads, bool uniform) {
    std::mutex mutex;
    std::vector<int> ranks;
    in_region(threads, uniform, [&](const Here& here) {
        CHECK_EQUAL(here.size, expected_size(threads, uniform));
        const std::lock_guard lock(mutex);
        ranks.push_back(here.rank);
    });
    std::sort(ranks.begin(), ranks.end());
    int first = 0;
    for (int i = 0; i < process; ++i) {
        first += threads_of(i, threads, uniform);
    }
    CHECK_EQUAL(ranks.size(), threads_of(process, threads, uniform));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        CHECK_EQUAL(ranks[i], first + int(i));
    }
}

void check_inquiries() {
    in_region(3, true, [&](const Here& here) {
        int flag = 1, result = -1, length = 0;
        CHECK_OK(MPI_Comm_test_inter(here.comm, &flag));
        CHECK_EQUAL(flag, 0);
        CHECK_OK(MPI_Comm_compare(here.comm, here.comm, &result));
        CHECK_EQUAL(result, MPI_IDENT);
        MPI_Group group, first;
        CHECK_OK(MPI_Comm_group(here.comm, &group));
        int rank = -1, size = -1;
        CHECK_OK(MPI_Group_rank(group, &rank));
        CHECK_OK(MPI_Group_size(group, &size));
        CHECK_EQUAL(rank, here.rank);
        CHECK_EQUAL(size, here.size);
        const int zero = 0;
        CHECK_OK(MPI_Group_incl(group, 1, &zero, &first));
        CHECK_OK(MPI_Group_rank(first, &rank));
        CHECK_EQUAL(rank, here.rank == 0 ? 0 : MPI_UNDEFINED);
        CHECK_OK(MPI_Group_free(&first));
        CHECK_OK(MPI_Group_free(&group));
        char name[MPI_MAX_OBJECT_NAME] = "", wanted[64];
        std::snprintf(wanted, sizeof wanted, "rank %d", here.rank);
        CHECK_OK(MPI_Comm_set_name(here.comm, wanted));
        CHECK_OK(MPI_Comm_get_name(here.comm, name, &length));
        CHECK(std::strcmp(name, wanted) == 0);
        void* tag_ub = nullptr;
        CHECK_OK(MPI_Comm_get_attr(here.comm, MPI_TAG_UB, &tag_ub, &flag));
        CHECK(flag && *static_cast<int*>(tag_ub) >= 32767);
    });
}

std::atomic<int> copied, deleted;
int count_copy(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
    *static_cast<void**>(copy) = value;
    *flag = 1;
    ++copied;
    return MPI_SUCCESS;
}
int count_delete(MPI_Comm, int, void*, void*) {
    ++deleted;
    return MPI_SUCCESS;
}

// An attribute of a thread is its own, and is gone at the end. That of the parent is copied.
void check_attributes() {
    int key = MPI_KEYVAL_INVALID, inherited = MPI_KEYVAL_INVALID, word = 7;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &key, nullptr));
    CHECK_OK(MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &inherited, nullptr));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, inherited, &word));
    in_region(4, true, [&](const Here& here) {
        int flag = 1, mine = here.rank;
        int* found = nullptr;
        CHECK_OK(MPI_Comm_get_attr(here.comm, key, &found, &flag));
        CHECK(!flag);
        CHECK_OK(MPI_Comm_set_attr(here.comm, key, &mine));
        CHECK_OK(MPI_Barrier(here.comm));
        CHECK_OK(MPI_Comm_get_attr(here.comm, key, &found, &flag));
        CHECK(flag && found == &mine);
        CHECK_OK(MPI_Comm_get_attr(here.comm, inherited, &found, &flag));
        CHECK(flag && found == &word);
    });
    CHECK_EQUAL(deleted.load(), 4);
    CHECK_EQUAL(copied.load(), 5); // by init, and by each start
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, inherited));
    CHECK_OK(MPI_Comm_free_keyval(&inherited));
    CHECK_OK(MPI_Comm_free_keyval(&key));
}

void check_several_activations() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 3, &comm));
    for (int round = 0; round < 20; ++round) {
        run_threads(comm, 3, [&](const Here& here) {
            int sum = -1;
            CHECK_OK(MPI_Allreduce(&here.rank, &sum, 1, MPI_INT, MPI_SUM, here.comm));
            CHECK_EQUAL(sum, here.size * (here.size - 1) / 2);
        });
        // Between two activations the processes communicate as ever.
        int one = 1, all = 0;
        CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQUAL(all, processes);
    }
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

// A process may have started again while another one has not left yet.
void check_back_to_back() {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &comm));
    for (int round = 0; round < 200; ++round) {
        run_threads(comm, 2, [&](const Here& here) {
            int got = -1;
            CHECK_OK(MPI_Sendrecv(&round, 1, MPI_INT, (here.rank + 1) % here.size, 0, &got, 1, MPI_INT,
                (here.rank + here.size - 1) % here.size, 0, here.comm, MPI_STATUS_IGNORE));
            CHECK_EQUAL(got, round);
        });
    }
    CHECK_OK(MPIX_Threadcomm_free(&comm));
}

// A wait on one goes on with the messages of the other.
void check_two_at_once() {
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &a));
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_WORLD, 2, &b));
    CHECK(a != b);
    run_threads(a, 2, [&](const Here& in_a) {
        CHECK_OK(MPIX_Threadcomm_start(b));
        int rank = -1, size = -1;
        CHECK_OK(MPI_Comm_rank(b, &rank));
        CHECK_OK(MPI_Comm_size(b, &size));
        CHECK_EQUAL(size, in_a.size);
        std::vector<int> out(10000, rank), in(10000, -1);
        MPI_Request request;
        CHECK_OK(MPI_Irecv(in.data(), 10000, MPI_INT, (rank + size - 1) % size, 0, b, &request));
        MPI_Request sent;
        CHECK_OK(MPI_Isend(out.data(), 10000, MPI_INT, (rank + 1) % size, 0, b, &sent));
        CHECK_OK(MPI_Barrier(in_a.comm));
        CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(in[9999], (rank + size - 1) % size);
        CHECK_OK(MPIX_Threadcomm_finish(b));
    });
    CHECK_OK(MPIX_Threadcomm_free(&b));
    CHECK_OK(MPIX_Threadcomm_free(&a));
}

// Two threads arrive in another order in the second thread communicator: its groups have the same members, in the other
// order.
void check_identity() {
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL;
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, 2, &a));
    CHECK_OK(MPIX_Threadcomm_init(MPI_COMM_SELF, 2, &b));
    std::atomic<bool> arrives{false};
    run_threads(a, 2, [&](const Here& in_a) {
        // MPIX_Threadcomm_start returns when both have called it; the first one takes less than this to arrive.
        if (in_a.rank == 0) {
            while (!arrives) {
                std::this_thread::yield();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        arrives = true;
        CHECK_OK(MPIX_Threadcomm_start(b));
        int rank_in_b = -1, compared = -1, translated = -1;
        CHECK_OK(MPI_Comm_rank(b, &rank_in_b));
        CHECK_EQUAL(rank_in_b, 1 - in_a.rank);
        CHECK_OK(MPI_Comm_compare(a, b, &compared));
        CHECK_EQUAL(compared, MPI_SIMILAR);
        MPI_Group of_a, of_b, first_of_a;
        CHECK_OK(MPI_Comm_group(a, &of_a));
        CHECK_OK(MPI_Comm_group(b, &of_b));
        CHECK_OK(MPI_Group_translate_ranks(of_a, 1, &in_a.rank, of_b, &translated));
        CHECK_EQUAL(translated, rank_in_b);
        const int first = 0;
        CHECK_OK(MPI_Group_incl(of_a, 1, &first, &first_of_a));
        MPI_Comm made = MPI_COMM_NULL;
        CHECK_OK(MPI_Comm_create(b, first_of_a, &made));
        CHECK_EQUAL(made != MPI_COMM_NULL, in_a.rank == 0);
        if (made != MPI_COMM_NULL) {
            CHECK_OK(MPI_Comm_free(&made));
        }
        CHECK_OK(MPI_Group_free(&first_of_a));
        CHECK_OK(MPI_Group_free(&of_a));
        CHECK_OK(MPI_Group_free(&of_b));
        CHECK_OK(MPIX_Threadcomm_finish(b));
    });
    CHECK_OK(MPIX_Threadcomm_free(&b));
    CHECK_OK(MPIX_Threadcomm_free(&a));
}

} // namespace

int main() {
    int level = -1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (const int threads : {1, 2, 5, 8}) {
        check_ranks(threads, true);
        check_ranks(threads, false);
    }
    check_inquiries();
    check_attributes();
    check_several_activations();
    check_back_to_back();
    check_two_at_once();
    check_identity();
    return finish();
}
