// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/ring.h"
#include "components/btl/sm/single_copy.h"
#include "core/memory/node_segment.h"
#include "core/memory/shared_heap.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace patchbay::btl::sm {

// A packet of the receive queue. The sender allocates it in shared memory; the receiver returns it to the sender.
struct alignas(line_size) Cell {
    enum class Kind : std::uint8_t {
        packet,
        ring_opened, // the packets that follow are in the ring whose address the data is
        ring_closed, // the ring of this sender is empty, and the packets that follow are in the queue
    };
    static constexpr std::size_t room = 104; // for a header, and a payload that fits behind it

    SharedAddress next; // of the list that the cell is in
    std::uint32_t from; // slots of the segment
    std::uint32_t to;
    Kind kind;
    std::uint8_t size_class;
    std::uint8_t header_size;
    std::uint8_t unused;
    std::uint32_t payload_size;
    alignas(8) std::byte data[room];

    bool has_block() const noexcept { return size_class != 0; }
    // A cell of a larger class has its payload behind itself.
    std::byte* payload() noexcept { return has_block() ? reinterpret_cast<std::byte*>(this + 1) : data + header_size; }
};
static_assert(sizeof(Cell) == 2 * line_size && Cell::room >= 56);

// Bytes of payload that a cell of each class has behind it; class 0 has none.
inline constexpr std::array<std::uint32_t, 14> class_room = {
    0, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 20480, 24576, 32768, 49152, 65536};

inline std::uint8_t class_of(std::size_t payload_size) noexcept {
    std::uint8_t size_class = 1;
    while (class_room[size_class] < payload_size) {
        ++size_class;
    }
    return size_class;
}

// A list to which any process adds a cell by one compare-and-exchange, and from which one process takes all at once.
// A process that fails has added its cell or has not. The last one added comes first.
class CellList {
public:
    void add(Cell& cell, SharedAddress address) noexcept {
        SharedAddress first = _first.load(std::memory_order_relaxed);
        do {
            cell.next = first;
        } while (!_first.compare_exchange_weak(first, address, std::memory_order_seq_cst, std::memory_order_relaxed));
    }
    bool empty() const noexcept { return _first.load(std::memory_order_acquire) == 0; }
    SharedAddress take_all() noexcept { return _first.exchange(0, std::memory_order_acq_rel); }

private:
    std::atomic<SharedAddress> _first;
};

// What a process has in shared memory, in a region of its slot; zero-filled is valid. It outlives the library
// generation of its process.
struct Port {
    static constexpr unsigned most_rings = 32;
    struct Ring {
        SharedAddress address; // 0: none
        std::uint32_t peer;    // slot of the process at the other end
        std::uint32_t unused;
    };

    alignas(line_size) CellList arrived; // the receive queue
    alignas(line_size) CellList returned;
    std::atomic<std::uint32_t> wants_cells; // 1: ring the bell when a cell is returned
    alignas(line_size) ProbeToken token;
    std::atomic<std::uint32_t> life;    // of the library in this process, for the keys of one-sided operations
    std::atomic<std::uint32_t> inbound; // rings towards this process; senders count themselves, the process counts down

    // For the release of slots (ended_processes.cpp).
    std::atomic<std::uint64_t> pid_space;  // the pid namespace of the process; 0: not known
    std::atomic<std::uint32_t> is_emptied; // all cells that the process had left are in `arrived`
    // One bit for each slot: the process has an endpoint to the one that has the slot. After its end the others change
    // it, too.
    std::array<std::atomic<std::uint64_t>, NodeSegment::most_slots / 64> contacts;

    // Only the process itself uses the rest; it is here for the next library generation.
    alignas(line_size) SharedAddress pending; // cells that wait for delivery, in order
    SharedAddress unordered;                  // cells taken from `arrived`, the last one that was added first
    SharedAddress ordered;                    // those that were the first ones of `unordered`, the other way round
    SharedAddress reclaimed;                  // cells taken from `returned` that are not in `free` yet
    bool has_cells;                           // cells of class 0 exist
    std::uint64_t taken;                      // bytes in blocks of the heap, in use or free
    std::array<SharedAddress, class_room.size()> free;
    std::array<Ring, most_rings> in;
    std::array<Ring, most_rings> out;

    bool has_contact(std::uint32_t slot) const noexcept {
        return (contacts[slot / 64].load(std::memory_order_seq_cst) >> slot % 64 & 1) != 0;
    }
    void set_contact(std::uint32_t slot) noexcept {
        contacts[slot / 64].fetch_or(std::uint64_t(1) << slot % 64, std::memory_order_seq_cst);
    }
    void clear_contact(std::uint32_t slot) noexcept {
        contacts[slot / 64].fetch_and(~(std::uint64_t(1) << slot % 64), std::memory_order_seq_cst);
    }
};
static_assert(sizeof(Port) <= 4096);

} // namespace patchbay::btl::sm
