// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/op.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// coll: collectives, chosen per communicator and per function: each component that offers a module for a communicator
// declares the functions that it provides, and for each function the highest priority wins. Chosen by parameter `coll`
// or info key `patchbay_coll` ("a,b" or "^a") on the communicator's constructor.
//
// Common rules for every operation:
//  - Called by the bindings on the calling thread, once per MPI call; all members call in the same order.
//  - May block. Arguments have been checked; MPI_IN_PLACE arrives as such. Buffers are as in MPI-5.0, chapter 6.
//  - A module communicates over the communicator's pml with tags of its own (coll/tags.h), never a user's tag.
//  - After an error a member still takes part in every message that others wait for (transfer.h does that); it may call
//    a collective of which its own is made with fewer elements than the others, all of which return an error then
//    or know nothing of it, but never wait for ever.
//  - Returns an MPI code; MPI_ERR_UNSUPPORTED_OPERATION is a bug in provides().
namespace coll {

inline constexpr std::uint32_t interface_version = 3;

enum class Function : std::uint8_t {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    count,
};
inline constexpr std::size_t function_count = std::size_t(Function::count);
const char* function_name(Function) noexcept;

// An array of counts or displacements as the caller passed it: `int` in the plain bindings, MPI_Count/MPI_Aint in the
// large ones. Copying nothing keeps one implementation for both. Without an array all of them are 0.
class CountArray {
public:
    CountArray() = default;
    explicit CountArray(const int* values) noexcept
        : _small(values) {}
    explicit CountArray(const std::int64_t* values) noexcept
        : _large(values) {} // MPI_Count and MPI_Aint alike
    std::int64_t operator[](std::size_t i) const noexcept {
        return _small != nullptr ? _small[i] : (_large != nullptr ? _large[i] : 0);
    }
    explicit operator bool() const noexcept { return _small != nullptr || _large != nullptr; }

private:
    const int* _small = nullptr;
    const std::int64_t* _large = nullptr;
};

// One side of an alltoallw: displacements in bytes, one type per peer.
struct TypedVector {
    CountArray counts;
    CountArray displacements;
    const MPI_Datatype* types;
};

class Module {
public:
    virtual ~Module() = default;

    // Bit f set: Function(f) is provided. Constant.
    virtual std::uint32_t provides() const noexcept = 0;

    virtual int barrier(Communicator&) noexcept;
    virtual int bcast(void* buffer, MPI_Count count, const Datatype&, int root, Communicator&) noexcept;
    virtual int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        CountArray recv_counts, CountArray displacements, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
        void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, Communicator&) noexcept;
    virtual int allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator&) noexcept;
    virtual int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, Communicator&) noexcept;
    virtual int alltoallv(const void* send, CountArray send_counts, CountArray send_displacements,
        const Datatype& send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
        const Datatype& recv_type, Communicator&) noexcept;
    virtual int alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
        Communicator&) noexcept;
    virtual int reduce(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, int root, Communicator&) noexcept;
    virtual int allreduce(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int reduce_scatter(
        const void* send, void* recv, CountArray counts, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int reduce_scatter_block(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int scan(const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int exscan(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
};

class Component : public patchbay::Component {
public:
    struct Candidate {
        int priority = 0;
        std::unique_ptr<Module> module;
        // The module keeps nothing of its communicator, and the same offer holds for every communicator of this size
        // and kind whose info names no component: it may serve all of these, and no further query is made for them.
        bool shared = false;
    };
    // Called for every new communicator, after its pml knows it, by every member. Must not communicate.
    // Errc::not_available: not for this communicator.
    virtual Result<Candidate> query(Context& context, Communicator& comm) noexcept = 0;
    // Interposer: called with each module that serves a new communicator when parameter coll_wrap names this component.
    // All members do the same. A table with such a module serves one communicator. The component may put a module of
    // its own in the place of `module`, which then owns the former one and is destroyed instead of it; the former one
    // does not know. Errc::not_available: the component does not wrap this one; any other error fails the selection.
    // After an error `module` is as it was.
    virtual Status wrap(Context& context, Communicator& comm, std::unique_ptr<Module>& module) noexcept {
        (void)context, (void)comm, (void)module;
        return Error{Errc::unsupported, "it wraps no coll"};
    }
};

// What a communicator holds: its modules, and which one serves which function. Counted: communicators whose modules all
// can be shared share the table.
class Table {
public:
    Module& operator[](Function f) const noexcept { return *_serving[std::size_t(f)]; }
    bool is_shared() const noexcept { return _shared; }

    void retain() noexcept { _users.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (_users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

private:
    friend class Selector;
    ~Table() = default;
    std::atomic<std::uint32_t> _users{1};
    bool _shared = true;
    std::vector<std::unique_ptr<Module>> _modules;
    std::array<Module*, function_count> _serving{};
};

} // namespace coll
} // namespace patchbay
