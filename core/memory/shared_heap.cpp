// SPDX-License-Identifier: BSD-3-Clause
// Which runs of granules are blocks, and how they become that. The file and its mappings: shared_chunks.cpp.
#include "core/memory/shared_heap.h"

#include "core/base/round_up.h"
#include "core/base/strings.h"
#include "core/memory/shared_run.h"

#include <algorithm>
#include <cstring>

namespace patchbay {

namespace {
constexpr std::uint32_t granules_per_page = 4096 / SharedHeap::granule;
} // namespace

Result<SharedBlock> SharedHeap::alloc(std::size_t bytes, std::uint32_t owner, Backing backing) {
    const std::uint64_t kind = shared_run::used_by(owner) | (backing == Backing::sparse ? shared_run::sparse : 0);
    bytes = std::max<std::size_t>(bytes, 1);
    if (bytes > most_block) {
        return Error{Errc::out_of_memory, "shared memory: a block has at most " + format_size(most_block)};
    }
    Result<SharedBlock> block = alloc_once(bytes, kind);
    return block || !reclaims(block.error()) ? std::move(block) : alloc_once(bytes, kind);
}

Result<SharedBlock> SharedHeap::alloc_once(std::size_t bytes, std::uint64_t kind) {
    const Hold hold(*this);
    if (bytes >= large) {
        return alloc_single(bytes, kind);
    }
    auto granules = std::uint32_t((bytes + granule - 1) / granule);
    return alloc_run((kind & shared_run::sparse) != 0 ? round_up(granules, granules_per_page) : granules, kind);
}

Result<SharedBlock> SharedHeap::alloc_run(std::uint32_t granules, std::uint64_t kind) {
    const std::uint32_t unit = (kind & shared_run::sparse) != 0 ? granules_per_page : 1;
    const std::uint32_t chunks = _table.chunks.load(std::memory_order_relaxed);
    std::uint64_t total = 0;
    for (std::uint32_t number = 1; number < chunks; ++number) {
        Chunk& chunk = _table.chunk[number];
        total += chunk.granules * granule;
        if (chunk.granules == 0 || chunk.longest_free < granules) {
            continue;
        }
        Result<std::byte*> mapped = map_block(address_of(number, 0));
        if (!mapped) {
            return mapped.error();
        }
        auto* map = reinterpret_cast<Run*>(*mapped);
        Found found{number, 0, 0};
        if (find_run(chunk, map, granules, unit, found)) {
            return take_run(found, granules, kind);
        }
    }
    // Larger and larger ones, so that a heap of any size has few chunks, of which each costs a mapping.
    constexpr std::uint64_t smallest = std::uint64_t(1) << 20;
    constexpr std::uint64_t greatest = std::uint64_t(32) << 20;
    const std::uint64_t bytes = std::clamp(total / 2 / smallest * smallest, smallest, greatest);
    Result<std::uint32_t> added = add_chunk(bytes, false);
    if (!added) {
        return added.error();
    }
    Found found{*added, 0, 0};
    if (!find_run(_table.chunk[*added], runs(*added), granules, unit, found)) {
        return Error{
            Errc::out_of_memory, "shared memory: a new chunk has no room for " + format_size(granules * granule)};
    }
    return take_run(found, granules, kind);
}

// The first free run that has room; free runs on the way are merged with those behind them, but for one that has memory
// and is long enough: what was freed last is often what is asked for next.
bool SharedHeap::find_run(Chunk& chunk, Run* map, std::uint32_t granules, std::uint32_t unit, Found& found) noexcept {
    std::uint32_t longest = 0;
    bool before_first_free = true;
    for (std::uint32_t at = chunk.first_free; at < chunk.granules;) {
        std::uint64_t run = map[at].load(std::memory_order_relaxed);
        if (shared_run::is_used(run)) {
            at += shared_run::length_of(run);
            continue;
        }
        const std::uint32_t start = round_up(at, unit);
        std::uint32_t length = shared_run::length_of(run);
        std::uint64_t backed = run & shared_run::backed;
        while (at + length < chunk.granules && (backed == 0 || start + granules > at + length)) {
            const std::uint64_t behind = map[at + length].load(std::memory_order_relaxed);
            if (shared_run::is_used(behind)) {
                break;
            }
            length += shared_run::length_of(behind);
            backed &= behind;
        }
        if (length != shared_run::length_of(run)) {
            map[at].store(backed | length, std::memory_order_relaxed);
            step("merge");
        }
        if (before_first_free) {
            chunk.first_free = at;
            before_first_free = false;
        }
        if (start + granules <= at + length) {
            found.run = at;
            found.start = start;
            return true;
        }
        longest = std::max(longest, length);
        at += length;
    }
    if (unit == 1) {
        chunk.longest_free = longest;
    }
    return false;
}

Result<SharedBlock> SharedHeap::take_run(Found found, std::uint32_t granules, std::uint64_t kind) {
    Chunk& chunk = _table.chunk[found.chunk];
    Run* map = runs(found.chunk);
    const std::uint64_t run = map[found.run].load(std::memory_order_relaxed);
    const std::uint64_t backed = run & shared_run::backed;
    const std::uint32_t end = found.run + shared_run::length_of(run);
    const std::uint64_t offset = std::uint64_t(found.start) * granule;
    if (backed != 0) {
        step("memory is there");
    } else if ((kind & shared_run::sparse) == 0) {
        if (Status taken = take(chunk.offset + offset, granules * granule); !taken) {
            return taken.error();
        }
    }
    step("memory of a block taken");
    // What lies inside the free run cannot be found before the word of that run has changed.
    if (found.start + granules < end) {
        map[found.start + granules].store(backed | (end - found.start - granules), std::memory_order_relaxed);
    }
    step("rest written");
    const std::uint64_t block = kind | granules;
    if (found.start > found.run) {
        map[found.start].store(block, std::memory_order_relaxed);
        step("block written behind a rest");
        std::atomic_signal_fence(std::memory_order_seq_cst);
        map[found.run].store(backed | (found.start - found.run), std::memory_order_release);
    } else {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        map[found.start].store(block, std::memory_order_release);
    }
    step("block published");
    if (chunk.first_free == found.run && found.start == found.run) {
        chunk.first_free = found.start + granules;
    }
    const SharedAddress address = address_of(found.chunk, offset);
    return SharedBlock{address, {at(address), granules * granule}};
}

Result<SharedBlock> SharedHeap::alloc_single(std::size_t bytes, std::uint64_t kind) {
    const std::uint64_t whole = round_up(bytes, huge_page);
    Result<std::uint32_t> number = find_single(whole);
    if (!number) {
        return number.error();
    }
    Chunk& chunk = _table.chunk[*number];
    const std::uint64_t pages = (bytes + 4095) / 4096 * 4096;
    Result<std::byte*> mapped = map_block(address_of(*number, 0));
    if (!mapped) {
        return mapped.error();
    }
    if ((kind & shared_run::sparse) == 0) {
        if (Status taken = take(chunk.offset, pages); !taken) {
            return taken.error();
        }
    }
    step("memory of a large block taken");
    chunk.single.store(kind | pages / 4096, std::memory_order_release);
    step("large block published");
    return SharedBlock{address_of(*number, 0), {*mapped, pages}};
}

// A chunk for one block: a free one, if it is not much larger than needed.
Result<std::uint32_t> SharedHeap::find_single(std::uint64_t bytes) {
    const std::uint32_t chunks = _table.chunks.load(std::memory_order_relaxed);
    std::uint32_t best = 0;
    for (std::uint32_t number = 1; number < chunks; ++number) {
        const Chunk& chunk = _table.chunk[number];
        const bool fits = chunk.granules == 0 && chunk.single.load(std::memory_order_relaxed) == 0 &&
            chunk.bytes >= bytes && chunk.bytes <= 2 * bytes;
        if (fits && (best == 0 || chunk.bytes < _table.chunk[best].bytes)) {
            best = number;
        }
    }
    return best != 0 ? Result<std::uint32_t>(best) : add_chunk(bytes, true);
}

SharedHeap::Run* SharedHeap::run_of(SharedAddress address, std::size_t& bytes) noexcept {
    Chunk& chunk = _table.chunk[address >> offset_bits];
    if (chunk.granules == 0) {
        bytes = std::size_t(shared_run::length_of(chunk.single.load(std::memory_order_relaxed))) * 4096;
        return &chunk.single;
    }
    Run* map = runs(address >> offset_bits);
    if (map == nullptr) {
        return nullptr;
    }
    Run* run = map + offset_in(address) / granule;
    bytes = std::size_t(shared_run::length_of(run->load(std::memory_order_relaxed))) * granule;
    return run;
}

// The caller owns the block until its run is free, so that its zeros are written without the lock.
void SharedHeap::free(SharedAddress address) noexcept {
    std::size_t bytes = 0;
    Run* run = run_of(address, bytes);
    if (run == nullptr || !shared_run::is_used(run->load(std::memory_order_relaxed))) {
        return;
    }
    const Cleared cleared = clear(address, bytes, (run->load(std::memory_order_relaxed) & shared_run::sparse) != 0);
    if (cleared == Cleared::no) {
        return; // a block whose memory cannot be returned stays allocated until the job ends
    }
    step("block cleared");
    const auto number = std::uint32_t(address >> offset_bits);
    const Hold hold(*this);
    if (_table.chunk[number].granules == 0) {
        run->store(0, std::memory_order_release);
        step("large block freed");
        return;
    }
    free_run(number, std::uint32_t(offset_in(address) / granule), cleared == Cleared::overwritten);
}

void SharedHeap::free_run(std::uint32_t number, std::uint32_t index, bool backed) noexcept {
    Chunk& chunk = _table.chunk[number];
    Run& run = runs(number)[index];
    const std::uint32_t length = shared_run::length_of(run.load(std::memory_order_relaxed));
    // The hints first: a hint that is too large only costs a walk.
    chunk.first_free = std::min(chunk.first_free, index);
    chunk.longest_free = chunk.granules;
    step("hints widened");
    run.store((backed ? shared_run::backed : 0) | length, std::memory_order_release);
    step("block freed");
}

void SharedHeap::free_all_of(std::uint32_t owner) noexcept {
    const std::uint32_t chunks = _table.chunks.load(std::memory_order_acquire);
    for (std::uint32_t number = 1; number < chunks; ++number) {
        Chunk& chunk = _table.chunk[number];
        if (chunk.granules == 0) {
            const std::uint64_t run = chunk.single.load(std::memory_order_relaxed);
            if (shared_run::is_used(run) && shared_run::owner_of(run) == owner) {
                free(address_of(number, 0));
            }
            continue;
        }
        Run* map = runs(number);
        for (std::uint32_t at = 0; map != nullptr && at < chunk.granules;) {
            std::uint64_t run = 0;
            {
                const Hold hold(*this); // others split and merge runs
                run = map[at].load(std::memory_order_relaxed);
            }
            if (shared_run::length_of(run) == 0) {
                break;
            }
            if (shared_run::is_used(run) && shared_run::owner_of(run) == owner) {
                free(address_of(number, std::uint64_t(at) * granule));
            }
            at += shared_run::length_of(run);
        }
    }
}

Status SharedHeap::commit(SharedAddress block, std::size_t offset, std::size_t length) {
    const Chunk& chunk = _table.chunk[block >> offset_bits];
    const std::uint64_t begin = chunk.offset + offset_in(block) + offset;
    Status taken = take(begin, length);
    return taken || !reclaims(taken.error()) ? std::move(taken) : take(begin, length);
}

// After the failure of a holder of the lock. It may have prepared a chunk that does not exist: the next one at that
// place begins with zeros.
void SharedHeap::repair() noexcept {
    const std::uint32_t chunks = _table.chunks.load(std::memory_order_acquire);
    const Chunk& last = _table.chunk[chunks - 1];
    if (chunks < most_chunks && _fd >= 0 && _table.chunk[chunks].offset >= last.offset + last.bytes) {
        discard(_table.chunk[chunks].offset, nullptr, _table.chunk[chunks].bytes);
    }
    for (std::uint32_t number = 1; number < chunks; ++number) {
        _table.chunk[number].first_free = 0;
        _table.chunk[number].longest_free = _table.chunk[number].granules;
    }
}

SharedHeap::Usage SharedHeap::usage() noexcept {
    const Hold hold(*this);
    Usage usage;
    usage.chunks = _table.chunks.load(std::memory_order_relaxed);
    for (std::uint32_t number = 1; number < usage.chunks; ++number) {
        const Chunk& chunk = _table.chunk[number];
        if (chunk.granules == 0) {
            const std::uint64_t run = chunk.single.load(std::memory_order_relaxed);
            usage.blocks += shared_run::is_used(run);
            usage.bytes += shared_run::is_used(run) ? std::size_t(shared_run::length_of(run)) * 4096 : 0;
            continue;
        }
        const Run* map = runs(number);
        for (std::uint32_t at = 0; map != nullptr && at < chunk.granules;) {
            const std::uint64_t run = map[at].load(std::memory_order_relaxed);
            const bool block = shared_run::is_used(run) && at != 0; // the first run is the table of the runs
            usage.blocks += block;
            usage.bytes += block ? std::size_t(shared_run::length_of(run)) * granule : 0;
            if (shared_run::length_of(run) == 0) {
                usage.blocks = ~std::size_t(0); // the runs are broken: what only a test can see
                return usage;
            }
            at += shared_run::length_of(run);
        }
    }
    return usage;
}

} // namespace patchbay
