// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/process_words.h"

#include "include/mpi.h"
#include "object/error_cause.h"

#include <algorithm>

namespace patchbay {

void append_group(Words& words, const Group& group, const JobTable& jobs) {
    std::vector<JobNumber> numbers;
    for (int rank = 0; rank < group.size(); ++rank) {
        const JobNumber job = group.process(rank).job;
        if (std::ranges::find(numbers, job) == numbers.end()) {
            numbers.push_back(job);
        }
    }
    if (numbers.empty()) {
        return;
    }
    words.push_back(numbers.size());
    for (const JobNumber number : numbers) {
        words.push_back(jobs.nonce_of(number));
    }
    for (int rank = 0; rank < group.size(); ++rank) {
        ProcessId member = group.process(rank);
        member.job = JobNumber(std::ranges::find(numbers, member.job) - numbers.begin());
        words.push_back(member.word());
    }
}

Ref<Group> read_group(std::span<const std::uint64_t> words, ProcessId self, const JobTable& jobs, int* code) {
    *code = MPI_SUCCESS;
    if (words.empty()) {
        return Group::empty();
    }
    std::vector<JobNumber> numbers;
    for (const std::uint64_t nonce : words.subspan(1, words[0])) {
        const std::optional<JobNumber> number = jobs.find_nonce(nonce);
        if (!number) {
            *code =
                note_cause(MPI_ERR_GROUP, "a member of the group is of a job that this process is not connected to");
            return {};
        }
        numbers.push_back(*number);
    }
    std::vector<ProcessId> members;
    members.reserve(words.size());
    for (const std::uint64_t word : words.subspan(1 + numbers.size())) {
        ProcessId member = ProcessId::of_word(word);
        member.job = numbers[member.job];
        members.push_back(member);
    }
    return Group::list(std::move(members), self);
}

} // namespace patchbay
