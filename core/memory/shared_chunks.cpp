// SPDX-License-Identifier: BSD-3-Clause
// The chunks of a shared heap: its file, and where this process has it mapped.
#include "core/base/round_up.h"
#include "core/base/strings.h"
#include "core/memory/shared_file.h"
#include "core/memory/shared_heap.h"
#include "core/memory/shared_run.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <sys/mman.h>
#include <utility>

namespace patchbay {

namespace {
constexpr std::size_t page = 4096;
// Overwriting fewer bytes takes no longer than the faults by which each process would get new pages.
constexpr std::size_t returned_from = std::size_t(64) << 10;

std::byte* map_file(int fd, std::uint64_t offset, std::size_t bytes, void* where) noexcept {
    const int flags =
        (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE | (where == nullptr ? 0 : MAP_FIXED);
    void* address = mmap(where, bytes, PROT_READ | PROT_WRITE, flags, fd, fd < 0 ? 0 : off_t(offset));
    return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

// At a multiple of the size of a huge page.
std::byte* map_aligned(int fd, std::uint64_t offset, std::size_t bytes) noexcept {
    constexpr std::size_t unit = SharedHeap::huge_page;
    void* room = mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        return nullptr;
    }
    auto* begin = static_cast<std::byte*>(room);
    const std::size_t before = (unit - reinterpret_cast<std::uintptr_t>(room) % unit) % unit;
    std::byte* mapped = map_file(fd, offset, bytes, begin + before);
    if (mapped == nullptr) {
        munmap(room, bytes + unit);
        return nullptr;
    }
    if (before > 0) {
        munmap(begin, before);
    }
    munmap(mapped + bytes, unit - before);
    return mapped;
}

constexpr std::uint64_t most_file_bytes = std::numeric_limits<std::int64_t>::max();

Error no_room_for(std::uint64_t bytes) {
    return {Errc::out_of_memory, "shared memory: there is no room for " + format_size(bytes) + " more"};
}

Error cannot_map(std::uint64_t bytes) {
    return {Errc::out_of_memory,
        "shared memory: cannot map " + format_size(bytes) + ": " + std::strerror(errno) +
            "; raise the address space limit (ulimit -v) or lower the sizes that the parameters of the shared-memory "
            "components ask for"};
}
} // namespace

SharedHeap::SharedHeap(int fd, std::byte* start, Table& table) noexcept
    : _fd(fd),
      _table(table) {
    _mapped[0].store(start, std::memory_order_relaxed);
}

SharedHeap::~SharedHeap() {
    for (std::size_t number = 1; number < _table.chunks.load(std::memory_order_acquire); ++number) {
        if (std::byte* base = _mapped[number].load(std::memory_order_acquire)) {
            munmap(base, _table.chunk[number].bytes);
        }
    }
}

// Chunk 0 has no blocks.
SharedAddress SharedHeap::address_of_memory(const void* memory, std::size_t bytes) const noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(memory);
    const std::size_t chunks = _table.chunks.load(std::memory_order_acquire);
    for (std::size_t number = 1; number < chunks; ++number) {
        const auto base = reinterpret_cast<std::uintptr_t>(_mapped[number].load(std::memory_order_acquire));
        const std::uint64_t length = _table.chunk[number].bytes;
        if (base != 0 && place >= base && place - base <= length && bytes <= length - (place - base)) {
            return address_of(number, place - base);
        }
    }
    return 0;
}

Status SharedHeap::make(Table& table, std::size_t start_bytes) {
    table.chunk[0].offset = 0;
    table.chunk[0].bytes = start_bytes;
    table.chunks.store(1, std::memory_order_release);
    return table.mutex.make();
}

std::byte* SharedHeap::map(std::size_t chunk) noexcept {
    return chunk < _table.chunks.load(std::memory_order_acquire) ? map_chunk(chunk) : nullptr;
}

std::byte* SharedHeap::map_chunk(std::size_t number) noexcept {
    const Chunk& chunk = _table.chunk[number];
    std::byte* mapped = chunk.granules == 0 ? map_aligned(_fd, chunk.offset, chunk.bytes)
                                            : map_file(_fd, chunk.offset, chunk.bytes, nullptr);
    if (mapped == nullptr) {
        return nullptr;
    }
    std::byte* before = nullptr;
    if (!_mapped[number].compare_exchange_strong(before, mapped, std::memory_order_acq_rel)) {
        munmap(mapped, chunk.bytes); // another thread was faster
        return before;
    }
    return mapped;
}

Result<std::byte*> SharedHeap::map_block(SharedAddress address) {
    std::byte* place = at(address);
    return place != nullptr ? Result<std::byte*>(place) : cannot_map(_table.chunk[address >> offset_bits].bytes);
}

// Under the lock. The chunk exists once the number of chunks says so; until then a process that fails leaves nothing
// but a longer file.
Result<std::uint32_t> SharedHeap::add_chunk(std::uint64_t bytes, bool single) {
    const std::uint32_t number = _table.chunks.load(std::memory_order_relaxed);
    if (number == most_chunks) {
        return Error{Errc::out_of_memory,
            "shared memory: no more than " + std::to_string(most_chunks - 1) +
                " chunks; free blocks of 512KiB and more, or allocate fewer and larger ones"};
    }
    const Chunk& last = _table.chunk[number - 1];
    const std::uint64_t unit = single ? huge_page : page;
    if (bytes > most_file_bytes - unit - last.offset - last.bytes) {
        return no_room_for(bytes);
    }
    Chunk& chunk = _table.chunk[number];
    chunk.offset = round_up(last.offset + last.bytes, unit);
    chunk.bytes = bytes;
    chunk.single.store(0, std::memory_order_relaxed);
    chunk.granules = single ? 0 : std::uint32_t(bytes / granule);
    step("chunk described");
    if (Status grown = _fd < 0 ? Status() : shared_file::grow(_fd, chunk.offset + chunk.bytes); !grown) {
        return grown.error();
    }
    step("file grown");
    // One that cannot be mapped would be of no use, and all later ones would be behind it in the file.
    Status prepared = single ? map_single(number) : prepare_runs(chunk, number);
    if (!prepared) {
        if (std::byte* mapped = _mapped[number].exchange(nullptr)) {
            munmap(mapped, chunk.bytes); // the next chunk of this number may be another one
        }
        return prepared.error();
    }
    _table.chunks.store(number + 1, std::memory_order_release);
    step("chunk published");
    return number;
}

Status SharedHeap::map_single(std::uint32_t number) {
    return map_chunk(number) != nullptr ? Status() : cannot_map(_table.chunk[number].bytes);
}

// The words of the runs are at the beginning of the chunk, and are its first run.
Status SharedHeap::prepare_runs(Chunk& chunk, std::uint32_t number) {
    const std::size_t bytes = chunk.granules * sizeof(Run);
    if (Status taken = take(chunk.offset, bytes); !taken) {
        return taken;
    }
    step("memory of a chunk taken");
    auto* map = reinterpret_cast<Run*>(map_chunk(number));
    if (map == nullptr) {
        return cannot_map(chunk.bytes);
    }
    const auto own = std::uint32_t((bytes + granule - 1) / granule);
    map[0].store(shared_run::used_by(no_owner) | own, std::memory_order_relaxed);
    map[own].store(chunk.granules - own, std::memory_order_relaxed);
    step("runs written");
    chunk.first_free = own;
    chunk.longest_free = chunk.granules - own;
    return {};
}

Status SharedHeap::take(std::uint64_t file_offset, std::uint64_t bytes) {
    return _fd < 0 ? Status() : shared_file::allocate(_fd, file_offset, bytes);
}

bool SharedHeap::discard(std::uint64_t file_offset, std::byte* mapped, std::size_t bytes) noexcept {
    if (bytes == 0) {
        return true;
    }
    return _fd < 0 ? madvise(mapped, bytes, MADV_DONTNEED) == 0 : shared_file::discard(_fd, file_offset, bytes);
}

// The whole pages of a block go back to the system if they are many, or have perhaps no memory; the rest, which other
// blocks share, is overwritten, and so is a small block: its pages are soon part of another one, and all processes
// would have to map them again.
SharedHeap::Cleared SharedHeap::clear(SharedAddress address, std::size_t bytes, bool sparse) noexcept {
    std::byte* block = at(address);
    if (block == nullptr) {
        return Cleared::no;
    }
    const std::uint64_t offset = _table.chunk[address >> offset_bits].offset + offset_in(address);
    const std::uint64_t first = round_up(offset, page);
    const std::uint64_t end = (offset + bytes) / page * page;
    if (first >= end || (!sparse && end - first < returned_from)) {
        std::memset(block, 0, bytes);
        return Cleared::overwritten;
    }
    if (!discard(first, block + (first - offset), end - first)) {
        if (sparse) {
            return Cleared::no; // pages without memory must not be touched
        }
        std::memset(block + (first - offset), 0, end - first);
    }
    step("pages discarded");
    std::memset(block, 0, first - offset);
    std::memset(block + (end - offset), 0, offset + bytes - end);
    return Cleared::discarded;
}

} // namespace patchbay
