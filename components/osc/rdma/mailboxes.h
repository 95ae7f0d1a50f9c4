// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/delegation_counters.h"
#include "components/osc/rdma/mailbox.h"
#include "components/osc/rdma/members.h"
#include "components/osc/rdma/update_lock.h"
#include "core/base/payload_copy.h"
#include "core/progress/doorbell.h"
#include "core/progress/progress.h"

#include <memory>
#include <vector>

namespace patchbay::osc::rdma {

class OwnRegions;

// The target's side of delegated operations: looks for posted entries in the mailboxes of this process whenever it
// polls, and carries them out on its window memory.
class Mailboxes {
public:
    // The window memory of this process: `bytes` bytes from `base` on, or the regions of a dynamic window, whose places
    // are addresses.
    struct Memory {
        std::byte* base;
        std::uint64_t bytes;
        OwnRegions* regions = nullptr;
    };
    // Throws std::bad_alloc. `bells`: of the members, by rank. The mailboxes are zero-filled, and others may use them
    // already. `members`: by rank, the ways to the buffers of
    // origins.
    Mailboxes(std::byte* mailboxes, const MailboxLayout& layout, int own_rank, const Memory& memory,
        std::unique_ptr<Doorbell*[]> bells, UpdateLock& updates, Peer* members, Progress& progress,
        DelegationCounters& counters);
    // No poller runs any more afterwards. Not inside of a poller.
    ~Mailboxes();

    // Returns how many operations have been carried out or declined. Any thread, several at once.
    // `patiently`: waits some time for the next piece of a stream. Not where this process is itself the origin of
    // an operation, for which the other one may wait.
    int serve(bool patiently = true) noexcept {
        if (_layout.entries() == 1) {
            return is_posted(0) ? serve_entry(0, patiently) : 0;
        }
        return _hints.load(std::memory_order_relaxed) == 0 ? 0 : serve_hints(patiently);
    }

private:
    bool is_posted(std::size_t entry) const noexcept {
        return _layout.at(_mailboxes, entry).state.load(std::memory_order_relaxed) == EntryState::posted;
    }
    std::byte* find(std::uint64_t place, std::uint64_t bytes) const noexcept;
    [[gnu::noinline]] int serve_entry(std::size_t entry, bool patiently) noexcept;
    [[gnu::noinline]] int serve_hints(bool patiently) noexcept;
    bool carry_out(MailboxEntry& entry, std::size_t number, bool patiently) noexcept;
    bool copy_stream(MailboxEntry& entry, std::byte* memory, PayloadCopy& payload_copy, bool patiently) noexcept;
    bool copy_buffer(MailboxEntry& entry, std::byte* memory, int origin) noexcept;
    void update(MailboxEntry& entry, std::byte* memory) noexcept;

    std::byte* const _mailboxes;
    std::atomic<std::uint64_t>& _hints;
    const MailboxLayout _layout;
    const int _own_rank;
    const Memory _memory;
    const std::unique_ptr<Doorbell*[]> _bells;
    UpdateLock& _updates;
    Peer* const _members;
    std::vector<PayloadCopy> _payload_copies; // by entry; of the thread that has claimed the operation in it
    Progress& _progress;
    DelegationCounters& _counters;
    PollerHandle _poller;
};

} // namespace patchbay::osc::rdma
