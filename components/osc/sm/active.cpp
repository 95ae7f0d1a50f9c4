// SPDX-License-Identifier: BSD-3-Clause
// Active target: fences, and the epochs of MPI_Win_post and MPI_Win_start.
#include "components/osc/sm/module.h"

#include <algorithm>

namespace patchbay::osc::sm {

// The words of the barriers order the loads and stores before the fence with those behind it.
int Sm::fence(int) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return size() == 1 ? MPI_SUCCESS : _central ? central_barrier() : dissemination_barrier();
}

// In round k, each member waits for the one that is 2^k ranks before it. With two members that is one round, in which
// each reads one cache line that the other one has written.
int Sm::dissemination_barrier() noexcept {
    const std::uint32_t members = size();
    for (std::uint32_t distance = 1; distance < members; distance *= 2) {
        const std::uint64_t round = ++_barrier_rounds;
        own().arrived.store(round, std::memory_order_release);
        _peers[(rank() + distance) % members].bell->notify();
        const Control& before = *_peers[(rank() + members - distance) % members].control;
        const int code = _waits.until(
            [&] { return before.arrived.load(std::memory_order_acquire) >= round; }, [&] { return any_has_ended(); });
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return MPI_SUCCESS;
}

// All count themselves in one word, and the last one wakes the others. Each process has to run once to arrive and once
// to leave, while in the rounds of the other barrier a process that shares its core may have to wait for it repeatedly.
int Sm::central_barrier() noexcept {
    Control& center = *_peers[0].control;
    const std::uint64_t number = ++_barriers;
    const std::uint64_t arrived = center.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (arrived < number * size()) {
        return _waits.until(
            [&] { return center.released.load(std::memory_order_acquire) >= number; }, [&] { return any_has_ended(); });
    }
    center.released.store(number, std::memory_order_release);
    for (const Peer& peer : _peers) {
        peer.bell->notify();
    }
    return MPI_SUCCESS;
}

int Sm::post(std::span<const int> origins, int) noexcept {
    _origins.assign(origins.begin(), origins.end()); // has room for all members
    _completed = 0;
    for (const int origin : origins) {
        ++peer(origin).exposures;
        Control::Word& posts = peer(origin).control->posts(size())[rank()];
        posts.store(posts.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        peer(origin).bell->notify();
    }
    return MPI_SUCCESS;
}

// The counts go on where a wait ends because a process has failed: what the others do later for that epoch must not be
// taken for the next one.
bool Sm::has_posted(int target) noexcept {
    const std::uint32_t posts = own().posts(size())[target].load(std::memory_order_acquire);
    return std::int32_t(posts - peer(target).starts) >= 0;
}

bool Sm::has_completed(int origin) noexcept {
    const std::uint32_t completions = own().completions(size())[origin].load(std::memory_order_acquire);
    return std::int32_t(completions - peer(origin).exposures) >= 0;
}

// A target that has failed ends the wait for all: the others may wait for it, too.
int Sm::start(std::span<const int> targets, int) noexcept {
    _targets.assign(targets.begin(), targets.end());
    for (const int target : targets) {
        ++peer(target).starts;
    }
    for (; !targets.empty(); targets = targets.subspan(1)) {
        const auto target_has_ended = [&] { // which may have posted before
            return std::ranges::any_of(
                targets, [this](int target) { return has_ended(target) && !has_posted(target); });
        };
        const int code = _waits.until([&] { return has_posted(targets.front()); }, target_has_ended);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return MPI_SUCCESS;
}

int Sm::complete() noexcept {
    for (const int target : _targets) {
        Control::Word& completions = peer(target).control->completions(size())[rank()];
        completions.store(completions.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        peer(target).bell->notify();
    }
    _targets.clear();
    return MPI_SUCCESS;
}

bool Sm::all_complete() noexcept {
    while (_completed < _origins.size() && has_completed(_origins[_completed])) {
        ++_completed;
    }
    return _completed == _origins.size();
}

// Whether an origin has failed without MPI_Win_complete. The others may wait for it, too.
bool Sm::origin_has_ended() noexcept {
    return std::any_of(_origins.begin() + std::ptrdiff_t(_completed), _origins.end(),
        [this](int origin) { return has_ended(origin) && !has_completed(origin); });
}

int Sm::end_exposure(int code) noexcept {
    _origins.clear();
    _completed = 0;
    return code;
}

int Sm::wait() noexcept {
    return end_exposure(_waits.until([&] { return all_complete(); }, [&] { return origin_has_ended(); }));
}

int Sm::test(bool* done) noexcept {
    *done = all_complete();
    if (!*done) {
        _progress.poll();
        *done = all_complete();
    }
    if (*done) {
        return end_exposure(MPI_SUCCESS);
    }
    constexpr std::uint32_t tests_for_a_look = 1024;
    if (++_tests % tests_for_a_look == 0 && origin_has_ended()) {
        *done = true;
        return end_exposure(report_ended());
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::sm
