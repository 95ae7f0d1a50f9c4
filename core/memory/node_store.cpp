// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_store.h"

#include "core/base/out_of_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

namespace patchbay {

namespace {
constexpr std::size_t chains = 512;
constexpr std::uint32_t none = 0; // places count from 1
constexpr std::size_t table_bytes = 4096;
constexpr std::size_t commit_step = 4096;
// Processes whose entries are one region, so that the store grows with the job.
constexpr std::uint32_t ranks_per_group = 16;

std::uint32_t rank_of(std::uint32_t place) noexcept {
    return (place - 1) / NodeStore::entries_per_rank;
}

// The same in all processes of a job, which run the same code.
std::uint32_t hash_of(std::string_view key) noexcept {
    return std::uint32_t(std::hash<std::string_view>()(key));
}
} // namespace

struct NodeStore::Slot {
    std::uint32_t next;                // the place of the next slot of the chain, or of the free list
    std::atomic<std::uint32_t> serial; // counts the entries that this slot has held and all readers have read
    std::uint32_t left;                // readers that have not read it yet
    std::uint32_t hash;
    std::uint32_t size;
    Entry entry;
    char key[longest_key];

    bool has_key(std::string_view what, std::uint32_t its_hash) const noexcept {
        return hash == its_hash && what == std::string_view(key, size);
    }
};

// The entries of one process.
struct alignas(256) NodeStore::Rank {
    std::atomic<std::uint32_t> unread;
    std::uint32_t free; // the first place of the free list
    std::uint32_t used; // slots that have been used
    static_assert(sizeof(Slot) == 256);
    alignas(256) Slot slots[entries_per_rank];
};

struct NodeStore::Table {
    std::atomic<std::uint32_t> made;
    // Guards what follows, and Rank; atomic members are also read without it. A process that fails while it holds the
    // lock leaves the chains whole, because each change is one store, and loses one slot at worst.
    RobustMutex mutex;
    std::uint32_t groups;        // that exist
    std::uint32_t first[chains]; // places
};

Result<std::unique_ptr<NodeStore>> NodeStore::open(NodeSegment& segment) {
    auto table = segment.region("node_store", table_bytes, "");
    if (!table) {
        return table.error();
    }
    std::unique_ptr<NodeStore> store(new NodeStore(segment, *table));
    if (Status good = store->prepare(); !good) {
        return good.error();
    }
    return store;
}

NodeStore::NodeStore(NodeSegment& segment, const NodeRegion& table) noexcept
    : _segment(segment),
      _table(table),
      _store(reinterpret_cast<Table*>(table.bytes.data())) {
    static_assert(sizeof(Table) <= table_bytes);
}

Status NodeStore::prepare() {
    if (Status taken = _segment.commit(_table, 0, table_bytes); !taken) {
        return taken;
    }
    if (Status made = _segment.once(_store->made, [this] { return _store->mutex.make(); }); !made) {
        return made;
    }
    const RobustHold hold(_store->mutex);
    _store->groups = std::max(_store->groups, _segment.slot() / ranks_per_group + 1);
    if (Status mapped = map_groups(); !mapped) {
        return mapped;
    }
    if (Status taken = _segment.commit(own_group(), own_offset(), commit_step); !taken) {
        return taken;
    }
    _own = &rank_at(_segment.slot());
    _committed = commit_step;
    return {};
}

// Maps the entries of all processes that have opened the store. Under the lock.
Status NodeStore::map_groups() {
    while (_groups.size() < _store->groups) {
        const std::string name = "node_store." + std::to_string(_groups.size());
        auto group = _segment.region(name, ranks_per_group * sizeof(Rank), "");
        if (!group) {
            return group.error();
        }
        _groups.push_back(*group);
    }
    return {};
}

const NodeRegion& NodeStore::own_group() const noexcept {
    return _groups[_segment.slot() / ranks_per_group];
}

std::size_t NodeStore::own_offset() const noexcept {
    return _segment.slot() % ranks_per_group * sizeof(Rank);
}

NodeStore::Rank& NodeStore::rank_at(std::uint32_t segment_slot) const noexcept {
    std::byte* group = _groups[segment_slot / ranks_per_group].bytes.data();
    return reinterpret_cast<Rank*>(group)[segment_slot % ranks_per_group];
}

NodeStore::Slot& NodeStore::slot(std::uint32_t place) const noexcept {
    return rank_at(rank_of(place)).slots[(place - 1) % entries_per_rank];
}

// The link that refers to the entry of this key; it is `none` where there is no such entry.
std::uint32_t* NodeStore::find(std::string_view key, std::uint32_t hash) const noexcept {
    std::uint32_t* link = &_store->first[hash % chains];
    while (*link != none && !slot(*link).has_key(key, hash)) {
        link = &slot(*link).next;
    }
    return link;
}

NodeStore::Outcome NodeStore::get_or_put(
    std::string_view key, std::uint32_t readers, Entry& entry, EntryRef* inserted) noexcept {
    const std::uint32_t hash = hash_of(key);
    std::optional<std::uint32_t> read_up; // the process whose entry all readers have read
    {
        const RobustHold hold(_store->mutex);
        if (_groups.size() < _store->groups && !unless_out_of_memory(false, [&] { return bool(map_groups()); })) {
            return Outcome::full; // the entries of a process that came later cannot be mapped now
        }
        std::uint32_t* link = find(key, hash);
        const std::uint32_t place = *link;
        if (place == none) {
            return insert(key, hash, readers, entry, inserted);
        }
        Slot& known = slot(place);
        entry = known.entry;
        if (--known.left == 0) {
            *link = known.next;
            Rank& rank = rank_at(rank_of(place));
            known.next = rank.free;
            rank.free = place;
            rank.unread.fetch_sub(1, std::memory_order_release);
            known.serial.fetch_add(1, std::memory_order_release);
            read_up = rank_of(place);
        }
    }
    if (read_up) {
        if (RankControl* control = _segment.find_control(*read_up)) {
            control->bell.notify();
        }
    }
    return Outcome::found;
}

NodeStore::Outcome NodeStore::insert(
    std::string_view key, std::uint32_t hash, std::uint32_t readers, const Entry& entry, EntryRef* inserted) noexcept {
    const std::uint32_t place = take_slot();
    if (place == none) {
        return Outcome::full;
    }
    std::uint32_t& first = _store->first[hash % chains];
    Slot& taken = slot(place);
    key.copy(taken.key, key.size());
    taken.size = std::uint32_t(key.size());
    taken.hash = hash;
    taken.entry = entry;
    taken.next = first;
    taken.left = readers - 1;
    std::atomic_signal_fence(std::memory_order_release); // complete before it can be found
    first = place;
    _own->unread.fetch_add(1, std::memory_order_relaxed);
    *inserted = {(place - 1) % entries_per_rank, taken.serial.load(std::memory_order_relaxed)};
    return Outcome::inserted;
}

// Returns `none` when all slots are in use, or when there is no memory for more.
std::uint32_t NodeStore::take_slot() noexcept {
    Rank& rank = *_own;
    if (rank.free != none) {
        const std::uint32_t place = rank.free;
        rank.free = slot(place).next;
        return place;
    }
    if (rank.used == entries_per_rank) {
        return none;
    }
    const auto end = std::size_t(reinterpret_cast<std::byte*>(&rank.slots[rank.used] + 1) - //
        reinterpret_cast<std::byte*>(&rank));
    while (_committed < end) { // committing again what an earlier generation has used costs nothing
        if (!_segment.commit(own_group(), own_offset() + _committed, commit_step)) {
            return none;
        }
        _committed += commit_step;
    }
    return _segment.slot() * entries_per_rank + ++rank.used;
}

bool NodeStore::has_room(std::string_view key) const noexcept {
    const RobustHold hold(_store->mutex);
    if (_groups.size() < _store->groups) {
        return true; // get_or_put() maps the rest
    }
    return _own->free != none || *find(key, hash_of(key)) != none;
}

bool NodeStore::below_high_water_mark(const EntryRef& inserted) const noexcept {
    return _own->unread.load(std::memory_order_acquire) <= high_water_mark ||
        _own->slots[inserted.slot].serial.load(std::memory_order_acquire) != inserted.serial;
}

} // namespace patchbay
