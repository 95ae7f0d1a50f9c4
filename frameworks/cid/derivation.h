// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"
#include "core/progress/continuation.h"
#include "frameworks/cid/extended_id.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace [[gnu::visibility("default")]] patchbay {
namespace cid {

// Derives the exCIDs of a communicator's children without communication (session paper, III-B.3).
//
// The 8-bit field number `active` of a child's exCID numbers the parent's children; the child itself numbers its own in
// the field below. An exCID with a PGCID of its own uses field 7; one whose active field is 0 has no field left for
// children. When the field is used up, or there was none, the parent gets a new PGCID for its next 255 children (its
// own exCID stays): one group reduction of all its members in 255 constructors.
//
// Each constructor that all members of the parent call takes a child number, in the same order in all members; the
// child number alone determines its block of exCIDs, and whether this constructor has to get the PGCID of the block.
// Later constructors may begin before that one has finished (MPI_Comm_idup): they wait for their block. Thread-safe.
class Derivation {
public:
    // `id` is the parent's own exCID. `last`: the highest value of the field that children may have.
    Derivation(ExtendedId id, int active, std::uint32_t last = 255) noexcept;
    ~Derivation();
    Derivation(const Derivation&) = delete;
    Derivation& operator=(const Derivation&) = delete;

    struct Child {
        ExtendedId id;
        int active; // the field that numbers its own children; 0: it has none
    };
    struct ChildNumber {
        std::uint32_t block; // 0: the parent's own exCID
        std::uint32_t value; // of the active field, from 1 on
        bool renews;         // its constructor gets the PGCID of the block
    };

    ChildNumber take() noexcept;
    // Whether the block of this child number has its PGCID, or has failed to get one.
    bool ready(const ChildNumber& child_number) const noexcept;
    // A continuation that is counted down when a block has its PGCID, or has failed to get one.
    struct Waiter {
        Continuation* next = nullptr; // nullptr: not attached
        Link<Waiter> link{};
    };
    // Attaches `next`, which is open, unless the child number is ready. MPI_SUCCESS or MPI_ERR_NO_MEM.
    int attach(const ChildNumber& child_number, Waiter& waiter, Continuation& next) noexcept;
    // Counts the continuation down now, unless it has been already.
    void detach(const ChildNumber& child_number, Waiter& waiter) noexcept;
    // Once ready, exactly once for every child number. nullopt: the block has no PGCID, and *code is the error.
    std::optional<Child> resolve(const ChildNumber& child_number, int* code) noexcept;
    // Instead of resolve(), also before the block is ready: this process will be in no communicator.
    void skip(const ChildNumber& child_number) noexcept;
    // Called with the renewing child number before that is resolved. `code`: MPI_SUCCESS, or the error that left the
    // block without a PGCID.
    void renew(const ChildNumber& child_number, std::uint64_t pgcid, int code) noexcept;

private:
    static constexpr std::uint32_t block_size = 255;
    static constexpr int top_field = 7;

    struct Base {
        ExtendedId id;
        int active;
    };
    struct Block {
        std::uint64_t pgcid = 0;
        int code = 0;
        bool known = false; // `pgcid` and `code` are set
        std::uint32_t resolved = 0;
        List<Waiter, &Waiter::link> waiters;
    };
    void count(std::map<std::uint32_t, Block>::iterator block) noexcept;
    static Child child_of(const Base& base, std::uint32_t value) noexcept;

    mutable std::mutex _mutex;
    Base _own;
    std::uint32_t _own_size;
    std::atomic<std::uint32_t> _taken{0};
    std::uint32_t _lost = 0; // of blocks without an entry, up to this one, memory for the entry was exhausted
    std::map<std::uint32_t, Block> _blocks; // those that have child numbers left to resolve
};

} // namespace cid
} // namespace patchbay
