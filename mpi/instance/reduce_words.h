// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace patchbay {

// One step of an agreement's reduction.
inline void reduce_word(std::uint64_t& word, std::uint64_t other, cid::Agreement::Reduction reduction) noexcept {
    switch (reduction) {
    case cid::Agreement::Reduction::maximum:
    case cid::Agreement::Reduction::first: // all others are 0
    case cid::Agreement::Reduction::any:
        word = std::max(word, other);
        break;
    case cid::Agreement::Reduction::minimum:
        word = std::min(word, other);
        break;
    case cid::Agreement::Reduction::bit_and:
        word &= other;
        break;
    }
}

// The same for as many words as both have.
inline void reduce_words(std::span<std::uint64_t> words, std::span<const std::uint64_t> others,
    cid::Agreement::Reduction reduction) noexcept {
    for (std::size_t i = 0; i < words.size() && i < others.size(); ++i) {
        reduce_word(words[i], others[i], reduction);
    }
}

} // namespace patchbay
