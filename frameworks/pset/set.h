// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/group.h"
#include "object/process.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace pset {

// Processes with consecutive ranks in one job, and with the same thread.
struct Run {
    ProcessId first;
    std::uint32_t count;
    friend bool operator==(const Run&, const Run&) = default;
};

// A set of processes under a name. The members of one version never change; a new definition of the name has the next
// version. Members are in the same order in every process: by job, in the order in which the source of the set names
// the jobs (each process has other numbers for them), and in ascending order of the ranks within a job.
struct Set {
    std::string name;
    std::uint64_t version = 1;
    std::vector<Run> runs; // ascending and as long as can be, so that equal sets have equal runs

    // The ranks of a job may be in any order.
    static Set of(std::string name, std::uint64_t version, std::vector<ProcessId> members);
    static Set run(std::string name, ProcessId first, std::uint32_t count);

    std::size_t size() const noexcept;
    bool contains(ProcessId process) const noexcept;
    std::vector<ProcessId> members() const;
    // The group of its members, in their order. A single run costs no memory per member.
    Ref<Group> group(ProcessId self) const;
};

} // namespace pset
} // namespace patchbay
