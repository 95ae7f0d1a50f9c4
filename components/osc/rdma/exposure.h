// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/control_block.h"
#include "core/progress/progress.h"

#include <memory>
#include <span>
#include <vector>

namespace patchbay::osc::rdma {

// MPI_Win_post, start, complete and wait: two words for each pair of an origin and a target count how often the target
// has posted for the origin, and how often the origin has completed for the target. Each word has one writer. Groups
// may overlap in any way, because no word counts for two pairs.
class Exposure {
public:
    Exposure(Words& words, Word posted, Word completed, Progress& progress, const Failures& failures);

    // As osc::Module. The caller has noted the groups: see `origins` and `targets` below.
    int post(std::span<const int> origins, bool tell) noexcept;
    // Blocks until all targets have posted; `wait`: false with MPI_MODE_NOCHECK.
    int start(std::span<const int> targets, bool wait) noexcept;
    int complete(std::span<const int> targets) noexcept;
    // Of the last post().
    int wait(std::span<const int> origins) noexcept;
    // Whether all have completed. An error: an origin has failed that has not.
    int test(std::span<const int> origins, bool* done) noexcept;

private:
    struct Counts {
        std::uint64_t posted = 0;    // by this process for that member
        std::uint64_t started = 0;   // by this process, with that member as a target
        std::uint64_t completed = 0; // likewise
        std::uint64_t exposed = 0;   // times that this process exposed its memory to that member
    };
    template <class Reached>
    int wait_for_each(std::span<const int> members, const Reached& reached) noexcept;

    Words& _words;
    const Word _posted;
    const Word _completed;
    Progress& _progress;
    const Failures& _failures;
    std::unique_ptr<Counts[]> _counts;
};

} // namespace patchbay::osc::rdma
