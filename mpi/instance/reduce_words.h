// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/cid/cid.h"

#include <algorithm>
#include <cstdint>

namespace patchbay {

// One step of an agreement's reduction.
inline void reduce_word(std::uint64_t& word, std::uint64_t other, cid::Agreement::Reduction reduction) noexcept {
    switch (reduction) {
    case cid::Agreement::Reduction::maximum:
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

} // namespace patchbay
