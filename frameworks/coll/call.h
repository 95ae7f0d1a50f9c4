// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"
#include "object/op.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// The functions of MPI-5.0, chapter 6, and the neighbourhood functions of chapter 8.
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
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    neighbor_alltoallw,
    count,
};
inline constexpr std::size_t function_count = std::size_t(Function::count);
const char* function_name(Function) noexcept;

// The form in which a program calls a function: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init.
enum class Form : std::uint8_t { blocking, nonblocking, persistent, count };
inline constexpr std::size_t form_count = std::size_t(Form::count);

class FunctionSet {
public:
    constexpr FunctionSet() noexcept = default;
    constexpr FunctionSet(std::initializer_list<Function> functions) noexcept {
        for (const Function f : functions) {
            _bits |= bit(f);
        }
    }
    // barrier to exscan: what chapter 6 defines on every intracommunicator.
    static constexpr FunctionSet chapter_6() noexcept { return FunctionSet(bit(Function::neighbor_allgather) - 1); }
    // neighbor_allgather to neighbor_alltoallw: what is defined on communicators with a virtual topology only.
    static constexpr FunctionSet neighborhood() noexcept { return FunctionSet(bit(Function::count) - 1) - chapter_6(); }

    constexpr bool has(Function f) const noexcept { return (_bits & bit(f)) != 0; }
    constexpr bool empty() const noexcept { return _bits == 0; }
    constexpr FunctionSet operator|(FunctionSet other) const noexcept { return FunctionSet(_bits | other._bits); }
    constexpr FunctionSet operator-(FunctionSet other) const noexcept { return FunctionSet(_bits & ~other._bits); }

private:
    static constexpr std::uint64_t bit(Function f) noexcept { return std::uint64_t(1) << unsigned(f); }
    constexpr explicit FunctionSet(std::uint64_t bits) noexcept
        : _bits(bits) {}

    std::uint64_t _bits = 0;
};

// The functions that a module provides in each form.
struct Provided {
    FunctionSet blocking;
    FunctionSet nonblocking;
    FunctionSet persistent;

    // Functions for which the module has a plan, which serves every form.
    static constexpr Provided planned(FunctionSet functions) noexcept { return {functions, functions, functions}; }
    // Functions for which the module has a blocking function and no plan.
    static constexpr Provided only_blocking(FunctionSet functions) noexcept { return {functions, {}, {}}; }

    constexpr FunctionSet in(Form form) const noexcept {
        return form == Form::blocking ? blocking : (form == Form::nonblocking ? nonblocking : persistent);
    }
    constexpr bool empty() const noexcept { return blocking.empty() && nonblocking.empty() && persistent.empty(); }
};

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
    bool operator==(const CountArray&) const noexcept = default; // whether it is the same array

private:
    const int* _small = nullptr;
    const std::int64_t* _large = nullptr;
};

// One side of an alltoallw: displacements in bytes, one type per peer.
struct TypedVector {
    CountArray counts;
    CountArray displacements;
    const MPI_Datatype* types = nullptr;
};

// The arguments of one call, without its communicator. Those that the function has not, or that are not significant in
// this process, have the values below and are not read. The program may change the arrays as soon as the operation is
// complete, so that a plan reads them and keeps no pointer to them.
struct Call {
    Function function = Function::barrier;
    const void* send = nullptr; // MPI_IN_PLACE as the program passed it
    void* recv = nullptr;       // also the buffer of bcast
    MPI_Count send_count = 0;
    MPI_Count recv_count = 0; // also the count of bcast and of the reductions
    const Datatype* send_type = nullptr;
    const Datatype* recv_type = nullptr; // also the type of bcast and of the reductions
    CountArray send_counts;
    CountArray send_displacements; // alltoallw, neighbor_alltoallw: in bytes
    CountArray recv_counts;        // also the counts of reduce_scatter
    CountArray recv_displacements;
    const MPI_Datatype* send_types = nullptr; // alltoallw, neighbor_alltoallw
    const MPI_Datatype* recv_types = nullptr;
    int send_types_count = 0; // the number of elements of send_types: the processes, or neighbours, to which data goes
    int recv_types_count = 0;
    const Op* op = nullptr;
    int root = 0; // on an intercommunicator also MPI_ROOT and MPI_PROC_NULL
    // The info argument of a persistent form; nullptr: MPI_INFO_NULL, or another form. It may be different in each
    // member, so that no plan chooses its messages by it alone. The program may free it as soon as the plan is made.
    const Info* info = nullptr;

    TypedVector send_side() const noexcept { return {send_counts, send_displacements, send_types}; }
    TypedVector recv_side() const noexcept { return {recv_counts, recv_displacements, recv_types}; }
    // Whether it is the same call, as far as that can be seen from here: arrays, types and ops may have changed.
    bool operator==(const Call&) const noexcept = default;
};

} // namespace coll
} // namespace patchbay
