// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/place.h"
#include "object/op.h"

namespace patchbay::coll::sm {

// The collectives of short contributions, each in one step of a Place: what a member contributes, what it waits for,
// and what it does then. run.h has the order of these. Codes are MPI codes. Where the program gives different counts,
// which is an error, the members that depend on it get MPI_ERR_COUNT or MPI_ERR_TRUNCATE, and no member waits for ever.

// What a member waits for in a step. Two members look at each other's slots in the place of a join.
enum class Waits : std::uint8_t { for_none, for_root, for_all, for_each_other, for_join };

struct Elements {
    const void* data;
    MPI_Count count;
    const Datatype* type;

    std::size_t bytes() const noexcept { return std::size_t(count * type->size); }
};

// The base of all: what most of them do.
struct Collective {
    static Waits for_others(const Place& place) noexcept {
        return place.size() == 2 ? Waits::for_each_other : Waits::for_join;
    }
    // What the member that comes to a join as the last one does for all.
    static int make_result(Place& place) noexcept {
        (void)place;
        return MPI_SUCCESS;
    }
    // What also a member that has failed does when the step is complete.
    static void look(const Place& place) noexcept { (void)place; }
};

struct Barrier : Collective {
    bool contributes(const Place& place) const noexcept { return place.size() == 2; }
    Elements own(const Place&) const noexcept;
    Waits waits(const Place& place) const noexcept { return for_others(place); }
    int take(Place&) const noexcept { return MPI_SUCCESS; }
};

struct Bcast : Collective {
    void* buffer;
    MPI_Count count;
    const Datatype* type;
    int root;

    bool contributes(const Place& place) const noexcept { return place.rank() == root; }
    Elements own(const Place&) const noexcept { return {buffer, count, type}; }
    Waits waits(const Place& place) const noexcept { return place.rank() == root ? Waits::for_none : Waits::for_root; }
    int take(Place& place) const noexcept;
};

// A predefined op on a type without gaps.
struct Reduction : Collective {
    const void* send;
    void* recv;
    MPI_Count count;
    const Datatype* type;
    Op::Kernel kernel;

    bool contributes(const Place&) const noexcept { return true; }
    Elements own(const Place&) const noexcept { return {send, count, type}; }
    // Of what all have shown, in rank order.
    int reduce_all(const Place& place, std::byte* to) const noexcept;
};
struct Reduce : Reduction {
    int root;

    Waits waits(const Place& place) const noexcept { return place.rank() == root ? Waits::for_all : Waits::for_none; }
    int take(Place& place) const noexcept;
};
struct Allreduce : Reduction {
    Waits waits(const Place& place) const noexcept { return for_others(place); }
    // Once for all, so that all have the same result to the last bit.
    int make_result(Place& place) const noexcept;
    int take(Place& place) const noexcept;
};

// Blocks of the members, of one length.
struct Blocks : Collective {
    const void* send; // MPI_IN_PLACE: in its place in `recv`
    MPI_Count send_count;
    const Datatype* send_type;
    void* recv;
    MPI_Count recv_count;
    const Datatype* recv_type;

    bool in_place() const noexcept { return send == MPI_IN_PLACE; }
    void* block(int rank) const noexcept;
};
struct Gather : Blocks {
    int root;

    bool contributes(const Place& place) const noexcept { return place.rank() != root; }
    Elements own(const Place&) const noexcept { return {send, send_count, send_type}; }
    Waits waits(const Place& place) const noexcept { return place.rank() == root ? Waits::for_all : Waits::for_none; }
    int take(Place& place) const noexcept;
};
struct Scatter : Blocks {
    int root;

    bool contributes(const Place& place) const noexcept { return place.rank() == root; }
    Elements own(const Place& place) const noexcept { return {send, send_count * place.size(), send_type}; }
    Waits waits(const Place& place) const noexcept { return place.rank() == root ? Waits::for_none : Waits::for_root; }
    int take(Place& place) const noexcept;
};
struct Allgather : Blocks {
    bool contributes(const Place&) const noexcept { return true; }
    Elements own(const Place& place) const noexcept;
    Waits waits(const Place& place) const noexcept { return for_others(place); }
    int take(Place& place) const noexcept;
};
struct Alltoall : Blocks { // not in place
    bool contributes(const Place&) const noexcept { return true; }
    Elements own(const Place& place) const noexcept;
    Waits waits(const Place& place) const noexcept { return for_others(place); }
    int take(Place& place) const noexcept;
};

} // namespace patchbay::coll::sm
