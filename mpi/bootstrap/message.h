// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"
#include "frameworks/cid/cid.h"
#include "mpi/instance/operation_key.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

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
