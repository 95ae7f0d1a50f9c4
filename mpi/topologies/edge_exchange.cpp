// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/edge_exchange.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/coll.h"
#include "mpi/communicators/highest_code.h"
#include "object/error_code.h"

#include <algorithm>
#include <numeric>

namespace patchbay {

namespace {

using coll::CountArray;
using coll::Function;

constexpr std::int64_t words = sizeof(EdgeEnd) / sizeof(std::int32_t);

// How many words go to, or come from, each process.
struct Side {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> displacements;

    void make(int processes) {
        counts.resize(std::size_t(processes));
        displacements.resize(std::size_t(processes));
    }
    std::int64_t place() noexcept { // returns the number of words
        std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), std::int64_t(0));
        return displacements.back() + counts.back();
    }
};

void append(const EdgeEnd& end, bool weighted, Adjacency& adjacency) {
    (end.incoming != 0 ? adjacency.sources : adjacency.destinations).push_back(end.neighbor);
    if (weighted) {
        (end.incoming != 0 ? adjacency.source_weights : adjacency.destination_weights).push_back(end.weight);
    }
}

} // namespace

int exchange_edges(
    Communicator& parent, std::vector<EdgeEnd> ends, int code, bool weighted, Adjacency* adjacency) noexcept {
    Side outgoing;
    Side incoming;
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            outgoing.make(parent.size);
            incoming.make(parent.size);
            std::stable_sort(
                ends.begin(), ends.end(), [](const EdgeEnd& a, const EdgeEnd& b) { return a.process < b.process; });
            for (const EdgeEnd& end : ends) {
                outgoing.counts[std::size_t(end.process)] += words;
            }
            outgoing.place();
            return MPI_SUCCESS;
        });
    }
    if (code = highest_code(parent, code); code != MPI_SUCCESS) {
        return code;
    }
    const Datatype& count_type = *to_object<Datatype>(MPI_INT64_T);
    code = (*parent.coll)[Function::alltoall].alltoall(
        outgoing.counts.data(), 1, count_type, incoming.counts.data(), 1, count_type, parent);
    std::vector<EdgeEnd> received;
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            received.resize(std::size_t(incoming.place() / words));
            return MPI_SUCCESS;
        });
    }
    if (code = highest_code(parent, code); code != MPI_SUCCESS) {
        return code;
    }
    const Datatype& type = *to_object<Datatype>(MPI_INT32_T);
    code = (*parent.coll)[Function::alltoallv].alltoallv(ends.data(), CountArray(outgoing.counts.data()),
        CountArray(outgoing.displacements.data()), type, received.data(), CountArray(incoming.counts.data()),
        CountArray(incoming.displacements.data()), type, parent);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        adjacency->weighted = weighted;
        for (const EdgeEnd& end : received) {
            append(end, weighted, *adjacency);
        }
        return MPI_SUCCESS;
    });
}

} // namespace patchbay
