// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/topology.h"

#include <cstddef>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// What one message of a neighbourhood function takes from the send buffer, or puts into the receive buffer.
struct NeighborBlock {
    void* address;
    MPI_Count count;
    const Datatype* type;
};

// The block for the destination, or from the source, of that number in the topology.
inline NeighborBlock sent_block(const Call& call, std::size_t i) noexcept {
    void* buffer = const_cast<void*>(call.send);
    switch (call.function) {
    case Function::neighbor_alltoall:
        return {element(buffer, MPI_Count(i) * call.send_count, *call.send_type), call.send_count, call.send_type};
    case Function::neighbor_alltoallv:
        return {element(buffer, call.send_displacements[i], *call.send_type), call.send_counts[i], call.send_type};
    case Function::neighbor_alltoallw:
        return {static_cast<std::byte*>(buffer) + call.send_displacements[i], call.send_counts[i],
            to_object<Datatype>(call.send_types[i])};
    default: // neighbor_allgather, neighbor_allgatherv: the same for all
        return {buffer, call.send_count, call.send_type};
    }
}
inline NeighborBlock received_block(const Call& call, std::size_t i) noexcept {
    switch (call.function) {
    case Function::neighbor_alltoallw:
        return {static_cast<std::byte*>(call.recv) + call.recv_displacements[i], call.recv_counts[i],
            to_object<Datatype>(call.recv_types[i])};
    case Function::neighbor_allgatherv:
    case Function::neighbor_alltoallv:
        return {element(call.recv, call.recv_displacements[i], *call.recv_type), call.recv_counts[i], call.recv_type};
    default:
        return {element(call.recv, MPI_Count(i) * call.recv_count, *call.recv_type), call.recv_count, call.recv_type};
    }
}

// What a process sends to itself: calls copy(from, into) for the edges from `rank` to itself, of which each one that
// goes out matches one that comes in.
template <class Copy>
void for_each_own_edge(const Topology& topology, int rank, const Call& call, Copy&& copy) noexcept {
    const auto sources = topology.sources();
    const auto destinations = topology.destinations();
    std::size_t next = 0; // the receive that the next send may match
    for (std::size_t i = 0; i < destinations.size(); ++i) {
        if (destinations[i] != rank) {
            continue;
        }
        while (next < sources.size() && sources[topology.receive(next)] != rank) {
            ++next;
        }
        if (next == sources.size()) {
            return; // the program has declared fewer edges that come in
        }
        copy(sent_block(call, i), received_block(call, topology.receive(next++)));
    }
}

// The messages to and from other processes, in the order in which they match: calls send(block, rank) for all
// destinations, and then receive(block, rank) for all sources. A receive may copy a long message that is there already,
// and the receivers of this member's messages would wait for that.
template <class Send, class Receive>
void for_each_neighbor(const Topology& topology, int rank, const Call& call, Send&& send, Receive&& receive) noexcept {
    const auto destinations = topology.destinations();
    for (std::size_t i = 0; i < destinations.size(); ++i) {
        if (destinations[i] != rank && destinations[i] != MPI_PROC_NULL) {
            send(sent_block(call, i), destinations[i]);
        }
    }
    const auto sources = topology.sources();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::size_t place = topology.receive(i);
        if (sources[place] != rank && sources[place] != MPI_PROC_NULL) {
            receive(received_block(call, place), sources[place]);
        }
    }
}

} // namespace coll
} // namespace patchbay
