// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/call_site.h"
#include "frameworks/coll/call.h"
#include "mpi/check/signature.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::check {

// What one member has called, as it is sent to the member that compares: a fixed part, and for functions with arrays of
// counts one Block for each process, for neighbourhood functions one Edge (neighbor_edges.h) for each neighbour.
struct CallRecord {
    static constexpr std::int32_t no_root = -1000;                           // the function has none
    static constexpr auto constructor = std::uint32_t(coll::function_count); // in place of a coll::Function
    static constexpr std::uint32_t no_op = 0;
    static constexpr std::uint32_t users_op = 1; // otherwise the handle of a predefined op

    std::uint32_t function = 0; // coll::Function or `constructor`
    std::uint32_t form = 0;     // coll::Form
    std::int32_t root = no_root;
    std::uint32_t op = no_op;
    std::uint32_t sends = 0;           // whether `sent` is defined
    std::uint32_t receives = 0;        // whether `received` is
    std::uint32_t sent_blocks = 0;     // the number of blocks behind this struct
    std::uint32_t received_blocks = 0; // and of those behind them
    std::uint32_t constructors = 0;    // called before on the communicator by all members (Communicator::constructions)
    Signature sent;
    Signature received;                      // also of the buffer of a broadcast or a reduction
    std::array<char, 40> constructor_name{}; // of such a call, without the suffix of a large count
    std::array<char, 96> site{};

    const char* function_text() const noexcept;
    // "MPI_Bcast of 4 MPI_INT with root 0 at solver.c:12 in main".
    std::string text() const;
};

// The signature of what goes to one process, or comes from it, without the text.
struct Block {
    std::uint64_t hash = 0;
    std::uint64_t elements = 0;

    Block() = default;
    explicit Block(const Signature& of) noexcept
        : hash(of.is_packed() ? packed : of.hash),
          elements(of.elements) {}
    // As Signature::matches().
    bool matches(const Block& other) const noexcept {
        return (hash == other.hash && elements == other.elements) || hash == packed || other.hash == packed;
    }

private:
    static constexpr std::uint64_t packed = ~std::uint64_t(0);
};

// The record of a call, with its blocks. May throw std::bad_alloc.
std::vector<std::byte> record_of(
    const coll::Call& call, coll::Form form, const Communicator& comm, const std::string& site);

// The record of a call of the constructor with this name. May throw std::bad_alloc.
std::vector<std::byte> record_of_constructor(
    std::string_view function, const Communicator& comm, const std::string& site);

// The most that a record of a member of this communicator takes.
std::size_t longest_record(const Communicator& comm) noexcept;

// "MPI_Ibcast": a text that is never destroyed.
const char* name_of_call(coll::Function function, coll::Form form) noexcept;

// One difference between the calls of two members.
struct Difference {
    int code = MPI_SUCCESS; // MPI_SUCCESS: there is none
    int first = 0;          // the two ranks
    int second = 0;
    std::string text;
};

// Compares the records of all members of a communicator or, of an intercommunicator, of one of its groups. The result
// is the first difference, with a text for the user.
Difference compare(const std::vector<std::span<const std::byte>>& records, bool is_inter);

} // namespace patchbay::check
