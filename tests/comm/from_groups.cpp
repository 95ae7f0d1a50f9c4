// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_create_from_group from several threads at once: one group and different tags; different groups and one tag;
// groups that overlap; groups of one process. Argument: so many processes must be there (any number without it).
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 4;
constexpr int rounds = 15;
std::atomic<int> wrong{0};

MPI_Session open_session() {
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    return session;
}

void expect(bool condition) {
    if (!condition) {
        ++wrong;
    }
}

// A communicator of this group, traffic on it and on one derived from it.
void make_and_use(MPI_Group group, const std::string& tag, int label) {
    MPI_Comm comm = MPI_COMM_NULL;
    expect(MPI_Comm_create_from_group(group, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm child = MPI_COMM_NULL;
    expect(MPI_Comm_dup(comm, &child) == MPI_SUCCESS);
    for (MPI_Comm used : {comm, child}) {
        int got = -1;
        MPI_Sendrecv(&label, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, used,
            MPI_STATUS_IGNORE);
        expect(got == label);
        int sum = 0;
        MPI_Allreduce(&label, &sum, 1, MPI_INT, MPI_SUM, used);
        expect(sum == size * label);
    }
    MPI_Comm_free(&child);
    MPI_Comm_free(&comm);
}

struct Job {
    MPI_Session session = open_session();
    MPI_Group all;
    int rank = 0;
    int size = 0;

    Job() {
        MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
        MPI_Group_rank(all, &rank);
        MPI_Group_size(all, &size);
    }
    ~Job() {
        MPI_Group_free(&all);
        CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    }
    MPI_Group part(int from, int count) const { // ranks from, from + 1 ..., round the end
        std::vector<int> ranks;
        for (int i = 0; i < count; ++i) {
            ranks.push_back((from + i) % size);
        }
        MPI_Group group;
        MPI_Group_incl(all, count, ranks.data(), &group);
        return group;
    }
};

template <class Body>
void in_threads(Body body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back(body, t);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// All threads in a session of the process, or each in one of its own.
void same_group_different_tags(const Job& job, bool own_session) {
    in_threads([&](int t) {
        for (int round = 0; round < rounds; ++round) {
            const std::string tag = "thread " + std::to_string(t);
            if (own_session) {
                Job own;
                make_and_use(own.all, tag, 1000 * t + round);
            } else {
                make_and_use(job.all, tag, 1000 * t + round);
            }
        }
    });
}

// Thread t's group begins with rank t and has all others or half of them, so that groups differ in their members or in
// their order only.
void overlapping_groups_one_tag(const Job& job, int count) {
    in_threads([&](int t) {
        if (t >= job.size) {
            return; // it would have the group of another thread
        }
        MPI_Group group = job.part(t, count);
        int rank = MPI_UNDEFINED;
        MPI_Group_rank(group, &rank);
        for (int round = 0; round < rounds && rank != MPI_UNDEFINED; ++round) {
            make_and_use(group, "one", 1000 * t + round);
        }
        MPI_Group_free(&group);
    });
}

void groups_of_one(const Job& job) {
    in_threads([&](int t) {
        MPI_Group self = job.part(job.rank, 1);
        for (int round = 0; round < rounds; ++round) {
            make_and_use(self, "alone " + std::to_string(t), 1000 * t + round);
        }
        MPI_Group_free(&self);
    });
}

} // namespace

int main(int argc, char** argv) {
    for (int cycle = 0; cycle < 2; ++cycle) {
        Job job;
        if (argc > 1 && job.size != std::atoi(argv[1])) {
            std::fprintf(stderr, "from_groups: %d processes, wanted %s\n", job.size, argv[1]);
            return 3; // no process waits for another one yet
        }
        same_group_different_tags(job, false);
        same_group_different_tags(job, true);
        overlapping_groups_one_tag(job, job.size);
        overlapping_groups_one_tag(job, (job.size + 1) / 2);
        overlapping_groups_one_tag(job, std::min(job.size, job.size / 2 + 1));
        groups_of_one(job);
    }
    CHECK(wrong == 0);
    return failures();
}
