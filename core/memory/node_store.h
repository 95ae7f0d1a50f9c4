// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_segment.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Where processes of one node come to the same answer without waiting for one another: whoever is first to ask about a
// subject pins up what shall hold, and all others find it. In the node segment, under a lock that is held for some ten
// nanoseconds and survives the death of its holder. Thread-safe.
class NodeStore {
public:
    // Of subjects; longer ones have no place.
    static constexpr std::size_t longest_key = 216;
    // That one process has pinned up and not everybody has read yet. With more unread it is crowded: whoever pins up
    // another one waits until it below_high_water_mark(), so that nobody gets further ahead of the slow.
    static constexpr std::uint32_t high_water_mark = 32;
    // All that there can be, for which a process would need 1,000 threads that wait; memory is taken as it is needed.
    static constexpr std::uint32_t entries_per_rank = 1023;

    struct Entry {
        std::uint64_t kind;
        std::uint64_t word;
        bool operator==(const Entry&) const = default;
    };
    enum class Outcome : std::uint8_t {
        inserted, // `entry` holds
        found,    // an earlier one holds and is in `entry` now
        full,     // ask again when has_room()
    };
    // A entry that this process has pinned up.
    struct EntryRef {
        std::uint32_t slot = 0;
        std::uint32_t serial = 0;
    };

    // Maps the store, and takes memory for this rank's first entries. `segment` lives longer.
    static Result<std::unique_ptr<NodeStore>> open(NodeSegment& segment);

    // `readers` processes of this node, two at least, ask about `subject`, each of them once; after the last one the
    // entry is gone, and the subject may come again. Does not block. Sets *inserted where the answer is that.
    Outcome get_or_put(std::string_view key, std::uint32_t readers, Entry& entry, EntryRef* inserted) noexcept;
    // After `full`: there is room, or a entry about it. Whoever reads a entry as the last one rings the bell of the
    // rank that pinned it up; nobody does for a entry that another rank has room for. Only looks.
    bool has_room(std::string_view key) const noexcept;
    // What has been pinned up is read, or it is crowded no more.
    bool below_high_water_mark(const EntryRef& inserted) const noexcept;

private:
    struct Slot;
    struct Rank;
    struct Table;
    NodeStore(NodeSegment& segment, const NodeRegion& region) noexcept;
    Status prepare();
    Rank& own() const noexcept;
    std::size_t offset_of_own() const noexcept;
    Slot& slot(std::uint32_t place) const noexcept;
    std::uint32_t* find(std::string_view key, std::uint32_t hash) const noexcept;
    std::uint32_t take_slot() noexcept;
    Outcome insert(std::string_view key, std::uint32_t hash, std::uint32_t readers, const Entry& entry,
        EntryRef* inserted) noexcept;

    NodeSegment& _segment;
    const NodeRegion _region;
    Table* const _store;
    Rank* const _ranks;
    std::size_t _committed = 0; // bytes of our own entries
};

} // namespace patchbay
