// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Communicator;

namespace cid {

// This process's communicators by local index. Indices 0 (world), 1 (self) and 2 (bootstrap exchange) are reserved from
// the start. find() is the pml's hot path: no lock, no check. All else is locked.
class IndexTable {
public:
    static constexpr std::uint32_t capacity = 65536; // every value an index can have
    static constexpr std::uint32_t bootstrap = 2;
    static constexpr std::uint32_t predefined = 3;

    // Locks always.
    IndexTable();
    // Locks while several threads use the library.
    explicit IndexTable(ThreadLevelUpgrade& threads);
    ~IndexTable();
    IndexTable(const IndexTable&) = delete;
    IndexTable& operator=(const IndexTable&) = delete;

    void set_limit(std::uint32_t highest); // the pml's max_index()

    // May return a communicator that is under construction or destruction and that its pml does not know (pml_data is
    // null): the pml keeps messages for it as it keeps messages for an unknown index.
    Communicator* find(std::uint16_t index) const noexcept { return _slots[index].load(std::memory_order_acquire); }

    // The lowest free index >= from, taken (reserved); nullopt: none left.
    std::optional<std::uint32_t> reserve_lowest(std::uint32_t from);
    // Takes exactly this index; false: it is taken.
    bool reserve(std::uint32_t index);
    void release(std::uint32_t index);

    // For allocations that choose one of many free indices: which of the 64 * mask.size() indices from `from` (a
    // multiple of 64) on are free, one bit each. No other allocation gets one of these until withdraw_offer(). There
    // may be `most_offers` offers at one time, which do not overlap; `number` identifies this one.
    static constexpr std::size_t most_offers = 2;
    void offer(std::size_t number, std::uint32_t from, std::span<std::uint64_t> mask);
    // Takes this one of the offered indices, or none of them (nullopt).
    void withdraw_offer(std::size_t number, std::optional<std::uint32_t> taken);
    // The reserved slot now leads to this communicator (nullptr: reserved again).
    void bind(std::uint32_t index, Communicator* comm);
    // How many indices are taken, the predefined ones included.
    std::uint32_t live() const;
    // Are there so many that are not taken?
    bool has_free(std::uint32_t indices) const;
    // All communicators that are bound, by index.
    std::vector<Communicator*> all() const;
    // The same one by one, with the lock held, so that none of them is destroyed meanwhile: bind(index, nullptr) waits.
    // `act` calls no function of the table.
    void for_each(const std::function<void(const Communicator&)>& act) const;
    // The error code of a constructor for which `component` has found no index that is free in all members; notes why
    // that is and what helps (object/error_cause.h).
    int none_common(const char* component) noexcept;

private:
    using Slot = std::atomic<Communicator*>;

    void allocate();
    template <class Act>
    void for_each_bound(const Act& act) const;

    mutable ProgressLock _lock;
    std::uint32_t _limit = capacity - 1;
    using Word = std::uint64_t;
    static constexpr std::uint32_t word_bits = 64;
    bool is_taken(std::uint32_t index) const noexcept;
    void take(std::uint32_t index);
    std::uint32_t beyond_offers(std::uint32_t index) const noexcept; // the first one from here on that no offer has

    std::uint32_t _lowest_free = predefined; // no free index below it
    std::uint32_t _live = predefined;
    struct Offer {
        std::uint32_t from = 0; // the indices [from, to)
        std::uint32_t to = 0;
    };
    std::array<Offer, most_offers> _offers;
    std::vector<Word> _taken; // a bit each; grows with the highest index that was ever taken
    Slot* _slots = nullptr;   // `capacity` of them; only touched pages cost memory
};

} // namespace cid
} // namespace patchbay
