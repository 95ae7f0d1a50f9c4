// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/regions.h"

#include "components/common/run_operation.h"
#include "components/osc/rdma/errors.h"
#include "core/base/out_of_memory.h"
#include "object/error_cause.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <string>

namespace patchbay::osc::rdma {

namespace {
constexpr std::size_t first_capacity = 16;
static_assert(ControlLayout::regions_words == ControlLayout::regions_key + most_modules * RegionWords::key_words);

void store_words(std::byte* place, const std::uint64_t* values, std::size_t count) noexcept {
    auto* const words = reinterpret_cast<Words::Place*>(place);
    for (std::size_t i = 0; i < count; ++i) {
        words[i].store(values[i], std::memory_order_relaxed);
    }
}

int report_no_region(int member, std::uint64_t place, std::uint64_t bytes) noexcept {
    char text[128];
    std::snprintf(text, sizeof text, "no region that rank %d has attached contains all of the %llu bytes at 0x%llx",
        member, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(place));
    return note_cause(MPI_ERR_RMA_RANGE, text);
}
} // namespace

int OwnRegions::attach(void* base, std::uint64_t bytes) noexcept {
    const std::lock_guard hold(_lock);
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    const Status done = unless_out_of_memory([&]() -> Status {
        auto keys = Registration::create(_members.own_modules(), base, bytes);
        if (!keys) {
            return keys.error();
        }
        _regions[address] = Region{bytes, std::move(*keys)};
        Status published = publish();
        if (!published) {
            _regions.erase(address);
        }
        return published;
    });
    return done ? MPI_SUCCESS : note_cause(MPI_ERR_RMA_ATTACH, done.error().text);
}

int OwnRegions::detach(void* base) noexcept {
    const std::lock_guard hold(_lock);
    const auto found = _regions.find(reinterpret_cast<std::uintptr_t>(base));
    if (found == _regions.end()) {
        return note_cause(MPI_ERR_RMA_ATTACH, "no region with this address is attached");
    }
    const Region withdrawn = std::move(found->second);
    _regions.erase(found);
    const Status published = publish();
    return published ? MPI_SUCCESS : note_cause(MPI_ERR_OTHER, published.error().text);
}

void OwnRegions::keep_tables() noexcept {
    const std::lock_guard hold(_lock);
    for (const Table& table : _tables) {
        table.memory->keep_block();
    }
}

bool OwnRegions::contains(std::uint64_t place, std::uint64_t bytes) noexcept {
    const std::lock_guard hold(_lock);
    return has_range(place, bytes);
}

bool OwnRegions::contains_now(std::uint64_t place, std::uint64_t bytes) noexcept {
    const std::unique_lock hold(_lock, std::try_to_lock);
    return hold.owns_lock() && has_range(place, bytes);
}

bool OwnRegions::has_range(std::uint64_t place, std::uint64_t bytes) const noexcept {
    auto region = _regions.upper_bound(place);
    if (region == _regions.begin()) {
        return false;
    }
    --region;
    std::uint64_t before = place - region->first;
    while (before <= region->second.bytes) {
        const std::uint64_t rest = region->second.bytes - before;
        if (bytes <= rest) {
            return true;
        }
        const std::uint64_t end = region->first + region->second.bytes;
        if (++region == _regions.end() || region->first != end) {
            return false;
        }
        bytes -= rest;
        before = 0;
    }
    return false;
}

Result<std::vector<OwnRegions::Run>> OwnRegions::make_runs(std::vector<Registration>& merged) const {
    std::vector<Run> runs;
    runs.reserve(_regions.size());
    merged.reserve(_regions.size()); // so that the runs may refer to its elements
    for (auto region = _regions.begin(); region != _regions.end();) {
        const auto first = region;
        std::uint64_t end = first->first + first->second.bytes;
        while (++region != _regions.end() && region->first == end) {
            end += region->second.bytes;
        }
        const Registration* keys = &first->second.keys;
        if (std::next(first) != region) {
            auto made = Registration::create(
                _members.own_modules(), reinterpret_cast<void*>(std::uintptr_t(first->first)), end - first->first);
            if (!made) {
                return made.error();
            }
            keys = &merged.emplace_back(std::move(*made));
        }
        runs.push_back({first->first, end - first->first, keys});
    }
    return runs;
}

int OwnRegions::report_outside(std::uint64_t place, std::uint64_t bytes) noexcept {
    return report_no_region(words().rank, place, bytes);
}

Status OwnRegions::grow() {
    const std::size_t modules = _members.own_modules().count();
    Table table;
    table.capacity = _tables.empty() ? first_capacity : 2 * _tables.back().capacity;
    const std::size_t bytes = table.capacity * RegionWords::count(modules) * sizeof(std::uint64_t);
    auto memory = Memory::allocate(_segment, bytes, 64, false);
    if (!memory) {
        return memory.error();
    }
    table.memory = std::move(*memory);
    auto keys = Registration::create(_members.own_modules(), table.memory->base(), bytes);
    if (!keys) {
        return keys.error();
    }
    table.keys = std::move(*keys);
    _tables.push_back(std::move(table));
    return {};
}

Status OwnRegions::publish() {
    std::vector<Registration> merged;
    auto runs = make_runs(merged);
    if (!runs) {
        return runs.error();
    }
    if (_tables.empty() || _tables.back().capacity < _regions.size()) {
        if (Status grown = grow(); !grown) {
            return grown;
        }
    }
    const int self = words().rank;
    const Table& table = _tables.back();
    const std::size_t modules = _members.own_modules().count();
    words().exchange(self, ControlLayout::regions_version, ++_version);
    std::byte* place = table.memory->base();
    for (const Run& run : *runs) {
        std::uint64_t entry[RegionWords::count(most_modules)] = {run.address, run.bytes};
        for (std::size_t i = 0; i < modules; ++i) {
            std::memcpy(entry + RegionWords::fixed_words + i * RegionWords::key_words, run.keys->key(i).words,
                sizeof(btl::RemoteKey));
        }
        store_words(place, entry, RegionWords::count(modules));
        place += RegionWords::count(modules) * sizeof(std::uint64_t);
    }
    words().set(self, ControlLayout::regions_count, runs->size());
    for (std::size_t i = 0; i < modules; ++i) {
        for (std::size_t word = 0; word < RegionWords::key_words; ++word) {
            words().set(self, ControlLayout::regions_key + Word(i * RegionWords::key_words + word),
                table.keys.key(i).words[word]);
        }
    }
    words().exchange(self, ControlLayout::regions_version, ++_version);
    _merged = std::move(merged);
    return {};
}

int PeerRegions::find(int member, std::uint64_t place, std::uint64_t bytes, Reach& reach) noexcept {
    const std::lock_guard hold(_lock);
    Cache& cache = _caches[std::size_t(member)];
    if (const int code = refresh(member, cache); code != MPI_SUCCESS) {
        return code;
    }
    auto region = std::upper_bound(cache.regions.begin(), cache.regions.end(), place,
        [](std::uint64_t wanted, const Region& candidate) { return wanted < candidate.address; });
    if (region != cache.regions.begin()) {
        --region;
        const std::uint64_t before = place - region->address;
        if (before <= region->bytes && bytes <= region->bytes - before) {
            reach = Reach{&_members[member], member, region->key, region->address, region->mapped};
            return MPI_SUCCESS;
        }
    }
    return report_no_region(member, place, bytes);
}

// Each operation looks at the version, so that it cannot use what the owner has detached before.
int PeerRegions::refresh(int member, Cache& cache) noexcept {
    std::uint64_t version = 0;
    const int code = _members.words().load(member, ControlLayout::regions_version, version);
    if (code != MPI_SUCCESS || version == cache.version) [[likely]] {
        return code;
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::vector<std::uint64_t> table;
        for (;;) {
            bool whole = false;
            if (const int failed = try_read(member, version, table, &whole); failed != MPI_SUCCESS) {
                return failed;
            }
            if (whole) {
                break;
            }
            if (_failures.has_failed(member)) { // perhaps in the middle of a change
                return report_failed_member(member);
            }
            poll_or_yield(_progress);
        }
        cache.regions = parse(member, table);
        cache.version = version;
        return int(MPI_SUCCESS);
    });
}

// *whole: no change came between, so that the table is that of `version`. The number of regions and the key belong
// together only if the version has not changed when both have been read; a table that was in use once can be read for
// ever.
int PeerRegions::try_read(int member, std::uint64_t& version, std::vector<std::uint64_t>& table, bool* whole) {
    Words& words = _members.words();
    const std::size_t entry_words = RegionWords::count(_members[member].key_count);
    std::uint64_t count = 0;
    std::uint64_t after = 0;
    btl::RemoteKey key;
    int code = words.load(member, ControlLayout::regions_version, version);
    if (code == MPI_SUCCESS && version % 2 == 0) {
        code = words.load(member, ControlLayout::regions_count, count);
        const Word place = ControlLayout::regions_key + Word(_members[member].key_index * RegionWords::key_words);
        for (Word i = 0; i < RegionWords::key_words && code == MPI_SUCCESS; ++i) {
            code = words.load(member, place + i, key.words[i]);
        }
        code = code == MPI_SUCCESS ? words.load(member, ControlLayout::regions_version, after) : code;
        if (code == MPI_SUCCESS && after == version) {
            table.resize(count * entry_words);
            code = copy_table(member, key, table);
            code = code == MPI_SUCCESS ? words.load(member, ControlLayout::regions_version, after) : code;
            *whole = after == version;
        }
    }
    return code;
}

int PeerRegions::copy_table(int member, const btl::RemoteKey& key, std::vector<std::uint64_t>& table) noexcept {
    const Peer& peer = _members[member];
    const std::size_t bytes = table.size() * sizeof(std::uint64_t);
    if (bytes == 0) {
        return MPI_SUCCESS;
    }
    if (has_all(peer.one_sided->offered(*peer.endpoint, key), btl::Offers::map)) {
        if (const std::byte* const mapped = peer.one_sided->map(*peer.endpoint, key)) {
            const auto* const words = reinterpret_cast<const Words::Place*>(mapped);
            for (std::size_t i = 0; i < table.size(); ++i) {
                table[i] = words[i].load(std::memory_order_relaxed);
            }
            std::atomic_thread_fence(std::memory_order_acquire);
            return MPI_SUCCESS;
        }
    }
    const iovec local{table.data(), bytes};
    const btl::RemotePiece remote{0, bytes};
    const int error = common::run_operation(_progress, [&](btl::Completion* end) {
        return peer.one_sided->get(*peer.endpoint, {&local, 1}, key, {&remote, 1}, end);
    });
    return report_failure(error, member);
}

// The owner has them in the order of their addresses.
std::vector<PeerRegions::Region> PeerRegions::parse(int member, const std::vector<std::uint64_t>& table) {
    const Peer& peer = _members[member];
    const std::size_t entry_words = RegionWords::count(peer.key_count);
    std::vector<Region> regions;
    regions.reserve(table.size() / entry_words);
    for (std::size_t at = 0; at < table.size(); at += entry_words) {
        Region region{table[at], table[at + 1], {}, nullptr};
        std::memcpy(region.key.words, &table[at + RegionWords::fixed_words + peer.key_index * RegionWords::key_words],
            sizeof region.key);
        if (has_all(peer.one_sided->offered(*peer.endpoint, region.key), btl::Offers::map)) {
            region.mapped = peer.one_sided->map(*peer.endpoint, region.key);
        }
        regions.push_back(region);
    }
    return regions;
}

} // namespace patchbay::osc::rdma
