// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/index_table.h"

#include "core/base/format_into.h"
#include "include/mpi.h"
#include "object/error_cause.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace patchbay::cid {

IndexTable::IndexTable()
    : _lock(true) {
    allocate();
}

IndexTable::IndexTable(ThreadLevelUpgrade& threads)
    : _lock(threads) {
    allocate();
}

// calloc of this size is fresh zero pages, none of which is touched yet; an atomic pointer of all zero bits is null.
void IndexTable::allocate() {
    static_assert(sizeof(Slot) == sizeof(Communicator*) && Slot::is_always_lock_free);
    _taken.reserve(capacity / word_bits); // so that no index fails for want of memory
    _taken.assign(1, (Word(1) << predefined) - 1);
    _slots = static_cast<Slot*>(std::calloc(capacity, sizeof(Slot)));
    if (_slots == nullptr) {
        throw std::bad_alloc();
    }
}

IndexTable::~IndexTable() {
    std::free(static_cast<void*>(_slots));
}

void IndexTable::set_limit(std::uint32_t highest) {
    std::lock_guard hold(_lock);
    _limit = std::min(highest, capacity - 1);
}

bool IndexTable::is_taken(std::uint32_t index) const noexcept {
    const std::uint32_t word = index / word_bits;
    return word < _taken.size() && (_taken[word] >> index % word_bits & 1u) != 0;
}

void IndexTable::take(std::uint32_t index) {
    const std::uint32_t word = index / word_bits;
    if (word >= _taken.size()) {
        _taken.resize(word + 1, 0);
    }
    _taken[word] |= Word(1) << index % word_bits;
    ++_live;
}

std::uint32_t IndexTable::beyond_offers(std::uint32_t index) const noexcept {
    for (std::size_t checked = 0; checked < most_offers;) {
        const Offer& offer = _offers[checked];
        const bool within = index >= offer.from && index < offer.to;
        index = within ? offer.to : index;
        checked = within ? 0 : checked + 1;
    }
    return index;
}

std::optional<std::uint32_t> IndexTable::reserve_lowest(std::uint32_t from) {
    std::lock_guard hold(_lock);
    std::uint32_t index = std::max(from, _lowest_free);
    bool skipped = from > _lowest_free;
    for (;;) {
        if (const std::uint32_t beyond = beyond_offers(index); beyond != index) {
            index = beyond;
            skipped = true;
        }
        const std::uint32_t word = index / word_bits;
        if (word >= _taken.size()) {
            break;
        }
        const Word free = ~_taken[word] >> index % word_bits;
        if (free == 0) {
            index = (word + 1) * word_bits;
            continue;
        }
        index += std::uint32_t(std::countr_zero(free));
        if (beyond_offers(index) == index) {
            break;
        }
    }
    if (index > _limit) {
        return std::nullopt;
    }
    take(index);
    if (!skipped) {
        _lowest_free = index + 1;
    }
    return index;
}

bool IndexTable::reserve(std::uint32_t index) {
    std::lock_guard hold(_lock);
    if (index > _limit || is_taken(index) || beyond_offers(index) != index) {
        return false;
    }
    take(index);
    return true;
}

void IndexTable::release(std::uint32_t index) {
    std::lock_guard hold(_lock);
    _slots[index].store(nullptr, std::memory_order_release);
    _taken[index / word_bits] &= ~(Word(1) << index % word_bits);
    _lowest_free = std::min(_lowest_free, index);
    --_live;
}

void IndexTable::offer(std::size_t number, std::uint32_t from, std::span<std::uint64_t> mask) {
    std::lock_guard hold(_lock);
    for (std::size_t i = 0; i < mask.size(); ++i) {
        const std::size_t word = from / word_bits + i;
        mask[i] = word < _taken.size() ? ~_taken[word] : ~Word(0);
        const std::uint64_t first = word * word_bits;
        if (first > _limit) {
            mask[i] = 0;
        } else if (_limit - first < word_bits - 1) {
            mask[i] &= (Word(2) << (_limit - first)) - 1;
        }
    }
    _offers[number] = {from, from + std::uint32_t(mask.size()) * word_bits};
}

void IndexTable::withdraw_offer(std::size_t number, std::optional<std::uint32_t> taken) {
    std::lock_guard hold(_lock);
    _offers[number] = {};
    if (taken) {
        take(*taken);
    }
}

void IndexTable::bind(std::uint32_t index, Communicator* comm) {
    _slots[index].store(comm, std::memory_order_release);
}

std::uint32_t IndexTable::live() const {
    std::lock_guard hold(_lock);
    return _live;
}

bool IndexTable::has_free(std::uint32_t indices) const {
    std::lock_guard hold(_lock);
    return _live + indices <= _limit + 1;
}

int IndexTable::none_common(const char* component) noexcept {
    std::uint32_t room = 0;
    std::uint32_t used = 0;
    {
        std::lock_guard hold(_lock);
        room = _limit + 1;
        used = _live;
    }
    std::array<char, MPI_MAX_ERROR_STRING> text;
    return note_cause(MPI_ERR_NO_SPACE,
        format_into(text,
            "{}: no index is free in all members of a communicator to be made (this process uses {} of its {}); free "
            "communicators that are not needed any more, or let cid/excid name them (--mca cid excid), which needs no "
            "common index",
            component, used, room));
}

// With the lock held.
template <class Act>
void IndexTable::for_each_bound(const Act& act) const {
    for (std::size_t index = 0; index < _taken.size() * word_bits; ++index) {
        if (Communicator* comm = find(std::uint16_t(index)); comm != nullptr) {
            act(*comm);
        }
    }
}

std::vector<Communicator*> IndexTable::all() const {
    std::lock_guard hold(_lock);
    std::vector<Communicator*> bound;
    for_each_bound([&bound](Communicator& comm) { bound.push_back(&comm); });
    return bound;
}

void IndexTable::for_each(const std::function<void(const Communicator&)>& act) const {
    std::lock_guard hold(_lock);
    for_each_bound(act);
}

} // namespace patchbay::cid
