// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::coll::tuned {

// The messages of an operation (README.md). What a name means depends on the function.
enum class Algorithm : std::uint8_t {
    pass, // none of these: the next component serves the call
    linear,
    direct,
    binomial,
    doubling,
    halves,
    ring,
    chain,
    scatter_allgather,
    bruck,
    neighbour,
    pairwise,
    count,
};
// The names in the order of the enumeration, between the one of a function that was not called and that of the code for
// two processes (pair.h): as states of a variable.
inline constexpr const char* algorithm_states = "none,pass,linear,direct,binomial,doubling,halves,ring,chain,"
                                                "scatter_allgather,bruck,neighbour,pairwise,pair";
std::string_view algorithm_name(Algorithm) noexcept;
std::optional<Algorithm> algorithm_of(std::string_view name) noexcept;

// An algorithm with its parameters.
struct Choice {
    Algorithm algorithm = Algorithm::pass;
    std::size_t segment = 0; // bytes of one message where the algorithm divides vectors; 0: it does not
    int radix = 2;           // of doubling in MPI_Allreduce and of bruck in MPI_Alltoall

    bool operator==(const Choice&) const = default;
};

inline constexpr int most_radix = 64;

// The functions that this component serves.
inline constexpr FunctionSet served{Function::bcast, Function::gather, Function::scatter, Function::allgather,
    Function::alltoall, Function::reduce, Function::allreduce, Function::scan, Function::exscan};

// The names of the algorithms of a function, as choices of a parameter: "table", which is the first, and "pass", and
// those that the function has. "" for a function that is not served.
constexpr const char* algorithm_choices(Function function) noexcept {
    switch (function) {
    case Function::bcast:
        return "table,pass,linear,binomial,chain,scatter_allgather";
    case Function::gather:
    case Function::scatter:
        return "table,pass,linear,binomial";
    case Function::allgather:
        return "table,pass,linear,direct,doubling,ring,bruck,neighbour";
    case Function::alltoall:
        return "table,pass,linear,direct,bruck,pairwise";
    case Function::reduce:
        return "table,pass,linear,binomial,halves";
    case Function::allreduce:
        return "table,pass,linear,direct,doubling,halves,ring";
    case Function::scan:
    case Function::exscan:
        return "table,pass,linear,chain";
    default:
        return "";
    }
}
// Whether a function has this algorithm. Every one has `pass`.
bool has_algorithm(Function, Algorithm) noexcept;
// Whether the algorithm can serve a call on a communicator of that size; `commutative` is that of the call's op.
bool applies(Function, Algorithm, int ranks, bool commutative) noexcept;

} // namespace patchbay::coll::tuned
