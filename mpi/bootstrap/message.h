// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"
#include "object/group.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A group's members in order, as bytes that two groups share only when they are equal. Runs of ranks at equal distances
// are short (4 to 12 bytes each), so that the world and every second process of it are; others take some 5 a member.
std::string members_of(const Group& group);
// What members_of() needs at most for `size` members.
constexpr std::size_t longest_members(std::size_t size) noexcept {
    return 20 * size;
}

// An operation that is not a user's call of MPI_Comm_create_from_group has a kind, of at most so many characters, so
// that no string tag of a user leads to it.
inline constexpr std::size_t longest_kind = 7;

// What a meeting in the bootstrap exchange is about. Meetings are told apart by all of this, nowhere by a hash.
struct OperationKey {
    std::string string_tag; // the string tag of the constructor; for other kinds of calls '\0' and the kind follow
    std::string members;    // members_of() the group
    std::uint32_t sequence; // how often these members have met about this text before

    bool operator==(const OperationKey&) const = default;
    // A text without '\0' that no other meeting ever has.
    std::string unique_name() const;
    // All of it as bytes, shorter than that.
    std::string bytes() const;
};

// One message of a meeting, as it travels: this, the words, the text, the members.
struct BootstrapHeader {
    // A question goes down the tree where a contribution has to come up: a member that has chosen another component,
    // which asks for none, learns of the disagreement by it. Whoever finds a disagreement refuses, up and down, so that
    // nobody waits for it.
    enum class Kind : std::uint8_t { question, contribution, result, refusal };

    std::uint32_t sequence;
    std::int32_t sender; // its rank in the group
    std::uint32_t round;
    std::uint32_t members; // bytes
    std::uint16_t words;
    std::uint16_t string_tag;
    Kind kind;
    cid::GroupReduction::Operation operation;
    std::uint8_t unused[2];

    static std::vector<std::byte> write(
        const OperationKey& key, BootstrapHeader head, std::span<const std::uint64_t> words);
};
static_assert(sizeof(BootstrapHeader) == 24);

// A message that has been received. false from `read`: it is none.
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
