// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/extended_id.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace [[gnu::visibility("default")]] patchbay {
namespace cid {

// How one communicator names its children without a word to anybody (session paper, III-B.3).
//
// The 8-bit field number `active` of a child's name counts the parent's children; the child itself counts in the field
// below. A name that came straight from a PGCID counts in field 7, one that counts in field 0 has no field left for
// children. When the field is used up, or there was none, the parent gets a new PGCID for its next 255 children (its
// own name stays): one group reduction of all its members in 255 constructors.
//
// Each constructor that all members of the parent call takes a child number, in the same order in all of them; the
// child number alone says which block of names it belongs to and whether it is the one that has to get this block's
// PGCID. Later constructors may begin before that one has finished (MPI_Comm_idup): they wait for their block.
// Thread-safe.
class Derivation {
public:
    // `id` is the parent's own name. `last`: the highest value of the field that children may have.
    Derivation(ExtendedId id, int active, std::uint32_t last = 255) noexcept
        : _own{id, active},
          _own_size(active > 0 ? last : 0) {}

    struct Child {
        ExtendedId id;
        int active; // the field in which it counts its own children; 0: it has none
    };
    struct ChildNumber {
        std::uint32_t block; // 0: the parent's own name
        std::uint32_t value; // of the field: 1 ..
        bool renews;         // whoever has this one gets the PGCID of the block
    };

    ChildNumber take() noexcept;
    // Has the block of this child number got its PGCID (or failed to)?
    bool ready(const ChildNumber& child_number) const noexcept;
    // Once ready; every child number is resolved exactly once. nullopt: the PGCID could not be had, *code says why.
    std::optional<Child> resolve(const ChildNumber& child_number, int* code) noexcept;
    // Instead of resolve(), also before it is ready: its holder will be in no communicator.
    void skip(const ChildNumber& child_number) noexcept;
    // By the holder of the renewing child number, before it resolves its own. `code`: MPI_SUCCESS, or why there is no
    // PGCID.
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
        bool known = false; // the two above are set
        std::uint32_t resolved = 0;
    };
    void count(std::map<std::uint32_t, Block>::iterator block) noexcept;
    static Child child_of(const Base& base, std::uint32_t value) noexcept;

    mutable std::mutex _mutex;
    Base _own;
    std::uint32_t _own_size;
    std::atomic<std::uint32_t> _taken{0};
    std::uint32_t _lost = 0; // of blocks without an entry, up to this one, memory for the entry was exhausted
    std::map<std::uint32_t, Block> _blocks; // those that have not named all their children yet
};

} // namespace cid
} // namespace patchbay
