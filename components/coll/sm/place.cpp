// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/sm/place.h"

#include "components/common/process_end.h"

#include <algorithm>

namespace patchbay::coll::sm {

void leave_area(NodeSegment& segment, SharedAddress address, Area& area) noexcept {
    if (area.users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        segment.heap().free(address);
    }
}

Place::~Place() {
    _area.members()[_rank].done.store(Member::left, std::memory_order_release);
    wake_others();
    leave_area(_segment, _address, _area);
}

void Place::publish(std::uint64_t step) noexcept {
    _area.members()[_rank].done.store(step, std::memory_order_release);
    _published = step;
    wake_others();
}

bool Place::look_for_room() noexcept {
    std::uint64_t least = _step - 1; // this member's, which the others may be ahead of
    for (std::uint32_t rank = 0; rank < _size; ++rank) {
        if (rank != _rank) {
            least = std::min(least, _area.members()[rank].done.load(std::memory_order_acquire));
        }
    }
    _all_done = std::max(_all_done, least); // a join says more than what its members have published
    if (!has_room()) {
        return false;
    }
    note_end();
    return true;
}

int Place::take_ring() noexcept {
    if (!_segment.heap().commit(_address, Area::ring_offset(_size, _rank), Area::ring_bytes)) {
        return MPI_ERR_NO_MEM;
    }
    _ring = _area.ring(_size, _rank);
    return MPI_SUCCESS;
}

bool Place::look_for_failures() noexcept {
    _failed = _area.broken.load(std::memory_order_acquire) != 0;
    for (std::uint32_t rank = 0; rank < _size && !_failed; ++rank) {
        // One that has left the memory has contributed all that the others wait for, and may end.
        _failed = process_has_ended(_peers[rank].pid) &&
            _area.members()[rank].done.load(std::memory_order_acquire) != Member::left;
    }
    if (_failed) {
        _area.broken.store(1, std::memory_order_release);
    }
    return _failed;
}

} // namespace patchbay::coll::sm
