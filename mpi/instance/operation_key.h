// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"
#include "object/group.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

// Encodes the members of a group in their order, alike in all members. Two groups have the same encoding only if they
// are equal. A run of ranks at equal distances takes 4 to 12 bytes, for example the world, or every second process of
// it; members in arbitrary order take about 5 bytes each. Where members are of several jobs, a run also has the nonce
// of its job (10 bytes), because each process has other numbers for the jobs.
std::string members_of(const Group& group, const JobTable& jobs);
// The upper bound of the size of that encoding for a group of `size` members.
constexpr std::size_t longest_members(std::size_t size) noexcept {
    return 20 * size;
}

// An operation other than MPI_Comm_create_from_group has a kind, so that its key differs from the keys of all string
// tags of users. The name of a kind has at most this many characters.
inline constexpr std::size_t longest_kind = 7;

// Identifies one reduction in the bootstrap exchange. Two reductions are the same only if all three members are equal;
// no hash stands for any of them.
struct OperationKey {
    std::string string_tag; // of the constructor; for other kinds of operations '\0' and the kind follow
    std::string members;    // members_of() the group
    std::uint32_t sequence; // the number of earlier reductions with this string tag and these members

    bool operator==(const OperationKey&) const = default;
    // A text without '\0' that no other operation key has.
    std::string unique_name() const;
    // The key as bytes, which are shorter than unique_name().
    std::string bytes() const;
};

} // namespace patchbay
