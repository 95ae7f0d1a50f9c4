// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/table.h"
#include "frameworks/coll/coll.h"

#include <cstdint>

// Blocking calls on communicators of two ranks for which the table says one whole message, or one in each direction:
// the algorithms that have no more than that in common with two ranks, without what they need for more ranks. What a
// member does for itself, it does while the message is under way.
namespace patchbay::coll::tuned::pair {

// Blocking calls of two ranks with fewer bytes are served here, whatever their op: by what these decisions choose. 0:
// none are.
std::uint64_t limit(Function function, const Decisions& decisions) noexcept;

// As in Module. MPI_IN_PLACE is not for alltoall.
int bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept;
int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm) noexcept;
int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, int root, Communicator& comm) noexcept;
int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, Communicator& comm) noexcept;
int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
    const Datatype& recv_type, Communicator& comm) noexcept;
int reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept;
int allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept;
int scan(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept;
// Joins nothing: the result of rank 1 is what rank 0 has.
int exscan(const void* send, void* recv, MPI_Count count, const Datatype& type, Communicator& comm) noexcept;

} // namespace patchbay::coll::tuned::pair
