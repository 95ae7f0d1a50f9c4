// SPDX-License-Identifier: BSD-3-Clause
// Collectives take their temporary memory from a pool: a call that has been made before takes no pages from the system.
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <functional>
#include <sys/resource.h>
#include <vector>

namespace {

constexpr int most = 5 << 20; // bytes of a vector

long page_faults() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

struct Case {
    const char* name;
    std::function<void(int count)> call; // of doubles in the vector of one rank
};

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<double> send(most / sizeof(double), 1);
    std::vector<double> recv(most / sizeof(double), 2);
    const MPI_Comm comm = MPI_COMM_WORLD;
    const Case cases[] = {
        {"bcast", [&](int n) { MPI_Bcast(recv.data(), n, MPI_DOUBLE, 0, comm); }},
        {"reduce", [&](int n) { MPI_Reduce(send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM, 0, comm); }},
        {"reduce to the last rank",
            [&](int n) { MPI_Reduce(send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM, ranks - 1, comm); }},
        {"allreduce", [&](int n) { MPI_Allreduce(send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM, comm); }},
        {"allreduce in place", [&](int n) { MPI_Allreduce(MPI_IN_PLACE, recv.data(), n, MPI_DOUBLE, MPI_MAX, comm); }},
        {"iallreduce",
            [&](int n) {
                MPI_Request request;
                MPI_Iallreduce(send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM, comm, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }},
        {"allgather",
            [&](int n) {
                MPI_Allgather(send.data(), n / ranks, MPI_DOUBLE, recv.data(), n / ranks, MPI_DOUBLE, comm);
            }},
        {"alltoall",
            [&](int n) { MPI_Alltoall(send.data(), n / ranks, MPI_DOUBLE, recv.data(), n / ranks, MPI_DOUBLE, comm); }},
        {"alltoall in place",
            [&](int n) { MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DOUBLE, recv.data(), n / ranks, MPI_DOUBLE, comm); }},
        {"gather",
            [&](int n) {
                MPI_Gather(send.data(), n / ranks, MPI_DOUBLE, recv.data(), n / ranks, MPI_DOUBLE, 0, comm);
            }},
        {"reduce_scatter_block",
            [&](int n) { MPI_Reduce_scatter_block(send.data(), recv.data(), n / ranks, MPI_DOUBLE, MPI_SUM, comm); }},
        {"scan", [&](int n) { MPI_Scan(send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM, comm); }},
        {"exscan", [&](int n) { MPI_Exscan(send.data(), recv.data(), n, MPI_DOUBLE, MPI_SUM, comm); }},
    };
    for (const Case& one : cases) {
        for (const int bytes : {100 << 10, 1 << 20, most}) {
            constexpr int calls = 4;
            const int count = bytes / int(sizeof(double));
            // The rings between two processes get their memory as messages of the first calls reach it, and ranks that
            // are calls ahead have the others keep their short messages, which takes more memory than one call needs.
            for (int i = 0; i < (bytes < most ? 64 : 2); ++i) {
                one.call(count);
            }
            MPI_Barrier(comm);
            const long before = page_faults();
            for (int i = 0; i < calls; ++i) {
                MPI_Barrier(comm);
                one.call(count);
            }
            const long taken = (page_faults() - before) / calls;
            MPI_Barrier(comm); // the messages of the next size come after this
            // Every page of a vector, or of a part of it, would be several times as many.
            const long allowed = bytes / 4096 / 4;
            if (taken > allowed) {
                std::fprintf(stderr, "%s, %d bytes: %ld page faults a call\n", one.name, bytes, taken);
            }
            CHECK_TEXT(taken <= allowed, one.name);
        }
    }
    return finish();
}
