// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// The number of a job in this process's table of jobs (core/runtime/job_table.h). Another process may have another
// number for the same job.
using JobNumber = std::uint16_t;

inline constexpr JobNumber own_job = 0; // the job of the calling process, in every process

// Identifies a process, or one thread of it that is an MPI process of its own: `rank` is its rank in its job. It has a
// meaning in this process only, because job numbers do: what is sent to a process of another job, or must be equal in
// processes of several jobs, contains the nonces of the jobs instead.
struct ProcessId {
    JobNumber job = own_job;
    std::uint16_t thread = 0; // 0: the process as a whole; otherwise a rank of a thread communicator
    std::uint32_t rank = 0;

    constexpr ProcessId() noexcept = default;
    constexpr ProcessId(JobNumber job, std::uint32_t rank, std::uint16_t thread = 0) noexcept
        : job(job),
          thread(thread),
          rank(rank) {}

    // The same as one number; their order is that of the processes.
    constexpr std::uint64_t word() const noexcept {
        return std::uint64_t(job) << 48 | std::uint64_t(thread) << 32 | rank;
    }
    static constexpr ProcessId of_word(std::uint64_t word) noexcept {
        return {JobNumber(word >> 48), std::uint32_t(word), std::uint16_t(word >> 32)};
    }
    friend constexpr auto operator<=>(const ProcessId&, const ProcessId&) noexcept = default;
};
static_assert(sizeof(ProcessId) == 8);

} // namespace patchbay
