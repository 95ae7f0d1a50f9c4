// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/lock_queue.h"

#include <algorithm>

namespace patchbay::osc::pt2pt {

bool LockQueue::request(int rank, bool exclusive) {
    if (!_waiting.empty() || (!_holders.empty() && (_exclusive || exclusive))) {
        _waiting.push_back({rank, exclusive, false});
        return false;
    }
    _holders.insert(rank);
    _exclusive = exclusive;
    return true;
}

bool LockQueue::request_ahead(int rank) {
    if (!_holders.empty() && _exclusive) {
        const auto behind = std::ranges::find_if(_waiting, [](const Waiter& waiter) { return !waiter.ahead; });
        _waiting.insert(behind, {rank, false, true});
        return false;
    }
    _holders.insert(rank);
    _exclusive = false;
    return true;
}

bool LockQueue::release(int rank, std::vector<int>* granted) {
    if (_holders.erase(rank) == 0) {
        return false;
    }
    grant(granted);
    return true;
}

void LockQueue::remove(int rank, std::vector<int>* granted) {
    _holders.erase(rank);
    std::erase_if(_waiting, [rank](const Waiter& waiter) { return waiter.rank == rank; });
    grant(granted);
}

void LockQueue::grant(std::vector<int>* granted) {
    while (!_waiting.empty() && (_holders.empty() || !(_exclusive || _waiting.front().exclusive))) {
        const Waiter next = _waiting.front();
        granted->push_back(next.rank);
        _holders.insert(next.rank);
        _exclusive = next.exclusive;
        _waiting.pop_front();
    }
}

} // namespace patchbay::osc::pt2pt
