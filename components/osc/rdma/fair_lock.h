// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/control_block.h"
#include "core/progress/progress.h"

namespace patchbay::osc::rdma {

// A lock of readers and writers in the control block of each member, fair: holders come in the order of their tickets,
// and readers that follow each other hold it together. A process that waits looks only at its own control block, and
// sleeps; the process that ends its wait wakes exactly it. README.md has the protocol and why no waiter is lost.
//
// Each process uses the lock of one member at most once at a time. Any thread.
class FairLock {
public:
    FairLock(Words& words, const LockWords& places, Progress& progress, const Failures& failures) noexcept
        : _words(words),
          _at(places),
          _progress(progress),
          _failures(failures) {}

    // May block. MPI_ERR_PROC_ABORTED: `member` has failed, or a process that holds its lock or waits for it has; the
    // lock cannot be used any more.
    int acquire(int member, bool exclusive) noexcept;
    // Takes the exclusive lock where nobody has it or waits for it; false: otherwise, or an error. Does not block.
    bool try_acquire(int member) noexcept;
    // Does not block.
    int release(int member, bool exclusive) noexcept;

private:
    int wait(int member, bool exclusive, std::uint64_t ticket) noexcept;
    int admit_readers(int member, std::uint64_t next) noexcept;
    int admit_one(int member, bool exclusive, std::uint64_t ticket, std::uint64_t& waiter) noexcept;
    int grant(int member, std::uint64_t waiter, std::uint64_t ticket) noexcept;
    int failed_user(int member) noexcept;
    Word waiter_of(std::uint64_t ticket) const noexcept {
        return _at.waiter + Word(ticket % std::uint64_t(_words.size));
    }

    Words& _words;
    const LockWords _at;
    Progress& _progress;
    const Failures& _failures;
};

} // namespace patchbay::osc::rdma
