// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/topology.h"

#include <cstdint>
#include <vector>

namespace patchbay {

// One end of an edge in a distributed graph, for the process to which it belongs.
struct EdgeEnd {
    std::int32_t process; // a rank of the parent
    std::int32_t incoming;
    std::int32_t neighbor; // a rank of the topology
    std::int32_t weight;
};

// Sends each end of an edge to its process. *adjacency gets what all members have for the calling one: sorted by the
// rank of the sender, and then in the order in which that one has them. `code`: the error of this process until now,
// which all members return. Collective over the parent. Returns an MPI code.
int exchange_edges(
    Communicator& parent, std::vector<EdgeEnd> ends, int code, bool weighted, Adjacency* adjacency) noexcept;

} // namespace patchbay
