// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/cells.h"

#include "core/base/out_of_memory.h"
#include "core/log.h"

#include <fmt/core.h>

namespace patchbay::btl::sm {

namespace {
constexpr std::size_t page = 4096;
}

Cells::Taken Cells::take(std::size_t payload_size, bool beyond_limit) noexcept {
    const std::uint8_t size_class = payload_size == 0 ? 0 : class_of(payload_size);
    if (Taken taken = pop(size_class); taken.cell != nullptr) [[likely]] {
        return taken;
    }
    if (reclaim()) {
        if (Taken taken = pop(size_class); taken.cell != nullptr) {
            return taken;
        }
    }
    if (size_class == 0) {
        // Without memory for more: each receiver returns those that it has, so that the packet can be sent later.
        return make_small_cells() ? pop(0) : Taken{};
    }
    if (!beyond_limit && !make_room(size_of(size_class))) {
        return {};
    }
    return allocate(size_class);
}

Result<SharedBlock> Cells::block(std::size_t bytes) noexcept {
    return unless_out_of_memory(Result<SharedBlock>(Error{Errc::out_of_memory, {}}), [&] {
        Result<SharedBlock> block = _heap.alloc(bytes, _slot);
        if (!block) {
            _no_memory.error(fmt::format("btl/sm: no shared memory for packets: {}", block.error().text));
        }
        return block;
    });
}

Cells::Taken Cells::allocate(std::uint8_t size_class) noexcept {
    Result<SharedBlock> made = block(size_of(size_class));
    if (!made) {
        return {nullptr, 0, Taken::Code::out_of_memory};
    }
    auto* cell = reinterpret_cast<Cell*>(made->bytes.data());
    cell->size_class = size_class;
    _own.taken += size_of(size_class);
    return {cell, made->address, Taken::Code::ok};
}

bool Cells::make_small_cells() noexcept {
    Result<SharedBlock> made = block(page);
    if (!made) {
        return false;
    }
    for (std::size_t at = page; at > 0;) {
        at -= sizeof(Cell);
        auto* cell = reinterpret_cast<Cell*>(made->bytes.data() + at);
        cell->size_class = 0;
        keep(*cell, made->address + at);
    }
    _own.has_cells = true;
    return true;
}

// Free blocks of other sizes give way. false: what is in use leaves no room.
bool Cells::make_room(std::size_t bytes) noexcept {
    for (std::size_t size_class = class_room.size(); --size_class > 0;) {
        while (_own.taken + bytes > _limit && _own.free[size_class] != 0) {
            const Taken free = pop(std::uint8_t(size_class));
            if (free.cell == nullptr) {
                return false;
            }
            _heap.free(free.address);
            _own.taken -= size_of(std::uint8_t(size_class));
        }
    }
    return _own.taken + bytes <= _limit;
}

void Cells::keep(Cell& cell, SharedAddress address) noexcept {
    if (cell.has_block() && _own.taken > _limit) {
        _own.taken -= size_of(cell.size_class);
        _heap.free(address);
        return;
    }
    cell.next = _own.free[cell.size_class];
    _own.free[cell.size_class] = address;
}

// This process allocated the cells, and has had them mapped in this or an earlier generation. Those that cannot be
// mapped now remain in the list for a later call.
bool Cells::reclaim() noexcept {
    if (_own.reclaimed == 0) [[likely]] {
        if (_own.returned.empty()) {
            return false;
        }
        _own.reclaimed = _own.returned.take_all();
    }
    bool any = false;
    while (_own.reclaimed != 0) {
        const SharedAddress address = _own.reclaimed;
        auto* cell = reinterpret_cast<Cell*>(_heap.at(address));
        if (cell == nullptr) {
            _unmapped.error(
                "btl/sm: cells that were returned cannot be mapped; raise the address space limit (ulimit -v)");
            break;
        }
        _own.reclaimed = cell->next;
        _returned(_context, *cell);
        keep(*cell, address);
        any = true;
    }
    return any;
}

void Cells::recover(CellList& queue) noexcept {
    for (SharedAddress rest = queue.take_all(); rest != 0;) {
        const SharedAddress address = rest;
        auto* cell = reinterpret_cast<Cell*>(_heap.at(address));
        if (cell == nullptr) {
            return; // no address space: its sender does without this one and those behind it
        }
        rest = cell->next;
        if (cell->from == _slot) {
            keep(*cell, address);
        } else {
            queue.add(*cell, address);
        }
    }
}

} // namespace patchbay::btl::sm
