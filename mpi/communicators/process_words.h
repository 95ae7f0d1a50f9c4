// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"
#include "object/group.h"

#include <cstdint>
#include <span>
#include <vector>

namespace patchbay {

using Words = std::vector<std::uint64_t>;

// Appends the members of a group in a form that has the same meaning in every process: the number of their jobs, the
// nonces of these, and for each member one word, which has the place of its job among them. Nothing for an empty group.
void append_group(Words& words, const Group& group, const JobTable& jobs);

// All words are such a group. *code is MPI_ERR_GROUP if a member is of a job that this process does not know; then the
// result is null, and the cause is noted.
Ref<Group> read_group(std::span<const std::uint64_t> words, ProcessId self, const JobTable& jobs, int* code);

} // namespace patchbay
