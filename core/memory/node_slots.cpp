// SPDX-License-Identifier: BSD-3-Clause
// The slots of a node segment: which process has which.
#include "core/memory/node_header.h"
#include "core/memory/node_segment.h"

#include <algorithm>
#include <unistd.h>

namespace patchbay {

Status NodeSegment::take_slot() {
    Result<std::uint32_t> slot = slot_of(_self);
    if (!slot) {
        return slot.error();
    }
    _slot = *slot;
    _own = &control(_slot);
    _own->unfenced.store(register_all_cores_barrier() ? 0 : 1, std::memory_order_relaxed);
    _own->pid.store(getpid(), std::memory_order_seq_cst);
    _own->attached.store(1, std::memory_order_release);
    return {};
}

std::uint32_t NodeSegment::slots() const noexcept {
    return _header->slots.load(std::memory_order_acquire);
}

Result<std::uint32_t> NodeSegment::slot_of(SlotKey process) {
    RobustHold hold(_header->mutex);
    const std::uint32_t count = slots();
    std::uint32_t chosen = count;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
        Result<RankControl*> known = table_for(slot);
        if (!known) {
            return known.error();
        }
        if ((*known)->allotted.load(std::memory_order_relaxed) == 0) {
            chosen = std::min(chosen, slot);
        } else if ((*known)->key == process) {
            return slot;
        }
    }
    Result<RankControl*> place = table_for(chosen);
    if (!place) {
        return place.error();
    }
    (*place)->key = process;
    if (chosen == count) {
        _header->slots.store(count + 1, std::memory_order_release); // not allotted yet, so that a failure costs nothing
    }
    (*place)->allotted.store(1, std::memory_order_release);
    return chosen;
}

// The place of a slot, whose table is made if it does not exist. Under the lock.
Result<RankControl*> NodeSegment::table_for(std::uint32_t slot) {
    const std::uint32_t number = slot / slots_per_table;
    if (RankControl* known = find_control(slot)) {
        return known;
    }
    if (number == most_tables) {
        return Error{Errc::out_of_memory,
            "node segment: no more than " + std::to_string(most_tables * slots_per_table) +
                " processes of a node can attach; release the slots of those that have ended"};
    }
    SharedAddress address = _header->tables[number].load(std::memory_order_acquire);
    if (address == 0) {
        Result<SharedBlock> made = _heap->alloc(slots_per_table * sizeof(RankControl), no_slot);
        if (!made) {
            return made.error();
        }
        address = made->address;
        _header->tables[number].store(address, std::memory_order_release);
    }
    Result<std::byte*> mapped = _heap->map_block(address);
    if (!mapped) {
        return mapped.error();
    }
    _tables[number].store(reinterpret_cast<RankControl*>(*mapped), std::memory_order_release);
    return &control(slot);
}

RankControl* NodeSegment::find_control(std::uint32_t slot) noexcept {
    const std::uint32_t number = slot / slots_per_table;
    if (number >= most_tables) {
        return nullptr;
    }
    if (_tables[number].load(std::memory_order_acquire) == nullptr) {
        const SharedAddress address = _header->tables[number].load(std::memory_order_acquire);
        std::byte* table = address == 0 ? nullptr : _heap->at(address);
        if (table == nullptr) {
            return nullptr;
        }
        _tables[number].store(reinterpret_cast<RankControl*>(table), std::memory_order_release);
    }
    return &control(slot);
}

void NodeSegment::release(std::uint32_t slot) noexcept {
    RobustHold hold(_header->mutex);
    RankControl* released = find_control(slot);
    if (released != nullptr && released->allotted.load(std::memory_order_relaxed) != 0) {
        release_locked(slot, *released);
    }
}

// A process that got the slot from slot_of() before, and notes that it uses it, sees afterwards that the slot is not
// allotted, or its note is seen here.
bool NodeSegment::release_if(std::uint32_t slot, const SlotKey& of, const std::function<bool()>& is_unused) noexcept {
    RobustHold hold(_header->mutex);
    RankControl* released = find_control(slot);
    if (released == nullptr || released->allotted.load(std::memory_order_relaxed) == 0 || released->key != of) {
        return false;
    }
    released->allotted.store(0, std::memory_order_seq_cst);
    if (!is_unused()) {
        released->allotted.store(1, std::memory_order_release);
        return false;
    }
    release_locked(slot, *released);
    return true;
}

void NodeSegment::release_locked(std::uint32_t slot, RankControl& released) noexcept {
    for (auto& chain : _header->names) {
        std::atomic<SharedAddress>* link = &chain;
        while (Name* record = name_at(link->load(std::memory_order_relaxed))) {
            if (record->of == slot) {
                unlink(*link);
            } else {
                link = &record->next;
            }
        }
    }
    _heap->free_all_of(slot);
    released.bell.cancel();
    released.attached.store(0, std::memory_order_relaxed);
    released.unfenced.store(0, std::memory_order_relaxed);
    released.pid.store(0, std::memory_order_relaxed);
    released.allotted.store(0, std::memory_order_release);
}

bool NodeSegment::all_fenced() noexcept {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
        const RankControl* control = find_control(slot);
        if (control != nullptr && control->attached.load(std::memory_order_acquire) != 0 &&
            control->unfenced.load(std::memory_order_relaxed) != 0) {
            return false;
        }
    }
    return true;
}

std::uint32_t NodeSegment::arrived() noexcept {
    std::uint32_t arrived = 0;
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
        const RankControl* control = find_control(slot);
        arrived += control != nullptr && control->pid.load(std::memory_order_seq_cst) != 0;
    }
    return arrived;
}

} // namespace patchbay
