// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/port.h"
#include "core/log.h"
#include "core/memory/node_segment.h"

namespace patchbay::btl::sm {

// The cells that this process sends packets in. Those without a payload behind them are allocated as needed, because
// each receiver can hold only a few; the memory of all others is bounded by a limit.
class Cells {
public:
    struct Taken {
        Cell* cell = nullptr; // nullptr: none, see `code`
        SharedAddress address = 0;
        enum class Code : std::uint8_t { ok, none_free, out_of_memory } code = Code::none_free;
    };
    // Called for each cell that a receiver has returned.
    using Returned = void (*)(void* context, const Cell& cell) noexcept;

    Cells(NodeSegment& node, Port& own, std::size_t limit, Returned returned, void* context) noexcept
        : _heap(node.heap()),
          _slot(node.slot()),
          _own(own),
          _limit(limit),
          _returned(returned),
          _context(context) {}

    // Called once, before everything else: takes the cells without which no packet could ever be sent. From then on a
    // packet without a block finds a cell, or waits for one to come back (none_free). false: out of memory, which has
    // been reported.
    bool reserve() noexcept { return _own.has_cells || make_small_cells(); }
    // A cell without a block; none: take() may have one.
    Taken take_free() noexcept { return pop(0); }
    // A cell for `payload_size` bytes behind it (0: none). `beyond_limit`: memory is taken even if that exceeds the
    // limit. Out of memory has been reported.
    Taken take(std::size_t payload_size, bool beyond_limit) noexcept;
    // Takes over what receivers have returned; false: nothing.
    bool reclaim() noexcept;
    // Takes those of this process's cells back that are in the receive queue of a process that has ended.
    void recover(CellList& queue) noexcept;
    bool beyond_limit() const noexcept { return _own.taken > _limit; }

private:
    static std::size_t size_of(std::uint8_t size_class) noexcept { return sizeof(Cell) + class_room[size_class]; }
    Taken pop(std::uint8_t size_class) noexcept {
        const SharedAddress address = _own.free[size_class];
        if (address == 0) {
            return {};
        }
        auto* cell = reinterpret_cast<Cell*>(_heap.at(address));
        if (cell == nullptr) [[unlikely]] {
            return {nullptr, 0, Taken::Code::out_of_memory};
        }
        _own.free[size_class] = cell->next;
        return {cell, address, Taken::Code::ok};
    }
    Taken allocate(std::uint8_t size_class) noexcept;
    bool make_small_cells() noexcept;
    bool make_room(std::size_t bytes) noexcept;
    void keep(Cell& cell, SharedAddress address) noexcept;
    Result<SharedBlock> block(std::size_t bytes) noexcept;

    SharedHeap& _heap;
    const std::uint32_t _slot;
    Port& _own;
    const std::size_t _limit;
    const Returned _returned;
    void* const _context;
    LogOnce _no_memory; // senders try again and again
    LogOnce _unmapped;
};

} // namespace patchbay::btl::sm
