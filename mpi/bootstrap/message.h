// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"
#include "frameworks/cid/cid.h"
#include "object/group.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// The header of a message of the bootstrap exchange. The words, the string tag and the members follow it.
struct BootstrapHeader {
    // Where contributions go up the tree to the first member, a member first sends a question to its children: a child
    // that has chosen another cid component, whose reduction needs no contribution, detects the mismatch by the
    // question. A member that detects a mismatch sends a refusal to its parent and its children, so that no member
    // waits for its contribution or for the result.
    enum class Kind : std::uint8_t { question, contribution, result, refusal };

    std::uint32_t sequence;
    std::int32_t sender; // its rank in the group
    std::uint32_t round;
    std::uint32_t members;    // size of their encoding in bytes
    std::uint16_t words;      // number of words
    std::uint16_t string_tag; // size in bytes
    Kind kind;
    cid::GroupReduction::Operation operation;
    std::uint8_t unused[2];

    static std::vector<std::byte> write(
        const OperationKey& key, BootstrapHeader head, std::span<const std::uint64_t> words);
};
static_assert(sizeof(BootstrapHeader) == 24);

// A received message; it refers to the bytes that read() was given. read() returns false for bytes that are no message.
struct BootstrapMessage {
    BootstrapHeader head;
    const std::byte* words;
    std::string_view string_tag;
    std::string_view members;

    static bool read(std::span<const std::byte> message, BootstrapMessage* view) noexcept;
    bool has_key(const OperationKey& key) const noexcept {
        return head.sequence == key.sequence && string_tag == key.string_tag && members == key.members;
    }
    std::uint64_t word(std::size_t i) const noexcept;
};

} // namespace patchbay
