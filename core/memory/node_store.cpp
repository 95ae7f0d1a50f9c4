// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_store.h"

#include "core/memory/peer_wait.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <pthread.h>

namespace patchbay {

namespace {
constexpr std::uint32_t fresh = 0; // the memory begins as zeros
constexpr std::uint32_t being_made = 1;
constexpr std::uint32_t ready = 2;
constexpr std::size_t chains = 512;
constexpr std::uint32_t none = 0; // places count from 1
constexpr std::size_t table_bytes = 4096;
constexpr std::size_t commit_step = 4096;

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
    std::atomic<std::uint32_t> state;
    pthread_mutex_t mutex;       // guards what follows, and Rank; atomic members are also read without it
    std::uint32_t first[chains]; // places
};

namespace {

// A process that dies while it holds the lock leaves the chains whole, because each change is one store, and loses one
// slot at worst.
class Hold {
public:
    explicit Hold(pthread_mutex_t& mutex) noexcept
        : _mutex(mutex) {
        if (pthread_mutex_lock(&_mutex) == EOWNERDEAD) {
            pthread_mutex_consistent(&_mutex);
        }
    }
    ~Hold() { pthread_mutex_unlock(&_mutex); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

private:
    pthread_mutex_t& _mutex;
};

Status make_mutex(pthread_mutex_t& mutex) {
    pthread_mutexattr_t attributes;
    int code = pthread_mutexattr_init(&attributes);
    if (code == 0) {
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        code = pthread_mutex_init(&mutex, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    if (code != 0) {
        return Error{Errc::system, std::string("node store: no lock between processes: ") + std::strerror(code)};
    }
    return {};
}

} // namespace

Result<std::unique_ptr<NodeStore>> NodeStore::open(NodeSegment& segment) {
    auto region = segment.region("node_store", table_bytes + segment.local_size() * sizeof(Rank), "");
    if (!region) {
        return region.error();
    }
    std::unique_ptr<NodeStore> store(new NodeStore(segment, *region));
    if (Status good = store->prepare(); !good) {
        return good.error();
    }
    return store;
}

NodeStore::NodeStore(NodeSegment& segment, const NodeRegion& region) noexcept
    : _segment(segment),
      _region(region),
      _store(reinterpret_cast<Table*>(region.bytes.data())),
      _ranks(reinterpret_cast<Rank*>(region.bytes.data() + table_bytes)) {
    static_assert(sizeof(Table) <= table_bytes);
}

Status NodeStore::prepare() {
    for (const auto& [offset, size] :
        {std::pair(std::size_t(0), table_bytes), std::pair(offset_of_own(), commit_step)}) {
        if (Status taken = _segment.commit(_region, offset, size); !taken) {
            return taken;
        }
    }
    _committed = commit_step;
    std::atomic<std::uint32_t>& state = _store->state;
    std::uint32_t before = fresh;
    if (state.compare_exchange_strong(before, being_made, std::memory_order_acquire)) {
        if (Status made = make_mutex(_store->mutex); !made) {
            state.store(fresh, std::memory_order_release); // the next process tries again
            return made;
        }
        state.store(ready, std::memory_order_release);
    } else if (!wait_for_peer([&] { return state.load(std::memory_order_acquire) == ready; })) {
        return Error{Errc::timed_out,
            "node store: the process that makes it has not finished within 10 s; it has probably died"};
    }
    return {};
}

NodeStore::Rank& NodeStore::own() const noexcept {
    return _ranks[_segment.local_rank()];
}

std::size_t NodeStore::offset_of_own() const noexcept {
    return table_bytes + _segment.local_rank() * sizeof(Rank);
}

NodeStore::Slot& NodeStore::slot(std::uint32_t place) const noexcept {
    return _ranks[rank_of(place)].slots[(place - 1) % entries_per_rank];
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
        const Hold hold(_store->mutex);
        std::uint32_t* link = find(key, hash);
        const std::uint32_t place = *link;
        if (place == none) {
            return insert(key, hash, readers, entry, inserted);
        }
        Slot& known = slot(place);
        entry = known.entry;
        if (--known.left == 0) {
            *link = known.next;
            Rank& rank = _ranks[rank_of(place)];
            known.next = rank.free;
            rank.free = place;
            rank.unread.fetch_sub(1, std::memory_order_release);
            known.serial.fetch_add(1, std::memory_order_release);
            read_up = rank_of(place);
        }
    }
    if (read_up) {
        _segment.control(*read_up).bell.notify();
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
    own().unread.fetch_add(1, std::memory_order_relaxed);
    *inserted = {(place - 1) % entries_per_rank, taken.serial.load(std::memory_order_relaxed)};
    return Outcome::inserted;
}

// Returns `none` when all slots are in use, or when there is no memory for more.
std::uint32_t NodeStore::take_slot() noexcept {
    Rank& rank = own();
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
        if (!_segment.commit(_region, offset_of_own() + _committed, commit_step)) {
            return none;
        }
        _committed += commit_step;
    }
    return _segment.local_rank() * entries_per_rank + ++rank.used;
}

bool NodeStore::has_room(std::string_view key) const noexcept {
    const Hold hold(_store->mutex);
    return own().free != none || *find(key, hash_of(key)) != none;
}

bool NodeStore::below_high_water_mark(const EntryRef& inserted) const noexcept {
    return own().unread.load(std::memory_order_acquire) <= high_water_mark ||
        own().slots[inserted.slot].serial.load(std::memory_order_acquire) != inserted.serial;
}

} // namespace patchbay
