// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/fair_lock.h"

#include "components/osc/rdma/await.h"
#include "components/osc/rdma/errors.h"

namespace patchbay::osc::rdma {

namespace {
// What a process writes to its word of `waiter`: its ticket, what it waits for, and its rank. Never 0.
constexpr std::uint64_t entry_bit = std::uint64_t(1) << 63;
constexpr std::uint64_t exclusive_bit = std::uint64_t(1) << 24;
constexpr std::uint64_t member_mask = exclusive_bit - 1;

constexpr std::uint64_t entry_without_member(std::uint64_t ticket, bool exclusive) noexcept {
    return entry_bit | (ticket << 25 & (entry_bit - 1)) | (exclusive ? exclusive_bit : 0);
}
} // namespace

int FairLock::acquire(int member, bool exclusive) noexcept {
    if (_failures.has_failed(member)) [[unlikely]] {
        return report_failed_member(member);
    }
    std::uint64_t ticket = 0;
    std::uint64_t turn = 0;
    int code = _words.set(member, _at.intent + Word(_words.rank), 1);
    if (code == MPI_SUCCESS) {
        code = _words.fetch_add(member, _at.tickets, 1, ticket);
    }
    if (code == MPI_SUCCESS) {
        code = _words.load(member, exclusive ? _at.ended : _at.read, turn);
    }
    if (code != MPI_SUCCESS) [[unlikely]] {
        return code;
    }
    if (turn != ticket) [[unlikely]] {
        return wait(member, exclusive, ticket);
    }
    return exclusive ? MPI_SUCCESS : admit_readers(member, ticket + 1);
}

// While no ticket is in use, none can come to be: `ended` is that of the next one, and nobody else can change it before
// the next one is taken.
bool FairLock::try_acquire(int member) noexcept {
    std::uint64_t ended = 0;
    std::uint64_t tickets = 0;
    if (_failures.has_failed(member) || _words.load(member, _at.ended, ended) != MPI_SUCCESS ||
        _words.load(member, _at.tickets, tickets) != MPI_SUCCESS || ended != tickets) {
        return false;
    }
    bool taken = false;
    const Word intent = _at.intent + Word(_words.rank);
    if (_words.set(member, intent, 1) == MPI_SUCCESS) {
        const int code = _words.compare_swap(member, _at.tickets, ended, ended + 1, taken);
        if (code == MPI_SUCCESS && !taken) {
            _words.set(member, intent, 0);
        }
    }
    return taken;
}

int FairLock::wait(int member, bool exclusive, std::uint64_t ticket) noexcept {
    const std::uint64_t entry = entry_without_member(ticket, exclusive) | std::uint64_t(_words.rank);
    const Word place = waiter_of(ticket);
    std::uint64_t turn = 0;
    int code = _words.exchange(member, place, entry);
    if (code == MPI_SUCCESS) {
        code = _words.load(member, exclusive ? _at.ended : _at.read, turn);
    }
    bool withdrawn = false;
    if (code == MPI_SUCCESS && turn == ticket) {
        code = _words.compare_swap(member, place, entry, 0, withdrawn);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (withdrawn) { // no process has seen the entry, and none will grant it
        return exclusive ? MPI_SUCCESS : admit_readers(member, ticket + 1);
    }
    const Words::Place& granted = _words.own(_at.granted + Word(member));
    const auto has_it = [&] { return granted.load(std::memory_order_acquire) == ticket + 1; };
    std::uint32_t seen = 0; // failures that were looked at
    for (;;) {
        await(_progress, [&] { return has_it() || _failures.count() != seen; });
        if (has_it()) {
            return MPI_SUCCESS;
        }
        seen = _failures.count();
        if (const int failed = failed_user(member); failed >= 0) {
            return report_failed_member(failed);
        }
    }
}

// The member that keeps the lock from being released; -1: none. One that fails leaves the word of its intent behind,
// wherever in the protocol it was.
int FairLock::failed_user(int member) noexcept {
    if (_failures.has_failed(member)) {
        return member;
    }
    for (int other = 0; other < _words.size; ++other) {
        std::uint64_t wants = 0;
        if (_failures.has_failed(other) &&
            (_words.load(member, _at.intent + Word(other), wants) != MPI_SUCCESS || wants != 0)) {
            return other;
        }
    }
    return -1;
}

// Sets `waiter` to the entry of the process that waits with this ticket, and which nobody else will grant; 0: none.
int FairLock::admit_one(int member, bool exclusive, std::uint64_t ticket, std::uint64_t& waiter) noexcept {
    const Word place = waiter_of(ticket);
    waiter = 0;
    std::uint64_t entry = 0;
    int code = _words.load(member, place, entry);
    if (code != MPI_SUCCESS || (entry & ~member_mask) != entry_without_member(ticket, exclusive)) {
        return code;
    }
    bool taken = false;
    code = _words.compare_swap(member, place, entry, 0, taken);
    waiter = taken ? entry : 0;
    return code;
}

// If the one who waits has failed, those behind it learn that from its intent.
int FairLock::grant(int member, std::uint64_t waiter, std::uint64_t ticket) noexcept {
    const int code = _words.set_and_wake(int(waiter & member_mask), _at.granted + Word(member), ticket + 1);
    return code == MPI_ERR_PROC_ABORTED ? MPI_SUCCESS : code;
}

// The caller has admitted the reader with the ticket before `next`. Nobody else changes `read` until the one with
// ticket `next` is admitted: by this loop, or, where its entry is not there yet, by itself.
int FairLock::admit_readers(int member, std::uint64_t next) noexcept {
    int code = _words.exchange(member, _at.read, next);
    while (code == MPI_SUCCESS) {
        std::uint64_t waiter = 0;
        code = admit_one(member, false, next, waiter);
        if (code != MPI_SUCCESS || waiter == 0) {
            break;
        }
        code = _words.exchange(member, _at.read, next + 1);
        if (code == MPI_SUCCESS) {
            code = grant(member, waiter, next);
        }
        ++next;
    }
    return code;
}

// A writer gives way to the readers behind it first: a process that ends its use between the two steps changes `ended`
// only, by an addition.
int FairLock::release(int member, bool exclusive) noexcept {
    int code = MPI_SUCCESS;
    if (exclusive) {
        std::uint64_t own = 0;
        code = _words.load(member, _at.read, own); // the ticket of this process while it writes
        if (code == MPI_SUCCESS) {
            code = admit_readers(member, own + 1);
        }
    }
    std::uint64_t before = 0;
    if (code == MPI_SUCCESS) {
        code = _words.fetch_add(member, _at.ended, 1, before);
    }
    std::uint64_t waiter = 0;
    if (code == MPI_SUCCESS) {
        code = admit_one(member, true, before + 1, waiter);
    }
    if (code == MPI_SUCCESS && waiter != 0) {
        code = grant(member, waiter, before + 1);
    }
    return code == MPI_SUCCESS ? _words.set(member, _at.intent + Word(_words.rank), 0) : code;
}

} // namespace patchbay::osc::rdma
