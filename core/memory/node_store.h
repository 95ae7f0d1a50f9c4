// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_segment.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A key-value store in the node's shared memory, by which the processes of one node come to the same value without
// waiting for one another: the first process to ask for a key puts its own value there, and all later ones get that.
// Under a lock that is held for some ten nanoseconds and survives the failure of its holder. Thread-safe.
class NodeStore {
public:
    // Bytes of a key; the store takes no longer ones.
    static constexpr std::size_t longest_key = 216;
    // Entries that one process has put and that other processes have still to read. A process above this mark waits
    // with its next constructor until below_high_water_mark(), so that it gets no further ahead of slow processes.
    static constexpr std::uint32_t high_water_mark = 32;
    // The capacity for each process, which only 1,000 waiting threads could use up; memory is taken as it is needed.
    static constexpr std::uint32_t entries_per_rank = 1023;

    struct Entry {
        std::uint64_t kind;
        std::uint64_t word;
        bool operator==(const Entry&) const = default;
    };
    enum class Outcome : std::uint8_t {
        inserted, // the key had no entry, and has `entry` now
        found,    // the key had an entry, which `entry` is set to
        full,     // no room: to be repeated when has_room()
    };
    // Refers to an entry that this process has put.
    struct EntryRef {
        std::uint32_t slot = 0;
        std::uint32_t serial = 0;
    };

    // Maps the store, and takes memory for this process's first entries. `segment` must outlive the store.
    // Errors: those of NodeSegment::region and commit; Errc::system: no lock between processes can be made.
    static Result<std::unique_ptr<NodeStore>> open(NodeSegment& segment);

    // Get-or-put. `readers` processes of this node, two at least, call this for `key`, each of them once; the last call
    // removes the entry, and the key may be used again. Does not block. Sets *inserted with Outcome::inserted only.
    Outcome get_or_put(std::string_view key, std::uint32_t readers, Entry& entry, EntryRef* inserted) noexcept;
    // After Outcome::full: whether this process has room again, or the key has an entry. The process that reads an
    // entry as the last one rings the doorbell of the process that put it; an entry that appears rings none.
    bool has_room(std::string_view key) const noexcept;
    // Whether all readers have read this entry, or fewer than high_water_mark entries of this process are unread.
    bool below_high_water_mark(const EntryRef& inserted) const noexcept;

private:
    struct Slot;
    struct Rank;
    struct Table;
    NodeStore(NodeSegment& segment, const NodeRegion& table) noexcept;
    Status prepare();
    Status map_groups();
    const NodeRegion& own_group() const noexcept;
    std::size_t own_offset() const noexcept;
    Rank& rank_at(std::uint32_t segment_slot) const noexcept;
    Slot& slot(std::uint32_t place) const noexcept;
    std::uint32_t* find(std::string_view key, std::uint32_t hash) const noexcept;
    std::uint32_t take_slot() noexcept;
    Outcome insert(std::string_view key, std::uint32_t hash, std::uint32_t readers, const Entry& entry,
        EntryRef* inserted) noexcept;

    NodeSegment& _segment;
    const NodeRegion _table;
    Table* const _store;
    std::vector<NodeRegion> _groups; // that this process has mapped
    Rank* _own = nullptr;
    std::size_t _committed = 0; // bytes of this process's own entries
};

} // namespace patchbay
