// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/index_table.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace patchbay::cid {

// calloc of this size is fresh zero pages, none of which is touched yet; an atomic pointer of all zero bits is null.
IndexTable::IndexTable() : _taken(predefined, true), _slots(static_cast<Slot*>(std::calloc(capacity, sizeof(Slot)))) {
    static_assert(sizeof(Slot) == sizeof(Communicator*) && Slot::is_always_lock_free);
    if (_slots == nullptr) {
        throw std::bad_alloc();
    }
}

IndexTable::~IndexTable() {
    std::free(static_cast<void*>(_slots));
}

void IndexTable::set_limit(std::uint32_t highest) {
    std::lock_guard lock(_mutex);
    _limit = std::min(highest, capacity - 1);
}

std::optional<std::uint32_t> IndexTable::reserve_lowest(std::uint32_t from) {
    std::lock_guard lock(_mutex);
    std::uint32_t index = std::max(from, _lowest_free);
    while (index < _taken.size() && _taken[index]) {
        ++index;
    }
    if (index > _limit) {
        return std::nullopt;
    }
    if (index >= _taken.size()) {
        _taken.resize(index + 1, false);
    }
    _taken[index] = true;
    if (from <= _lowest_free) {
        _lowest_free = index + 1;
    }
    ++_live;
    return index;
}

bool IndexTable::reserve(std::uint32_t index) {
    std::lock_guard lock(_mutex);
    if (index > _limit || (index < _taken.size() && _taken[index])) {
        return false;
    }
    if (index >= _taken.size()) {
        _taken.resize(index + 1, false);
    }
    _taken[index] = true;
    ++_live;
    return true;
}

void IndexTable::release(std::uint32_t index) {
    std::lock_guard lock(_mutex);
    _slots[index].store(nullptr, std::memory_order_release);
    _taken[index] = false;
    _lowest_free = std::min(_lowest_free, index);
    --_live;
}

void IndexTable::bind(std::uint32_t index, Communicator* comm) {
    _slots[index].store(comm, std::memory_order_release);
}

std::uint32_t IndexTable::live() const {
    std::lock_guard lock(_mutex);
    return _live;
}

std::vector<Communicator*> IndexTable::all() const {
    std::lock_guard lock(_mutex);
    std::vector<Communicator*> bound;
    for (std::size_t index = 0; index < _taken.size(); ++index) {
        if (Communicator* comm = find(std::uint16_t(index)); comm != nullptr) {
            bound.push_back(comm);
        }
    }
    return bound;
}

} // namespace patchbay::cid
