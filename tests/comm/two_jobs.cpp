// SPDX-License-Identifier: BSD-3-Clause
// Two MPI jobs under one mpirun exchange messages: rank 0 of the first one starts the other one by PMIx_Spawn and
// defines a process set of all processes, from which they construct communicators. Twice, one after the other.
#include "core/runtime/runtime.h"
#include "mpi/library/library.h"
#include "tests/mpi_check/check.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <pmix.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
using namespace patchbay;

constexpr int parents = 2;
constexpr int children = 3;
constexpr int everybody = parents + children;
constexpr int large = 1 << 20;

bool is_child = false;

std::string spawn(const char* round) {
    char self[4096] = {};
    CHECK(::readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    pmix_app_t* app = nullptr;
    PMIX_APP_CREATE(app, 1);
    app->cmd = strdup(self);
    pmix_status_t status = PMIX_SUCCESS;
    for (const char* word : {static_cast<const char*>(self), "child", round}) {
        PMIX_ARGV_APPEND(status, app->argv, word);
    }
    app->maxprocs = children;
    char nspace[PMIX_MAX_NSLEN + 1] = {};
    status = PMIx_Spawn(nullptr, 0, app, 1, nspace);
    PMIX_APP_FREE(app, 1);
    CHECK_EQUAL(status, PMIX_SUCCESS);
    return nspace;
}

void define_set(const std::string& name, const std::string& nspace) {
    Runtime& runtime = library().instance()->runtime();
    const auto job = runtime.add_job(nspace);
    CHECK(bool(job));
    std::vector<ProcessId> members;
    for (std::uint32_t rank = 0; rank < parents; ++rank) {
        members.push_back({own_job, rank});
    }
    for (std::uint32_t rank = 0; rank < children; ++rank) {
        members.push_back({job.value(), rank});
    }
    CHECK(bool(runtime.define_pset(name, members)));
    runtime.jobs().drop(job.value()); // the process sets of this process keep it
}

MPI_Comm communicator_of(MPI_Session session, const std::string& set) {
    MPI_Group group = MPI_GROUP_NULL;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (;;) {
        CHECK_OK(MPI_Group_from_session_pset(session, set.c_str(), &group));
        if (group != MPI_GROUP_NULL) {
            break;
        }
        if (std::chrono::steady_clock::now() > deadline) {
            std::fprintf(stderr, "the process set is not there\n");
            std::exit(1);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_create_from_group(group, "two jobs", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    return comm;
}

// The first contact of each pair is a nonblocking send of one of the two or of both.
void exchange(MPI_Comm comm, int count) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::vector<std::vector<int>> out(everybody), in(everybody);
    std::vector<MPI_Request> requests;
    for (int peer = 0; peer < everybody; ++peer) {
        out[std::size_t(peer)].assign(std::size_t(count), rank * 100 + peer);
        in[std::size_t(peer)].assign(std::size_t(count), -1);
        requests.resize(requests.size() + 2);
        CHECK_OK(MPI_Isend(out[std::size_t(peer)].data(), count, MPI_INT, peer, 1, comm, &requests.end()[-2]));
        CHECK_OK(MPI_Irecv(in[std::size_t(peer)].data(), count, MPI_INT, peer, 1, comm, &requests.end()[-1]));
    }
    CHECK_OK(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (int peer = 0; peer < everybody; ++peer) {
        const std::vector<int>& got = in[std::size_t(peer)];
        CHECK(got.front() == peer * 100 + rank && got.back() == got.front());
    }
}

void check_collectives(MPI_Comm comm) {
    int rank = 0;
    int sum = 0;
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, everybody * (everybody - 1) / 2);
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Barrier(copy));
    MPI_Comm_free(&copy);
}

// The first rank of the other job. The order of the jobs in the process set is the launcher's choice.
int leader_of_others(MPI_Comm comm) {
    int sides[everybody] = {};
    const int side = is_child;
    CHECK_OK(MPI_Allgather(&side, 1, MPI_INT, sides, 1, MPI_INT, comm));
    CHECK_EQUAL(std::count(std::begin(sides), std::end(sides), 1), children);
    return int(std::find(std::begin(sides), std::end(sides), int(!is_child)) - std::begin(sides));
}

// An intercommunicator between the jobs, and its union.
void check_intercommunicator(MPI_Comm comm) {
    MPI_Comm own = MPI_COMM_NULL, inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    int rank = 0, size = 0, remote = 0, sent = 0, got = -1, wanted = 0;
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(MPI_Comm_split(comm, is_child, rank, &own));
    MPI_Comm_rank(own, &rank);
    MPI_Comm_size(own, &size);
    CHECK_EQUAL(size, is_child ? children : parents);
    CHECK_OK(MPI_Intercomm_create(own, 0, comm, leader_of_others(comm), 7, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQUAL(remote, is_child ? parents : children);
    if (rank < parents) { // there is such a rank on both sides
        sent = is_child * 10 + rank;
        wanted = !is_child * 10 + rank;
        CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, rank, 3, &got, 1, MPI_INT, rank, 3, inter, MPI_STATUS_IGNORE));
        CHECK_EQUAL(got, wanted);
    }
    CHECK_OK(MPI_Intercomm_merge(inter, is_child, &merged));
    check_collectives(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&own);
}

void meet(MPI_Session session, const std::string& set) {
    MPI_Comm comm = communicator_of(session, set);
    int size = 0, result = MPI_UNEQUAL;
    MPI_Comm_size(comm, &size);
    CHECK_EQUAL(size, everybody);
    exchange(comm, 2);
    exchange(comm, large / int(sizeof(int)));
    check_collectives(comm);
    check_intercommunicator(comm);
    MPI_Comm other = communicator_of(session, set);
    CHECK_OK(MPI_Comm_compare(comm, other, &result));
    CHECK_EQUAL(result, MPI_CONGRUENT);
    exchange(other, 2);
    MPI_Comm_free(&other);
    CHECK_OK(MPI_Comm_disconnect(&comm));
}

} // namespace

int main(int argc, char** argv) {
    is_child = argc > 1 && std::strcmp(argv[1], "child") == 0;
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    for (int number = 0; number < (is_child ? 1 : 2); ++number) {
        const std::string round = is_child ? argv[2] : std::to_string(number);
        const std::string set = "both." + round;
        if (!is_child && library().instance()->runtime().rank() == 0) {
            define_set(set, spawn(round.c_str()));
        }
        meet(session, set);
    }
    CHECK_OK(MPI_Session_finalize(&session));
    return failures();
}
