// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/delegation_counters.h"
#include "components/osc/rdma/failures.h"
#include "components/osc/rdma/mailbox.h"
#include "components/osc/rdma/stream_choice.h"
#include "core/progress/doorbell.h"
#include "core/progress/progress.h"

#include <chrono>
#include <memory>

namespace patchbay::osc::rdma {

class Mailboxes;

// The origin's side of delegated operations: the mailboxes of other members, and for which of them it is worth while to
// leave an operation to the process of the target.
class Delegations {
    struct Way;

public:
    enum class Outcome : std::uint8_t {
        done,     // complete at the target
        not_done, // nothing has been done: the caller carries the operation out itself
        failed,   // the target has failed while it carried the operation out
    };

    // The entry of this process at one member, for one operation of the calling thread.
    class Entry {
    public:
        Entry() = default;
        Entry(Entry&& other) noexcept
            : _way(std::exchange(other._way, nullptr)) {}
        Entry& operator=(Entry&&) = delete;
        ~Entry();
        explicit operator bool() const noexcept { return _way != nullptr; }
        std::size_t payload() const noexcept; // that it has room for
        StreamChoice& stream_choice() const noexcept;
        MailboxEntry& operator*() const noexcept;
        MailboxEntry* operator->() const noexcept { return &**this; }

    private:
        friend class Delegations;
        explicit Entry(Way* way) noexcept
            : _way(way) {}
        Way* _way = nullptr;
    };

    // Throws std::bad_alloc. `own`: those of this process, which it serves while it waits; may be null. `limit`: the
    // most bytes of an operation, which may be carried out in pieces. `patience`: how long a short operation that
    // is not claimed is left to the target; a long one in proportion to its time.
    Delegations(int size, Mailboxes* own, std::size_t limit, std::chrono::nanoseconds patience, Progress& progress,
        const Failures& failures, DelegationCounters& counters);
    ~Delegations();
    // Before the first use. `mailboxes`: where those of `member` are mapped.
    void add(int member, int own_rank, std::byte* mailboxes, const MailboxLayout& layout, Doorbell& bell) noexcept;

    // The entry for an operation with that many bytes, where it is likely to be served soon; otherwise an
    // empty one. Does not wait.
    Entry use(int member, std::size_t bytes) noexcept;
    // Leaves the operation that the caller has written into the entry to the target. Waits as long as the patience
    // lasts, and for an operation that the target has claimed until it has ended. Any lock that the caller holds is one
    // that pollers only try.
    Outcome run(Entry& entry) noexcept;
    // The same in two steps, between which this process does something else. collect() must follow post(). It leaves an
    // operation that the target has not begun to it no longer than a short one.
    void post(Entry& entry) noexcept;
    Outcome collect(Entry& entry) noexcept { return collect(entry, _patience); }
    // A put or get of more bytes than the entry has room for, by a stream through the entry; `piece`: see stream.h. The
    // caller has written kind and place into the entry. *done: how many bytes are complete, where not all are.
    Outcome stream(Entry& entry, std::byte* buffer, std::size_t bytes, std::size_t piece, std::size_t* done) noexcept;

private:
    // Whether the target has, or may take, the entry of a stream.
    enum class Posted : std::uint8_t { yes, no, taken_back, failed };
    Posted look_at_stream(Way& way, int& looks) noexcept;
    Outcome collect(Entry& entry, std::chrono::nanoseconds patience) noexcept;
    bool await_claim(MailboxEntry& entry, std::chrono::nanoseconds patience) noexcept;
    bool await_end(const Way& way, const MailboxEntry& entry) noexcept;
    void succeed(Way& way) noexcept;
    void fail(Way& way) noexcept;
    bool find_asleep(Way& way, std::uint32_t operations) noexcept;

    const std::unique_ptr<Way[]> _ways;
    Mailboxes* const _own;
    const std::size_t _limit;
    const std::chrono::nanoseconds _patience;
    Progress& _progress;
    const Failures& _failures;
    DelegationCounters& _counters;
};

} // namespace patchbay::osc::rdma
