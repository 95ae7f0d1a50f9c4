// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/delegations.h"

#include "components/common/window_copy.h"
#include "components/osc/rdma/mailboxes.h"
#include "components/osc/rdma/relax.h"
#include "components/osc/rdma/stream.h"
#include "core/base/payload_copy.h"
#include "core/progress/waiter.h"

#include <algorithm>

namespace patchbay::osc::rdma {

namespace {
// A target that sleeps in the library is woken after so many operations, and then serves those that follow. A wake that
// does not lead to as many served operations doubles the number.
constexpr std::uint32_t first_wake = 64;
constexpr std::uint32_t last_wake = 1u << 16;
// After an operation that the target has not claimed, so many are carried out directly: twice as many each time. That
// takes less time than a wait polls before it sleeps.
constexpr std::uint32_t most_skipped = 64;
// One of n bytes counts for 1 + n / 16 KiB operations, because it takes as long.
constexpr std::uint32_t weight(std::size_t bytes) noexcept {
    return std::uint32_t(1 + bytes / (16 * 1024));
}
// From this weight on an operation takes longer than a process needs to wake.
constexpr std::uint32_t waits_for_wake = 16;
// Looks at an entry that the target has claimed, after which the wait is one that sleeps.
constexpr int looks_at_claimed = 5000;
// Looks at an entry between two looks at the clock.
constexpr int looks_per_time = 16;

bool has_ended(const MailboxEntry& entry) noexcept {
    return entry.state.load(std::memory_order_acquire) >= EntryState::done;
}
} // namespace

// What this process knows of the mailboxes of one member. All but `busy` belongs to the thread that has set it.
struct alignas(64) Delegations::Way {
    MailboxEntry* entry = nullptr; // null: it has none
    std::atomic<std::uint64_t>* hints = nullptr;
    std::uint64_t hint = 0; // 0: the target looks at the entry itself
    Doorbell* bell = nullptr;
    std::uint32_t payload = 0;
    int member = 0;
    std::atomic<bool> busy{false};
    std::uint8_t skips = 0;    // how many operations were carried out directly after the last miss
    std::uint32_t weight = 1;  // of the present operation
    std::uint32_t skipped = 0; // how many are still to be carried out directly
    std::uint32_t asleep = 0;  // operations that found the target asleep
    std::uint32_t wake_after = first_wake;
    std::uint32_t served = 0; // since it was woken
    PayloadCopy payload_copy{Stores::automatic};
    StreamChoice stream_choice;
};

Delegations::Delegations(int size, Mailboxes* own, std::size_t limit, std::chrono::nanoseconds patience,
    Progress& progress, const Failures& failures, DelegationCounters& counters)
    : _ways(new Way[std::size_t(size)]),
      _own(own),
      _limit(limit),
      _patience(patience),
      _progress(progress),
      _failures(failures),
      _counters(counters) {}

Delegations::~Delegations() = default;

Delegations::Entry::~Entry() {
    if (_way != nullptr) {
        _way->busy.store(false, std::memory_order_release);
    }
}

MailboxEntry& Delegations::Entry::operator*() const noexcept {
    return *_way->entry;
}

void Delegations::add(
    int member, int own_rank, std::byte* mailboxes, const MailboxLayout& layout, Doorbell& bell) noexcept {
    Way& way = _ways[std::size_t(member)];
    const std::size_t number = MailboxLayout::entry_of(own_rank, member);
    way.entry = &layout.at(mailboxes, number);
    way.hints = &MailboxLayout::hints(mailboxes);
    way.hint = layout.entries() == 1 ? 0 : std::uint64_t(1) << number % 64;
    way.bell = &bell;
    way.payload = std::uint32_t(layout.payload());
    way.member = member;
}

std::size_t Delegations::Entry::payload() const noexcept {
    return _way->payload;
}

StreamChoice& Delegations::Entry::stream_choice() const noexcept {
    return _way->stream_choice;
}

Delegations::Entry Delegations::use(int member, std::size_t bytes) noexcept {
    Way& way = _ways[std::size_t(member)];
    if (way.entry == nullptr || bytes > _limit || way.busy.exchange(true, std::memory_order_acquire)) {
        return {};
    }
    Entry entry(&way);
    if (way.bell->must_be_rung()) [[unlikely]] {
        const bool is_woken = find_asleep(way, weight(bytes));
        if (!is_woken || weight(bytes) < waits_for_wake) {
            return {};
        }
    } else if (way.skipped > 0) [[unlikely]] {
        way.skipped -= std::min(way.skipped, weight(bytes));
        return {};
    }
    way.weight = weight(bytes);
    return entry;
}

// To wake the target takes a system call, and it needs longer to look than the operation takes directly. But one that
// many operations reach then serves them all.
bool Delegations::find_asleep(Way& way, std::uint32_t operations) noexcept {
    way.asleep += operations;
    if (way.asleep < way.wake_after) {
        return false;
    }
    const bool was_useful = way.served >= way.wake_after;
    way.wake_after = was_useful ? first_wake : std::min(way.wake_after * 2, last_wake);
    way.asleep = 0;
    way.served = 0;
    way.skipped = 0;
    way.bell->ring();
    return true;
}

Delegations::Outcome Delegations::run(Entry& used) noexcept {
    post(used);
    return collect(used, _patience * used._way->weight);
}

void Delegations::post(Entry& used) noexcept {
    const Way& way = *used._way;
    way.entry->state.store(EntryState::posted, std::memory_order_release);
    if (way.hint != 0) {
        way.hints->fetch_or(way.hint, std::memory_order_release);
    }
}

Delegations::Outcome Delegations::collect(Entry& used, std::chrono::nanoseconds patience) noexcept {
    Way& way = *used._way;
    MailboxEntry& entry = *way.entry;
    if (!await_claim(entry, patience)) {
        fail(way);
        return Outcome::not_done;
    }
    if (!has_ended(entry) && !await_end(way, entry)) {
        return Outcome::failed;
    }
    if (entry.state.load(std::memory_order_relaxed) == EntryState::declined) {
        return Outcome::not_done;
    }
    succeed(way);
    return Outcome::done;
}

Delegations::Outcome Delegations::stream(
    Entry& used, std::byte* buffer, std::size_t bytes, std::size_t piece, std::size_t* done) noexcept {
    Way& way = *used._way;
    MailboxEntry& entry = *way.entry;
    entry.bytes = std::uint32_t(bytes);
    entry.piece = std::uint32_t(piece);
    const bool is_put = entry.kind == EntryKind::stream_put;
    Stream stream(entry, way.payload);
    stream.begin();
    const std::uint32_t pieces = stream.pieces();
    std::uint32_t own = 0;
    bool posted = false;
    auto state = Posted::yes;
    for (int looks = 0;;) {
        // After the target has left the entry, this is the last count.
        const std::uint32_t others = stream.by_target().load(std::memory_order_acquire);
        const bool may_copy = own < pieces && stream.origin_may_copy(own, others);
        if (may_copy) {
            std::byte* const here = buffer + stream.offset(own);
            is_put ? way.payload_copy.copy(stream.half(own), here, stream.size(own))
                   : common::copy_window(here, stream.half(own), stream.size(own));
            stream.by_origin().store(++own, std::memory_order_release);
            looks = 0;
        }
        if (!posted) {
            if (own == pieces && others == pieces) {
                break;
            }
            if (others < pieces && stream.target_may_copy(others, own)) {
                post(used);
                posted = true;
            }
        } else if (!may_copy) {
            state = look_at_stream(way, looks);
            posted = state != Posted::no;
            if (state == Posted::taken_back || state == Posted::failed) {
                break;
            }
        }
    }
    const std::uint32_t complete = is_put ? std::min(own, stream.by_target().load(std::memory_order_relaxed)) : own;
    *done = std::min(stream.offset(complete), bytes);
    return *done == bytes ? Outcome::done : state == Posted::failed ? Outcome::failed : Outcome::not_done;
}

// Waits a little for the target, or until it has left the entry.
Delegations::Posted Delegations::look_at_stream(Way& way, int& looks) noexcept {
    MailboxEntry& entry = *way.entry;
    switch (entry.state.load(std::memory_order_acquire)) {
    case EntryState::posted:
        if (await_claim(entry, _patience * way.weight)) {
            return Posted::yes;
        }
        fail(way);
        return Posted::taken_back;
    case EntryState::claimed:
        relax();
        if (++looks < looks_at_claimed) {
            return Posted::yes;
        }
        looks = 0;
        return await_end(way, entry) ? Posted::yes : Posted::failed; // it has lost its core, or has failed
    case EntryState::done:
        succeed(way);
        return Posted::no;
    case EntryState::free:
    case EntryState::declined:
        break;
    }
    return Posted::taken_back;
}

// false: the operation has been taken back.
bool Delegations::await_claim(MailboxEntry& entry, std::chrono::nanoseconds patience) noexcept {
    using Clock = std::chrono::steady_clock;
    Clock::time_point end{};
    for (int looks = 1;; ++looks) {
        if (entry.state.load(std::memory_order_acquire) != EntryState::posted) {
            return true;
        }
        if (_own != nullptr) {
            _own->serve(false); // another one that waits likewise for this process goes on
        }
        relax();
        if (looks % looks_per_time == 0) {
            const Clock::time_point now = Clock::now();
            if (end == Clock::time_point{}) {
                end = now + patience;
            } else if (now >= end) {
                auto state = EntryState::posted;
                return !entry.state.compare_exchange_strong(
                    state, EntryState::free, std::memory_order_acquire, std::memory_order_acquire);
            }
        }
    }
}

// The target carries the operation out, unless its core has been taken from it, or it fails. false: it has failed.
bool Delegations::await_end(const Way& way, const MailboxEntry& entry) noexcept {
    for (int looks = 1000; looks > 0; --looks) {
        if (has_ended(entry)) {
            return true;
        }
        relax();
    }
    std::uint32_t seen = 0; // failures that were looked at
    for (;;) {
        wait_until(_progress, [&] { return has_ended(entry) || _failures.count() != seen; });
        if (has_ended(entry)) {
            return true;
        }
        seen = _failures.count();
        if (_failures.has_failed(way.member)) {
            return false;
        }
    }
}

void Delegations::succeed(Way& way) noexcept {
    _counters.add(DelegationCounters::delegated);
    way.skips = 0;
    ++way.served;
}

void Delegations::fail(Way& way) noexcept {
    _counters.add(DelegationCounters::retracted);
    way.skips = std::uint8_t(std::clamp<std::uint32_t>(way.skips * 2u, 1, most_skipped));
    way.skipped = way.skips * way.weight;
}

} // namespace patchbay::osc::rdma
