// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/operation_key.h"

#include <algorithm>

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
    bytes.reserve(members.size() + string_tag.size() + 32); // also for what the caller appends
    append_number(bytes, sequence);
    append_number(bytes, string_tag.size());
    bytes += string_tag;
    bytes += members;
    return bytes;
}

} // namespace patchbay
