// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/letter.h"

#include <algorithm>
#include <cstring>

namespace patchbay {

namespace {

// Seven bits a byte, the highest says that more follow: small numbers are short, and no number begins another one.
void append_number(std::string& bytes, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        bytes.push_back(char(0x80 | (number & 0x7f)));
    }
    bytes.push_back(char(number));
}

} // namespace

// Piece by piece, each as long as it can be: how many ranks, of which job, from where on and how far apart. All of that
// can be read back, so that different groups differ.
std::string members_of(const Group& group) {
    std::string bytes;
    for (int from = 0; from < group.size();) {
        const ProcessId first = group.process(from);
        int end = from + 1;
        std::int64_t stride = 0;
        if (end < group.size()) {
            stride = std::int64_t(group.process(end).rank) - std::int64_t(first.rank);
        }
        std::int64_t next = first.rank + stride;
        while (end < group.size() && group.process(end).job == first.job && group.process(end).rank == next) {
            ++end;
            next += stride;
        }
        append_number(bytes, std::uint64_t(end - from));
        append_number(bytes, first.job);
        append_number(bytes, first.rank);
        if (end - from > 1) {
            append_number(bytes, stride < 0 ? std::uint64_t(-stride) << 1 | 1 : std::uint64_t(stride) << 1);
        }
        from = end;
    }
    return bytes;
}

// The text comes last, because it alone may have a '#' in it.
std::string Topic::unique_text() const {
    static constexpr char digits[] = "0123456789abcdef";
    const std::size_t tag_end = std::min(text.find('\0'), text.size());
    std::string unique;
    unique.reserve(2 * members.size() + text.size() + 16);
    for (const unsigned char byte : members) {
        unique += digits[byte >> 4];
        unique += digits[byte & 15];
    }
    unique += '#' + std::to_string(use) + '#';
    unique.append(text, std::min(tag_end + 1, text.size()));
    unique += '#';
    unique.append(text, 0, tag_end);
    return unique;
}

std::string Topic::bytes() const {
    std::string bytes;
    bytes.reserve(members.size() + text.size() + 16);
    append_number(bytes, use);
    append_number(bytes, text.size());
    bytes += text;
    bytes += members;
    return bytes;
}

std::vector<std::byte> LetterHead::write(const Topic& topic, LetterHead head, std::span<const std::uint64_t> words) {
    head.use = topic.use;
    head.members = std::uint32_t(topic.members.size());
    head.words = std::uint16_t(words.size());
    head.text = std::uint16_t(topic.text.size());
    std::vector<std::byte> letter(sizeof head + words.size_bytes() + topic.text.size() + topic.members.size());
    std::byte* at = letter.data();
    const auto append = [&at](const void* what, std::size_t size) {
        if (size > 0) { // memcpy takes no null pointer, which an empty span has
            std::memcpy(at, what, size);
            at += size;
        }
    };
    append(&head, sizeof head);
    append(words.data(), words.size_bytes());
    append(topic.text.data(), topic.text.size());
    append(topic.members.data(), topic.members.size());
    return letter;
}

bool LetterView::read(std::span<const std::byte> letter, LetterView* view) noexcept {
    if (letter.size() < sizeof(LetterHead)) {
        return false;
    }
    std::memcpy(&view->head, letter.data(), sizeof view->head);
    const std::size_t words = view->head.words * sizeof(std::uint64_t);
    if (letter.size() != sizeof(LetterHead) + words + view->head.text + view->head.members) {
        return false;
    }
    view->words = letter.data() + sizeof(LetterHead);
    view->text = {reinterpret_cast<const char*>(view->words + words), view->head.text};
    view->members = {view->text.data() + view->text.size(), view->head.members};
    return true;
}

std::uint64_t LetterView::word(std::size_t i) const noexcept {
    std::uint64_t value;
    std::memcpy(&value, words + i * sizeof value, sizeof value);
    return value;
}

} // namespace patchbay
