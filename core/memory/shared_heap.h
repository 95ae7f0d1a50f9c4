// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/memory/robust_mutex.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace [[gnu::visibility("default")]] patchbay {

// The place of a byte in the memory of a node segment, the same in every process: the number of a chunk in the upper 16
// bits, the offset in the chunk below. 0 is no place.
using SharedAddress = std::uint64_t;

// A block of the heap: where it is for all processes, and where this one has it mapped.
struct SharedBlock {
    SharedAddress address = 0;
    std::span<std::byte> bytes;
};

// What a test wants to know about the steps of the allocator: it ends the process at each of them in turn.
struct HeapProbe {
    void (*reached)(void* context, const char* step) = nullptr;
    void* context = nullptr;
};

// Memory that this process can do without, for a heap that finds none. `free_some` is called without the lock by an
// allocation or a commit of this process; true: it has freed blocks, and the heap tries once more.
struct HeapReclaim {
    bool (*free_some)(void* context) noexcept = nullptr;
    void* context = nullptr;
};

// Blocks in memory that processes share, allocated and freed by any of them. The heap grows by chunks of its file; a
// process maps a chunk when it first touches it. Thread-safe.
//
// A process may die in any instruction: every change of the heap is published by one store, so that the heap is whole
// without repair, and what the failed process had not published does not exist. Blocks that it had allocated remain,
// with the number of their owner, until a process calls free_all_of().
class SharedHeap {
public:
    static constexpr std::size_t granule = 512;
    static constexpr std::uint32_t no_owner = 0x7ffe;
    static constexpr unsigned most_chunks = 512;
    // A block of at least this size gets a chunk of its own, which begins at a multiple of huge_page in the file and in
    // every process.
    static constexpr std::size_t large = std::size_t(512) << 10;
    static constexpr std::size_t huge_page = std::size_t(2) << 20;

    struct Chunk {
        std::uint64_t offset; // in the file
        std::uint64_t bytes;
        std::atomic<std::uint64_t> single; // of a chunk that is one block: its run; unused otherwise
        std::uint32_t granules;            // 0: the chunk is one block
        std::uint32_t first_free;          // no run before this one is free
        std::uint32_t longest_free;        // no free run is longer, in granules
        std::uint32_t unused;
    };
    // The shared part, at the start of the file; zero-filled but for what make() writes.
    struct Table {
        RobustMutex mutex;
        std::atomic<std::uint32_t> chunks; // that are complete
        Chunk chunk[most_chunks];
    };
    struct Usage {
        std::size_t blocks = 0;
        std::size_t bytes = 0;  // in blocks, rounded up to granules
        std::size_t chunks = 0; // with the start
    };

    // `fd`: the file, which must remain open; -1: private memory of this process. `start`: its first bytes, which are
    // mapped already and contain the table; they are chunk 0, from which nothing is allocated.
    SharedHeap(int fd, std::byte* start, Table& table) noexcept;
    ~SharedHeap();
    SharedHeap(const SharedHeap&) = delete;
    SharedHeap& operator=(const SharedHeap&) = delete;

    // By one process, before all others use the table.
    static Status make(Table& table, std::size_t start_bytes);

    enum class Backing : std::uint8_t {
        taken,  // memory is taken for the whole block: touching it cannot raise SIGBUS
        sparse, // only address space; commit() takes memory. The block consists of whole pages.
    };
    // A block of zeros, aligned to `granule`, and to the page where it is sparse. `owner`: the slot of the process
    // whose end also is the block's, or no_owner. Errc::out_of_memory names size, need and remedy.
    Result<SharedBlock> alloc(std::size_t bytes, std::uint32_t owner, Backing backing = Backing::taken);
    // `address` is that of a block; by any process.
    void free(SharedAddress address) noexcept;
    // Frees the blocks of an owner that does not exist any more. No process may use them any more.
    void free_all_of(std::uint32_t owner) noexcept;
    // Takes memory for [offset, offset + length) of a sparse block; pages that have it already keep their contents.
    Status commit(SharedAddress block, std::size_t offset, std::size_t length);

    // Where this process has that place mapped; nullptr: it cannot be mapped (the address space is used up).
    std::byte* at(SharedAddress address) noexcept {
        const std::size_t chunk = address >> offset_bits;
        std::byte* base = _mapped[chunk].load(std::memory_order_acquire);
        if (base == nullptr) [[unlikely]] {
            base = map(chunk);
        }
        return base == nullptr ? nullptr : base + offset_in(address);
    }
    // The same with the reason.
    Result<std::byte*> map_block(SharedAddress address);

    // The place of [memory, memory + bytes) for all processes; 0: it is not, as a whole, in one chunk that this process
    // has mapped.
    SharedAddress address_of_memory(const void* memory, std::size_t bytes) const noexcept;

    // The chunk of this block remains mapped in this process when the heap goes: the program uses the block still.
    void leave_mapped(SharedAddress block) noexcept {
        _mapped[block >> offset_bits].store(nullptr, std::memory_order_release);
    }
    // How many chunks there are, of at most most_chunks.
    std::size_t chunks() const noexcept { return _table.chunks.load(std::memory_order_acquire); }

    Usage usage() noexcept;
    // While no other thread uses this object.
    void set_reclaim(const HeapReclaim& reclaim) noexcept { _reclaim = reclaim; }
    void set_probe(const HeapProbe& probe) noexcept { _probe = probe; }

private:
    using Run = std::atomic<std::uint64_t>;
    struct Found {
        std::uint32_t chunk;
        std::uint32_t run;
        std::uint32_t start; // of the block in the run, which its alignment may put behind the run's
    };
    static constexpr unsigned offset_bits = 48;
    static constexpr std::size_t most_block = std::size_t(1) << 47; // more than a process can map
    static constexpr SharedAddress address_of(std::size_t chunk, std::uint64_t offset) noexcept {
        return SharedAddress(chunk) << offset_bits | offset;
    }

    static constexpr std::uint64_t offset_in(SharedAddress address) noexcept {
        return address & (address_of(1, 0) - 1);
    }

    // The lock; the first holder after one that failed repairs the heap.
    class Hold {
    public:
        explicit Hold(SharedHeap& heap) noexcept
            : _hold(heap._table.mutex) {
            if (_hold.after_failure()) {
                heap.repair();
            }
        }

    private:
        const RobustHold _hold;
    };

    void step(const char* name) const noexcept {
        if (_probe.reached != nullptr) [[unlikely]] {
            _probe.reached(_probe.context, name);
        }
    }
    void repair() noexcept;
    bool reclaims(const Error& error) const noexcept {
        return error.code == Errc::out_of_memory && _reclaim.free_some != nullptr &&
            _reclaim.free_some(_reclaim.context);
    }
    Result<SharedBlock> alloc_once(std::size_t bytes, std::uint64_t kind);
    std::byte* map(std::size_t chunk) noexcept;
    std::byte* map_chunk(std::size_t number) noexcept;
    Run* runs(std::size_t chunk) noexcept { return reinterpret_cast<Run*>(at(address_of(chunk, 0))); }
    // The run of a block, and the bytes of the block; nullptr: its chunk cannot be mapped.
    Run* run_of(SharedAddress address, std::size_t& bytes) noexcept;
    Result<SharedBlock> alloc_run(std::uint32_t granules, std::uint64_t kind);
    bool find_run(Chunk& chunk, Run* map, std::uint32_t granules, std::uint32_t unit, Found& found) noexcept;
    Result<SharedBlock> take_run(Found found, std::uint32_t granules, std::uint64_t kind);
    Result<SharedBlock> alloc_single(std::size_t bytes, std::uint64_t kind);
    Result<std::uint32_t> find_single(std::uint64_t bytes);
    Result<std::uint32_t> add_chunk(std::uint64_t bytes, bool single);
    Status map_single(std::uint32_t number);
    Status prepare_runs(Chunk& chunk, std::uint32_t number);
    Status take(std::uint64_t file_offset, std::uint64_t bytes);
    void free_run(std::uint32_t chunk, std::uint32_t index, bool backed) noexcept;
    // How the bytes of a block have become zeros; `no`: they have not.
    enum class Cleared : std::uint8_t { no, discarded, overwritten };
    Cleared clear(SharedAddress address, std::size_t bytes, bool sparse) noexcept;
    bool discard(std::uint64_t file_offset, std::byte* mapped, std::size_t bytes) noexcept;

    const int _fd;
    Table& _table;
    HeapProbe _probe;
    HeapReclaim _reclaim;
    std::array<std::atomic<std::byte*>, most_chunks> _mapped{};
};

} // namespace patchbay
