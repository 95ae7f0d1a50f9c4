// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/topologies/reorder.h"
#include "object/communicator.h"

#include <functional>
#include <vector>

namespace patchbay {

// Stores the edges of the topology in *edges in the process with rank 0. Called by all members of the parent, or by
// none. Returns an MPI code.
using EdgeCollector = std::function<int(std::vector<Edge>* edges)>;

// Decides by the placement of the members which one has which rank of a topology of `ranks` processes, where only the
// first `ranks` members take part. *hosts as the result of reorder(), the same in all members of the parent. `grid` may
// be null. Collective over the parent. Returns an MPI code; after an error *hosts is not valid.
int find_hosts(
    Communicator& parent, int ranks, const Grid* grid, const EdgeCollector& collect, std::vector<int>* hosts);

// An EdgeCollector's work where each member has a part of the edges. Collective.
int gather_edges(Communicator& parent, const std::vector<Edge>& mine, std::vector<Edge>* all);

} // namespace patchbay
