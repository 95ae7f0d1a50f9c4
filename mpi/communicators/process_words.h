// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"
#include "object/group.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay {

using Words = std::vector<std::uint64_t>;

// Appends a text: its length, and its characters, padded with zeros.
void append(Words& words, std::string_view text);
// Reads a text from the front of `words`, and removes it there.
std::string read_text(std::span<const std::uint64_t>& words);

// Appends the members of a group in a form that has the same meaning in every process: the number of their jobs, the
// nonces and the namespaces of these, and for each member one word, which has the place of its job among them. Nothing
// for an empty group.
void append_group(Words& words, const Group& group, const JobTable& jobs);

// All words are such a group, as `self` has it. `add` is called for the namespace of a job that this process does not
// know; it adds the job to the table, as Runtime::add_job does. *references gets the references to the jobs of the
// members; it stays null where all are of the own job. *code is MPI_ERR_GROUP if a job could not be added; then the
// result is null, and the cause is noted.
using AddJob = std::function<Result<JobNumber>(std::string_view nspace)>;
Ref<Group> read_group(std::span<const std::uint64_t> words, ProcessId self, JobTable& jobs, const AddJob& add,
    std::shared_ptr<const JobReferences>* references, int* code);

} // namespace patchbay
