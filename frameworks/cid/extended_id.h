// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {
namespace cid {

// exCID: the extended identifier of a communicator, the same in all its processes and in each of them unique. Disjoint
// groups that one call of a constructor has made (the colours of MPI_Comm_split) share one exCID.
struct ExtendedId {
    std::uint64_t pgcid = 0;  // PMIx group context identifier that it was derived from; 0: the world model
    std::uint64_t fields = 0; // eight fields of 8 bits (frameworks/cid/derivation.h)

    bool operator==(const ExtendedId&) const = default;
    // "3f.0100000000000000", for people.
    std::string text() const;
};
static_assert(sizeof(ExtendedId) == 16);

// Whether a communicator with this exCID was derived from the one with the exCID `ancestor`, in one or more
// generations, within one PGCID: each generation has set the field below its parent's (frameworks/cid/derivation.h).
inline bool is_derived_from(const ExtendedId& id, const ExtendedId& ancestor) noexcept {
    if (id.pgcid != ancestor.pgcid || id.fields == ancestor.fields) {
        return false;
    }
    const int own_bits = std::countr_zero(ancestor.fields) / 8 * 8; // those below the field that the ancestor has set
    return own_bits == 64 || (id.fields ^ ancestor.fields) >> own_bits == 0;
}

struct ExtendedIdHash {
    std::size_t operator()(const ExtendedId& id) const noexcept {
        std::uint64_t mixed = (id.pgcid ^ id.fields * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
        return std::size_t(mixed ^ mixed >> 32);
    }
};

} // namespace cid
} // namespace patchbay
