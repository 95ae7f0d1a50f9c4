// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/hosts.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/coll.h"
#include "mpi/communicators/highest_code.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace patchbay {

namespace {

using coll::Function;

// The process that decides. It alone knows the latencies of its node, and the result must be the same in all members.
constexpr int decider = 0;

const Datatype& int64_type() noexcept {
    return *to_object<Datatype>(MPI_INT64_T);
}
const Datatype& int_type() noexcept {
    return *to_object<Datatype>(MPI_INT);
}

// Calls that make no use of memory if it is exhausted, so that this member takes part in what follows.
template <class Act>
bool succeeds(Act&& act) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        act();
        return MPI_SUCCESS;
    }) == MPI_SUCCESS;
}

int bcast(Communicator& parent, int* values, int count) noexcept {
    return (*parent.coll)[Function::bcast].bcast(values, count, int_type(), decider, parent);
}

// An error in the decider only leaves the processes in their order.
bool gather_places(Communicator& parent, std::vector<Place>* places) noexcept {
    Place mine{};
    mine.resources.fill(Place::unknown);
    succeeds([&] { mine = own_place(*parent.instance); });
    const bool room = parent.rank != decider || succeeds([&] { places->resize(std::size_t(parent.size)); });
    constexpr MPI_Count words = sizeof(Place) / sizeof(std::int64_t);
    const int code = (*parent.coll)[Function::gather].gather(
        &mine, words, int64_type(), room ? places->data() : nullptr, room ? words : 0, int64_type(), decider, parent);
    return room && code == MPI_SUCCESS;
}

bool differ(const std::vector<Place>& places) noexcept {
    return std::any_of(places.begin(), places.end(), [&](const Place& place) { return place != places.front(); });
}

} // namespace

int find_hosts(
    Communicator& parent, int ranks, const Grid* grid, const EdgeCollector& collect, std::vector<int>* hosts) {
    hosts->clear();
    // Two processes are as far from each other in either order. What the members know of their hardware does not name
    // that of other jobs.
    if (ranks < 3 || parent.group->has_other_jobs()) {
        return MPI_SUCCESS;
    }
    std::vector<Place> places;
    int useful = gather_places(parent, &places) && parent.rank == decider;
    if (useful) {
        places.resize(std::size_t(ranks));
        useful = differ(places);
    }
    if (const int code = bcast(parent, &useful, 1); code != MPI_SUCCESS || !useful) {
        return code;
    }
    std::vector<Edge> edges;
    const int collected = collect(&edges);
    const bool room = succeeds([&] {
        hosts->resize(std::size_t(ranks));
        std::iota(hosts->begin(), hosts->end(), 0);
    });
    if (parent.rank == decider && room && collected == MPI_SUCCESS) {
        succeeds([&] {
            if (const std::vector<int> better = reorder(edges, grid, places); !better.empty()) {
                std::copy(better.begin(), better.end(), hosts->begin());
            }
        });
    }
    // Without room the call fails in this process, and, if it is the decider, in all of them.
    return highest_code(parent, bcast(parent, room ? hosts->data() : nullptr, room ? ranks : 0));
}

int gather_edges(Communicator& parent, const std::vector<Edge>& mine, std::vector<Edge>* all) {
    static_assert(sizeof(Edge) == 3 * sizeof(int));
    const bool decides = parent.rank == decider;
    const auto size = std::size_t(parent.size);
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> displacements;
    bool room = !decides || succeeds([&] {
        counts.resize(size);
        displacements.resize(size);
    });
    const std::int64_t count = 3 * std::int64_t(mine.size());
    int code = (*parent.coll)[Function::gather].gather(
        &count, 1, int64_type(), counts.data(), counts.empty() ? 0 : 1, int64_type(), decider, parent);
    if (decides && room && code == MPI_SUCCESS) {
        std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), std::int64_t(0));
        room = succeeds([&] { all->resize(std::size_t(displacements.back() + counts.back()) / 3); });
    }
    // Without room no count is given, and the call fails in the decider.
    const bool receives = decides && room && code == MPI_SUCCESS;
    const int gathered = (*parent.coll)[Function::gatherv].gatherv(mine.data(), count, int_type(), all->data(),
        receives ? coll::CountArray(counts.data()) : coll::CountArray(),
        receives ? coll::CountArray(displacements.data()) : coll::CountArray(), int_type(), decider, parent);
    return !room ? MPI_ERR_NO_MEM : (code != MPI_SUCCESS ? code : gathered);
}

} // namespace patchbay
