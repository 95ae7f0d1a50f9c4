// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap/message.h"

#include <algorithm>
#include <cstring>

namespace patchbay {

namespace {

// Seven bits per byte; the highest bit is set in all bytes but the last. A small number takes few bytes, and no number
// is a prefix of another one.
void append_number(std::string& bytes, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        bytes.push_back(char(0x80 | (number & 0x7f)));
    }
    bytes.push_back(char(number));
}

// Whether the ranks alone tell who the members are.
bool is_of_one_job(const Group& group) noexcept {
    for (int rank = 0; rank < group.size(); ++rank) {
        if (group.process(rank).job != own_job || group.process(rank).thread != 0) {
            return false;
        }
    }
    return true;
}

} // namespace

// The encoding is a sequence of runs, each as long as possible: the number of ranks, their job, the first rank, and the
// distance between two ranks. The group could be decoded from it, so that different groups have different encodings.
// The job is 0 where all members are of one job; otherwise it is the nonce of the job, which is not 0, and the thread
// follows.
std::string members_of(const Group& group, const JobTable& jobs) {
    std::string bytes;
    const bool one_job = is_of_one_job(group);
    for (int from = 0; from < group.size();) {
        const ProcessId first = group.process(from);
        int end = from + 1;
        std::int64_t stride = 0;
        if (end < group.size()) {
            stride = std::int64_t(group.process(end).rank) - std::int64_t(first.rank);
        }
        std::int64_t next = first.rank + stride;
        while (end < group.size() && group.process(end).job == first.job && group.process(end).thread == first.thread &&
            group.process(end).rank == next) {
            ++end;
            next += stride;
        }
        append_number(bytes, std::uint64_t(end - from));
        append_number(bytes, one_job ? 0 : jobs.nonce_of(first.job));
        if (!one_job) {
            append_number(bytes, first.thread);
        }
        append_number(bytes, first.rank);
        if (end - from > 1) {
            append_number(bytes, stride < 0 ? std::uint64_t(-stride) << 1 | 1 : std::uint64_t(stride) << 1);
        }
        from = end;
    }
    return bytes;
}

// The string tag comes last, because only the string tag may contain a '#'.
std::string OperationKey::unique_name() const {
    static constexpr char digits[] = "0123456789abcdef";
    const std::size_t tag_end = std::min(string_tag.find('\0'), string_tag.size());
    std::string unique;
    unique.reserve(2 * members.size() + string_tag.size() + 16);
    for (const unsigned char byte : members) {
        unique += digits[byte >> 4];
        unique += digits[byte & 15];
    }
    unique += '#' + std::to_string(sequence) + '#';
    unique.append(string_tag, std::min(tag_end + 1, string_tag.size()));
    unique += '#';
    unique.append(string_tag, 0, tag_end);
    return unique;
}

std::string OperationKey::bytes() const {
    std::string bytes;
    bytes.reserve(members.size() + string_tag.size() + 16);
    append_number(bytes, sequence);
    append_number(bytes, string_tag.size());
    bytes += string_tag;
    bytes += members;
    return bytes;
}

std::vector<std::byte> BootstrapHeader::write(
    const OperationKey& key, BootstrapHeader head, std::span<const std::uint64_t> words) {
    head.sequence = key.sequence;
    head.members = std::uint32_t(key.members.size());
    head.words = std::uint16_t(words.size());
    head.string_tag = std::uint16_t(key.string_tag.size());
    std::vector<std::byte> message(sizeof head + words.size_bytes() + key.string_tag.size() + key.members.size());
    std::byte* at = message.data();
    const auto append = [&at](const void* what, std::size_t size) {
        if (size > 0) { // the data of an empty span may be a null pointer, which memcpy does not accept
            std::memcpy(at, what, size);
            at += size;
        }
    };
    append(&head, sizeof head);
    append(words.data(), words.size_bytes());
    append(key.string_tag.data(), key.string_tag.size());
    append(key.members.data(), key.members.size());
    return message;
}

bool BootstrapMessage::read(std::span<const std::byte> message, BootstrapMessage* view) noexcept {
    if (message.size() < sizeof(BootstrapHeader)) {
        return false;
    }
    std::memcpy(&view->head, message.data(), sizeof view->head);
    const std::size_t words = view->head.words * sizeof(std::uint64_t);
    if (message.size() != sizeof(BootstrapHeader) + words + view->head.string_tag + view->head.members) {
        return false;
    }
    view->words = message.data() + sizeof(BootstrapHeader);
    view->string_tag = {reinterpret_cast<const char*>(view->words + words), view->head.string_tag};
    view->members = {view->string_tag.data() + view->string_tag.size(), view->head.members};
    return true;
}

std::uint64_t BootstrapMessage::word(std::size_t i) const noexcept {
    std::uint64_t value;
    std::memcpy(&value, words + i * sizeof value, sizeof value);
    return value;
}

} // namespace patchbay
