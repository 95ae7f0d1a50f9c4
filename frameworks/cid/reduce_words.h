// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace patchbay {

// One step of an group reduction's reduction.
inline void reduce_word(std::uint64_t& word, std::uint64_t other, cid::GroupReduction::Operation operation) noexcept {
    switch (operation) {
    case cid::GroupReduction::Operation::maximum:
    case cid::GroupReduction::Operation::first: // all others are 0
    case cid::GroupReduction::Operation::any:
        word = std::max(word, other);
        break;
    case cid::GroupReduction::Operation::minimum:
        word = std::min(word, other);
        break;
    case cid::GroupReduction::Operation::bit_and:
        word &= other;
        break;
    }
}

// The same for as many words as both have.
inline void reduce_words(std::span<std::uint64_t> words, std::span<const std::uint64_t> others,
    cid::GroupReduction::Operation operation) noexcept {
    for (std::size_t i = 0; i < words.size() && i < others.size(); ++i) {
        reduce_word(words[i], others[i], operation);
    }
}

} // namespace patchbay
