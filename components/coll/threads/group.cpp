// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/group.h"

namespace patchbay::coll::threads {

void Place::show(bool awaited) noexcept {
    slot_of(_rank).step.store(_step, std::memory_order_release);
    if (_size == 2) {
        _team->wake(1 - _rank);
        return;
    }
    Group::Step& step = _group->steps[_step % Group::depth];
    const bool last = step.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == _size;
    if (last) {
        step.arrived.store(0, std::memory_order_relaxed); // the next one comes when it knows that this step is complete
        step.complete.store(_step, std::memory_order_release);
    }
    // A member that waits for the end of the step is woken once, by the last one.
    if (last || awaited) {
        wake_others();
    }
}

void Place::wake_others() noexcept {
    for (int rank = 0; rank < _size; ++rank) {
        if (rank != _rank) {
            _team->wake(rank);
        }
    }
}

} // namespace patchbay::coll::threads
