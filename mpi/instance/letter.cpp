// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/letter.h"

#include <cstring>

namespace patchbay {

std::uint64_t digest_of(const Group& group) noexcept {
    std::uint64_t digest = 0x9e3779b97f4a7c15u + std::uint64_t(group.size());
    for (int rank = 0; rank < group.size(); ++rank) {
        const ProcessId process = group.process(rank);
        digest ^= std::uint64_t(process.job) << 32 | process.rank;
        digest *= 0xff51afd7ed558ccdu;
        digest ^= digest >> 32;
    }
    return digest;
}

std::string Topic::unique_text() const {
    return text + '#' + std::to_string(digest) + '#' + std::to_string(use);
}

std::vector<std::byte> LetterHead::write(
    const Topic& topic, LetterHead head, std::span<const std::uint64_t> words) {
    head.digest = topic.digest;
    head.use = topic.use;
    head.words = std::uint16_t(words.size());
    head.text = std::uint16_t(topic.text.size());
    std::vector<std::byte> letter(sizeof head + words.size_bytes() + topic.text.size());
    std::memcpy(letter.data(), &head, sizeof head);
    std::memcpy(letter.data() + sizeof head, words.data(), words.size_bytes());
    std::memcpy(letter.data() + sizeof head + words.size_bytes(), topic.text.data(), topic.text.size());
    return letter;
}

bool LetterView::read(std::span<const std::byte> letter, LetterView* view) noexcept {
    if (letter.size() < sizeof(LetterHead)) {
        return false;
    }
    std::memcpy(&view->head, letter.data(), sizeof view->head);
    const std::size_t words = view->head.words * sizeof(std::uint64_t);
    if (letter.size() != sizeof(LetterHead) + words + view->head.text) {
        return false;
    }
    view->words = letter.data() + sizeof(LetterHead);
    view->text = {reinterpret_cast<const char*>(view->words + words), view->head.text};
    return true;
}

std::uint64_t LetterView::word(std::size_t i) const noexcept {
    std::uint64_t value;
    std::memcpy(&value, words + i * sizeof value, sizeof value);
    return value;
}

} // namespace patchbay
