// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/object/group.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A group's members in order, as one number.
std::uint64_t digest_of(const Group& group) noexcept;

// What a meeting in the lobby is about. Meetings are told apart by all of this, never by a hash alone.
struct Topic {
    std::string text;     // the string tag of the constructor
    std::uint64_t digest; // of the members
    std::uint32_t use;    // how often these members have met about this text before

    bool operator==(const Topic&) const = default;
    // A text that no other meeting of these processes ever has.
    std::string unique_text() const;
};

// One message of a meeting, as it travels: this, the words, the text.
struct LetterHead {
    enum class Kind : std::uint8_t { contribution, result };

    std::uint64_t digest;
    std::uint32_t use;
    std::int32_t sender;   // its rank in the group
    std::int32_t size;     // of the group
    std::uint32_t round;
    Kind kind;
    std::uint8_t unused;
    std::uint16_t words;
    std::uint16_t text;
    std::uint16_t unused2;

    static std::vector<std::byte> write(const Topic& topic, LetterHead head, std::span<const std::uint64_t> words);
};
static_assert(sizeof(LetterHead) == 32);

// A letter that has been received. false from `read`: it is none.
struct LetterView {
    LetterHead head;
    const std::byte* words;
    std::string_view text;

    static bool read(std::span<const std::byte> letter, LetterView* view) noexcept;
    bool is_about(const Topic& topic, int size) const noexcept {
        return head.digest == topic.digest && head.use == topic.use && head.size == size && text == topic.text;
    }
    std::uint64_t word(std::size_t i) const noexcept;
};

} // namespace patchbay
