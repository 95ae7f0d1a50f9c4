// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/lock_queue.h"

#include <algorithm>
#include <iterator>

namespace patchbay::osc::pt2pt {

// Whether a request that cannot be granted now, and comes last, would wait for a process that has failed. Two shared
// locks never wait for each other. No other request stands between this one and a shared one of a failed process that
// both would have to wait for: it would have been refused.
bool LockQueue::is_lost(bool exclusive) const noexcept {
    return (_holder_failed && must_wait(exclusive)) || std::ranges::any_of(_waiting, [exclusive](const Waiter& waiter) {
        return waiter.failed && (waiter.exclusive || exclusive);
    });
}

LockQueue::Answer LockQueue::request(int rank, bool exclusive) {
    if (_waiting.empty() && !must_wait(exclusive)) {
        _holders.insert(rank);
        _exclusive = exclusive;
        return Answer::granted;
    }
    if (is_lost(exclusive)) {
        return Answer::refused;
    }
    _waiting.push_back({rank, exclusive, false});
    return Answer::waits;
}

LockQueue::Answer LockQueue::request_ahead(int rank) {
    if (!must_wait(false)) {
        _holders.insert(rank);
        _exclusive = false;
        return Answer::granted;
    }
    if (_holder_failed) {
        return Answer::refused;
    }
    const auto behind = std::ranges::find_if(_waiting, [](const Waiter& waiter) { return !waiter.ahead; });
    _waiting.insert(behind, {rank, false, true});
    return Answer::waits;
}

bool LockQueue::release(int rank, std::vector<int>* granted) {
    if (_holders.erase(rank) == 0) {
        return false;
    }
    grant(granted);
    return true;
}

void LockQueue::fail(int rank, std::vector<int>* granted, std::vector<int>* refused) {
    auto behind = _waiting.begin();
    bool exclusive = _exclusive;
    if (_holders.contains(rank)) {
        _holder_failed = true;
    } else {
        behind = std::ranges::find_if(_waiting, [rank](const Waiter& waiter) { return waiter.rank == rank; });
        if (behind == _waiting.end()) {
            return;
        }
        behind->failed = true;
        exclusive = behind->exclusive;
        ++behind;
    }
    // Of those behind it, the exclusive ones wait for it, and the shared ones unless they share the lock with it. Those
    // of processes that have failed before need no answer.
    const auto waits_for_it = [exclusive](const Waiter& waiter) { return exclusive || waiter.exclusive; };
    for (auto waiter = behind; waiter != _waiting.end(); ++waiter) {
        if (waits_for_it(*waiter) && !waiter->failed) {
            refused->push_back(waiter->rank);
        }
    }
    _waiting.erase(std::remove_if(behind, _waiting.end(), waits_for_it), _waiting.end());
    grant(granted);
}

void LockQueue::grant(std::vector<int>* granted) {
    while (!_waiting.empty() && !must_wait(_waiting.front().exclusive)) {
        const Waiter next = _waiting.front();
        if (!next.failed) {
            granted->push_back(next.rank);
        }
        _holders.insert(next.rank);
        _exclusive = next.exclusive;
        _holder_failed = _holder_failed || next.failed;
        _waiting.pop_front();
    }
}

} // namespace patchbay::osc::pt2pt
