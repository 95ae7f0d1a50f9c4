// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/control_block.h"
#include "core/progress/progress.h"

namespace patchbay::osc::rdma {

// A barrier of all members by dissemination: in round k each one tells the member 2^k behind it that all before it have
// come. Each word has one writer and only grows, so that nothing is ever cleared, and a member that is one barrier
// ahead does no harm.
class Barrier {
public:
    Barrier(Words& words, Word arrived, Progress& progress, const Failures& failures) noexcept
        : _words(words),
          _arrived(arrived),
          _progress(progress),
          _failures(failures) {}

    // Blocks until all members have called it as often as this one. MPI_ERR_PROC_ABORTED: one has failed, which never
    // comes; no later call succeeds then.
    int wait() noexcept;

private:
    Words& _words;
    const Word _arrived;
    Progress& _progress;
    const Failures& _failures;
    std::uint64_t _times = 0; // that this process has begun one
};

} // namespace patchbay::osc::rdma
