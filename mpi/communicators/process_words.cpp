// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/process_words.h"

#include "include/mpi.h"
#include "object/error_cause.h"

#include <algorithm>
#include <cstring>

namespace patchbay {

namespace {

std::size_t words_of_text(std::size_t length) noexcept {
    return (length + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

// A job that is known by its nonce only is not known well enough.
Result<JobNumber> find_or_add(
    std::uint64_t nonce, const std::string& nspace, JobTable& jobs, const AddJob& add, JobReferences& references) {
    if (const std::optional<JobNumber> number = jobs.find_nonce(nonce); number == own_job) {
        return own_job;
    }
    Result<JobNumber> number = add(nspace);
    if (number) {
        references.take(number.value());
    }
    return number;
}

} // namespace

void append(Words& words, std::string_view text) {
    const std::size_t begin = words.size() + 1;
    words.push_back(text.size());
    words.resize(begin + words_of_text(text.size()));
    std::memcpy(words.data() + begin, text.data(), text.size());
}

std::string read_text(std::span<const std::uint64_t>& words) {
    const std::size_t length = words[0];
    std::string text(length, '\0');
    std::memcpy(text.data(), words.data() + 1, length);
    words = words.subspan(1 + words_of_text(length));
    return text;
}

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
        const std::shared_ptr<const Job> job = jobs.job(number);
        words.push_back(job == nullptr ? 0 : job->nonce);
        append(words, job == nullptr ? std::string_view() : std::string_view(job->nspace));
    }
    for (int rank = 0; rank < group.size(); ++rank) {
        ProcessId member = group.process(rank);
        member.job = JobNumber(std::ranges::find(numbers, member.job) - numbers.begin());
        words.push_back(member.word());
    }
}

Ref<Group> read_group(std::span<const std::uint64_t> words, ProcessId self, JobTable& jobs, const AddJob& add,
    std::shared_ptr<const JobReferences>* references, int* code) {
    *code = MPI_SUCCESS;
    if (words.empty()) {
        return Group::empty();
    }
    auto kept = std::make_shared<JobReferences>(jobs);
    std::vector<JobNumber> numbers(words[0]);
    words = words.subspan(1);
    for (JobNumber& number : numbers) {
        const std::uint64_t nonce = words[0];
        words = words.subspan(1);
        const Result<JobNumber> job = find_or_add(nonce, read_text(words), jobs, add, *kept);
        if (!job) {
            *code =
                note_cause(MPI_ERR_GROUP, "a member of the group is of a job that has ended, or of another launcher's");
            return {};
        }
        number = job.value();
    }
    std::vector<ProcessId> members;
    members.reserve(words.size());
    for (const std::uint64_t word : words) {
        ProcessId member = ProcessId::of_word(word);
        member.job = numbers[member.job];
        members.push_back(member);
    }
    if (!kept->empty()) {
        *references = std::move(kept);
    }
    return Group::list(std::move(members), self);
}

} // namespace patchbay
