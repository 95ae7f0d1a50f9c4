// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/check/call_record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace patchbay::check {

// What goes to one neighbour in a neighbourhood collective, or comes from it. In each direction the edges between two
// processes are in the order in which their messages match.
struct Edge {
    std::int64_t peer = 0; // a rank
    Block block;
};

struct Edges {
    std::vector<Edge> sent;
    std::vector<Edge> received;
};

// The most edges of a member that are compared, both directions together. None of a member that has more.
constexpr std::size_t most_edges(int processes) noexcept {
    return 2 * std::size_t(processes < 32 ? 32 : processes);
}

// Of a communicator with a virtual topology. May throw std::bad_alloc.
Edges edges_of(const coll::Call& call, const Communicator& comm);

// The first edge whose two processes disagree about what is sent. An edge that only one of them has, or has recorded,
// is not compared. May throw std::bad_alloc.
struct EdgeDifference {
    int sender;
    int receiver;
    Block sent;
    Block received;
};
std::optional<EdgeDifference> compare_edges(const std::vector<Edges>& all);

} // namespace patchbay::check
