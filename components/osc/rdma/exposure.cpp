// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/exposure.h"

#include "components/osc/rdma/await.h"
#include "components/osc/rdma/errors.h"

#include <algorithm>

namespace patchbay::osc::rdma {

Exposure::Exposure(Words& words, Word posted, Word completed, Progress& progress, const Failures& failures)
    : _words(words),
      _posted(posted),
      _completed(completed),
      _progress(progress),
      _failures(failures),
      _counts(new Counts[std::size_t(words.size)]()) {}

int Exposure::post(std::span<const int> origins, bool tell) noexcept {
    int result = MPI_SUCCESS;
    for (const int origin : origins) {
        Counts& counts = _counts[std::size_t(origin)];
        ++counts.exposed;
        if (!tell) {
            continue;
        }
        const int code = _words.set_and_wake(origin, _posted + Word(_words.rank), ++counts.posted);
        // A failed origin is an error of MPI_Win_wait: the others have been told.
        result = result == MPI_SUCCESS && code != MPI_ERR_PROC_ABORTED ? code : result;
    }
    return result;
}

// Waits for one member after the other: the order does not matter, because all of them must come. One that has failed
// ends the wait, also where others are missing: they may wait for it, too.
template <class Reached>
int Exposure::wait_for_each(std::span<const int> members, const Reached& reached) noexcept {
    for (; !members.empty(); members = members.subspan(1)) {
        const auto is_there = [&] { return reached(members.front()); };
        std::uint32_t seen = 0;
        while (!is_there()) {
            await(_progress, [&] { return is_there() || _failures.count() != seen; });
            seen = _failures.count();
            const auto failed = std::ranges::find_if(
                members, [&](int member) { return _failures.has_failed(member) && !reached(member); });
            if (failed != members.end()) {
                return report_failed_member(*failed);
            }
        }
    }
    return MPI_SUCCESS;
}

int Exposure::start(std::span<const int> targets, bool wait) noexcept {
    if (!wait) {
        return MPI_SUCCESS;
    }
    for (const int target : targets) {
        ++_counts[std::size_t(target)].started;
    }
    return wait_for_each(targets, [this](int target) {
        return _words.own(_posted + Word(target)).load(std::memory_order_acquire) >=
            _counts[std::size_t(target)].started;
    });
}

int Exposure::complete(std::span<const int> targets) noexcept {
    int result = MPI_SUCCESS;
    for (const int target : targets) {
        const int code =
            _words.set_and_wake(target, _completed + Word(_words.rank), ++_counts[std::size_t(target)].completed);
        result = result == MPI_SUCCESS ? code : result;
    }
    return result;
}

int Exposure::wait(std::span<const int> origins) noexcept {
    return wait_for_each(origins, [this](int origin) {
        return _words.own(_completed + Word(origin)).load(std::memory_order_acquire) >=
            _counts[std::size_t(origin)].exposed;
    });
}

int Exposure::test(std::span<const int> origins, bool* done) noexcept {
    *done = true;
    for (const int origin : origins) {
        if (_words.own(_completed + Word(origin)).load(std::memory_order_acquire) <
            _counts[std::size_t(origin)].exposed) {
            if (_failures.has_failed(origin)) {
                *done = true; // the epoch ends, as in wait()
                return report_failed_member(origin);
            }
            *done = false;
        }
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::rdma
