// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/index_table.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

namespace patchbay::cid {

// Mask ownership: which allocation of this process may put its free indices into the mask.
//
// An allocation tries once to own the first segment, before it knows whether the other members have called the
// constructor, and may own it until they have. No allocation ever waits for the first segment. The other segments are
// for allocations that have failed there, and whose members have therefore all called: of these the one with the lowest
// number owns them, and the others wait until it has ended. One that comes back to the first segment, because the
// others are full, gives up after a number of refusals: the members of its owner may come only after that. An
// allocation has the same number in all processes, and no other one has that number, so that the lowest of all gets the
// ownership in every process.
//
// An allocation that waits holds up its other members, one of which may have begun a reduction before it knew of a
// lower number, and own the mask. Therefore, whenever the lowest one has failed twice, each of the others takes part in
// one reduction out of order, without the ownership, and so has it end: there is no cycle of waits. The lowest one
// fails once where another member took part out of order. Thread-safe.
class MaskOwnership {
public:
    MaskOwnership() = default;
    // `waits`: where threads wait for lower numbers to end.
    explicit MaskOwnership(Progress& waits) noexcept
        : _waits(&waits) {}

    // The first segment, until give_up().
    bool take_first(const void* who);
    struct Entry {
        std::uint64_t number;
        Link<Entry> link;
        bool takes_part = false;          // in one reduction out of order
        Continuation* follower = nullptr; // of an allocation that waits
    };
    // `entry` belongs to the caller, until leave(), which wakes the one that is the lowest then, and detaches what
    // is attached.
    void enter(Entry& entry) noexcept;
    void leave(Entry& entry) noexcept;
    // Whether begin() would let the allocation begin its next reduction.
    bool may_begin(const Entry& entry) const noexcept;
    enum class Begin : std::uint8_t { not_yet, out_of_order, as_lowest };
    Begin begin(Entry& entry) noexcept;
    // Counts `next` down when the allocation may begin; not attached where it may already.
    void attach(Entry& entry, Continuation& next) noexcept;
    // Reductions of the allocation fail because not all members own their masks: has the others end theirs.
    void note_failure(const Entry& entry) noexcept;
    // Takes the ownership if no allocation has it and none with a lower number is waiting. Held until give_up().
    bool take(std::uint64_t number, const void* who);
    void give_up(const void* who);

private:
    bool is_lowest(const Entry& entry) const noexcept { return _waiting.first() == &entry; }
    static bool detach(Entry& entry) noexcept;
    void wake(Entry& entry) noexcept;

    Progress* const _waits = nullptr;
    mutable std::mutex _mutex;
    using Entries = List<Entry, &Entry::link>;
    Entries _waiting;         // the lowest number first
    Entry* _newest = nullptr; // of these: the next one to enter is often behind it
    const void* _first = nullptr;
    const void* _holder = nullptr; // of the others
};

// One CID allocation by mask: each member whose turn it is puts a segment of its free indices, a bit each, into one
// reduction; the lowest bit that is left is free in all members. A member whose turn it is not makes all of them try
// again elsewhere.
class MaskAllocation final : public Allocation {
public:
    // `number`: the leader's, which no other CID allocation of the job has; nullopt in the other members.
    MaskAllocation(IndexTable& table, MaskOwnership& ownership, Counters& counters, const NewCommunicator& what,
        std::optional<std::uint64_t> number);
    ~MaskAllocation() override;

    int start() noexcept;
    bool ready() const noexcept override { return _waits ? _ownership.may_begin(_entry) : _what.members.ready(); }
    bool advance(int* code) noexcept override;
    int attach(Continuation& next) noexcept override;
    std::uint32_t rounds() const noexcept { return _rounds; }

private:
    static constexpr std::size_t segment_words = 64;
    static constexpr std::uint32_t segment = segment_words * 64;

    int reduce() noexcept;
    bool take_ownership();
    bool evaluate(int* code) noexcept;
    int finish(std::uint32_t index) noexcept;
    void end() noexcept;
    void withdraw(std::optional<std::uint32_t> taken) noexcept;

    IndexTable& _table;
    MaskOwnership& _ownership;
    Counters& _counters;
    const NewCommunicator _what;
    std::uint32_t _from = 0; // of the segment
    std::uint32_t _full = 0; // segments in which no index is free in all members
    int _refusals = 0;       // of the first segment, when all others are full
    bool _all_here = false;  // all members have come to the constructor
    bool _offers = false;    // it is our turn and the segment is on offer
    bool _waits = false;     // for lower numbers; no reduction is under way
    bool _is_lowest = false; // when the reduction that is under way began
    int _failures = 0;       // as the lowest one, since the others last took part out of order
    std::uint32_t _rounds = 0;
    MaskOwnership::Entry _entry{}; // among those that wait, when all members have come
    bool _has_entered = false;     // and this allocation has not ended
    std::uint64_t _number;         // the leader's; in the other members all bits until the first reduction has ended
    // The first word: bit 0 when every member owned its mask; the others are a RefusalWord. The second: the number.
    std::array<std::uint64_t, 2 + segment_words> _words;
};

} // namespace patchbay::cid
