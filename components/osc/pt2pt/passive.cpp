// SPDX-License-Identifier: BSD-3-Clause
// Passive target: locks and flushes.
#include "components/osc/pt2pt/module.h"
#include "core/progress/poll_or_yield.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <new>

namespace patchbay::osc::pt2pt {

namespace {

int no_memory() noexcept {
    return note_cause(MPI_ERR_NO_MEM, "osc/pt2pt: no memory for a synchronization");
}

} // namespace

// The program may access this memory by load and store as soon as lock() has returned.
bool Pt2pt::must_hold(int rank) const noexcept {
    return _window.members[std::size_t(rank)].shared != 0;
}

int Pt2pt::lock(bool exclusive, int rank, int assertion) noexcept {
    if ((assertion & MPI_MODE_NOCHECK) != 0) {
        return MPI_SUCCESS;
    }
    return rank == _window.rank ? lock_self(exclusive) : lock_peer(rank, exclusive);
}

bool Pt2pt::lacks_lock(int rank) noexcept {
    const Guard guard(_lock);
    return _peers[std::size_t(rank)]->lacks_lock();
}

// An error is reported by the calls for this target.
void Pt2pt::hold_lock(int rank) noexcept {
    Awaited one[1];
    {
        UniqueLock lock(_lock);
        Peer& peer = *_peers[std::size_t(rank)];
        if (!peer.lacks_lock() || ask_for_acknowledgement(peer, lock) != MPI_SUCCESS) {
            return;
        }
        *one = now(peer);
    }
    static_cast<void>(wait_for_peers(one, [](const Awaited& of) { return of.peer->done >= of.peer->lock_number; }));
}

int Pt2pt::lock_self(bool exclusive) noexcept {
    {
        const Guard guard(_lock);
        try {
            const LockQueue::Answer answer = _locks.request(_window.rank, exclusive);
            if (answer != LockQueue::Answer::waits) {
                return answer == LockQueue::Answer::granted ? MPI_SUCCESS : report_refused_lock();
            }
        } catch (const std::bad_alloc&) {
            return no_memory();
        }
        _own_lock_refused = false;
    }
    wait_locked(
        [this] { return _own_lock_refused || _locks.is_held_by(_window.rank); }, [this] { watch_lock_users(); });
    const Guard guard(_lock);
    return _own_lock_refused ? report_refused_lock() : MPI_SUCCESS;
}

int Pt2pt::unlock_self() noexcept {
    {
        const Guard guard(_lock);
        try {
            release_lock(_window.rank);
            advance_all();
        } catch (const std::bad_alloc&) {
            out_of_memory();
        }
    }
    _progress.wake();
    poll_or_yield(_progress);
    return MPI_SUCCESS;
}

int Pt2pt::lock_peer(int rank, bool exclusive) noexcept {
    UniqueLock lock(_lock);
    Peer* const peer = find_peer(rank);
    if (peer == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    int code = reserve(*peer, 1, lock);
    code = code == MPI_SUCCESS ? ask_for_lock(*peer, exclusive ? flag_exclusive : 0) : code;
    lock.unlock();
    if (code != MPI_SUCCESS || !must_hold(rank)) {
        return code;
    }
    code = wait_for_lock(*peer);
    if (code != MPI_SUCCESS) {
        const Guard guard(_lock);
        give_back_lock(*peer);
    }
    return code;
}

int Pt2pt::wait_for_lock(Peer& peer) noexcept {
    Awaited one[1];
    {
        const Guard guard(_lock);
        *one = now(peer);
    }
    const int code = wait_for_peers(one, [](const Awaited& of) { return of.peer->done >= of.sent; });
    const Guard guard(_lock);
    return code == MPI_SUCCESS && peer.lock_refused ? take_error(peer) : code;
}

// Where it has been refused the target learns that the epoch is over.
void Pt2pt::give_back_lock(Peer& peer) noexcept {
    peer.locked = false;
    peer.lock_refused = false;
    if (!peer.failed) {
        static_cast<void>(send_numbered(peer, Kind::unlock, 0));
    }
}

int Pt2pt::ask_for_lock(Peer& peer, std::uint8_t flags) noexcept {
    peer.lock_refused = false;
    const int all_of_them = flags | (must_hold(peer.rank) ? flag_acknowledge : 0);
    const int code = send_numbered(peer, Kind::lock, std::uint8_t(all_of_them));
    peer.locked = code == MPI_SUCCESS;
    peer.lock_number = peer.sent;
    _lock_order.note_asked(peer.rank);
    return code;
}

int Pt2pt::ask_for_acknowledgement(Peer& peer, UniqueLock& lock) noexcept {
    if (peer.done == peer.sent || peer.asked == peer.sent) {
        return MPI_SUCCESS;
    }
    const int code = reserve(peer, 1, lock);
    return code == MPI_SUCCESS ? send_numbered(peer, Kind::flush, flag_acknowledge) : code;
}

int Pt2pt::ask_for_unlock(Peer& peer, UniqueLock& lock) noexcept {
    if (!peer.locked) {
        return ask_for_acknowledgement(peer, lock);
    }
    peer.locked = false;
    const int code = reserve(peer, 1, lock);
    return code == MPI_SUCCESS ? send_numbered(peer, Kind::unlock, flag_acknowledge) : code;
}

int Pt2pt::wait_until_complete(std::span<const Awaited> all, Where where) noexcept {
    const int failure = wait_for_peers(all, [where](const Awaited& one) {
        const Operation* const first = one.peer->operations.first();
        return (first == nullptr || first->number >= one.operations) &&
            (where == Where::at_origin || one.peer->done >= one.sent);
    });
    const Guard guard(_lock);
    int code = failure;
    for (const Awaited& one : all) {
        Peer& peer = *one.peer;
        const bool has_error = peer.error != MPI_SUCCESS || peer.lock_refused;
        code = first_error(code, has_error ? take_error(peer) : MPI_SUCCESS);
        peer.lock_refused = peer.lock_refused && peer.locked;
    }
    return code;
}

// ask(peer, lock) sends what makes the target acknowledge. Each of these functions polls, also where there is nothing
// to wait for: a program may call it in a loop until another process has changed the memory of this one.
template <class Ask>
int Pt2pt::complete_peer(int rank, Where where, const Ask& ask) noexcept {
    poll_or_yield(_progress);
    Awaited one[1];
    int code = MPI_SUCCESS;
    {
        UniqueLock lock(_lock);
        Peer* const peer = _peers[std::size_t(rank)].get();
        if (peer == nullptr || rank == _window.rank) {
            return MPI_SUCCESS;
        }
        code = ask(*peer, lock);
        *one = now(*peer);
    }
    return first_error(wait_until_complete(one, where), code);
}

template <class Ask>
int Pt2pt::complete_all(Where where, const Ask& ask) noexcept {
    poll_or_yield(_progress);
    int code = MPI_SUCCESS;
    std::vector<Awaited> all;
    try {
        UniqueLock lock(_lock);
        all.reserve(_peers.size());
        for (std::size_t rank = 0; rank < _peers.size(); ++rank) {
            Peer* const peer = _peers[rank].get();
            if (peer != nullptr && peer->rank != _window.rank) {
                code = first_error(code, ask(*peer, lock));
                all.push_back(now(*peer));
            }
        }
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    return first_error(wait_until_complete(all, where), code);
}

int Pt2pt::unlock(int rank) noexcept {
    if (rank == _window.rank) {
        return unlock_self();
    }
    return complete_peer(
        rank, Where::at_target, [this](Peer& peer, UniqueLock& lock) { return ask_for_unlock(peer, lock); });
}

int Pt2pt::lock_all(int assertion) noexcept {
    _unchecked_all = (assertion & MPI_MODE_NOCHECK) != 0;
    _locked_all = true;
    if (_unchecked_all) {
        return MPI_SUCCESS;
    }
    // The locks of the others are asked for with the first operation, unless the program can access them without one.
    // Those are taken in the order of ranks: a member that waits holds locks of lower ranks only, so that members never
    // wait for each other in a circle.
    int code = MPI_SUCCESS;
    for (int rank = 0; rank < _window.size && code == MPI_SUCCESS; ++rank) {
        if (rank == _window.rank) {
            code = lock_self(false);
        } else if (must_hold(rank)) {
            code = lock_peer(rank, false);
        }
        if (code != MPI_SUCCESS) {
            give_back_locks(rank);
        }
    }
    return code;
}

// MPI_Win_lock_all has no epoch after an error.
void Pt2pt::give_back_locks(int end) noexcept {
    _locked_all = false;
    for (int rank = 0; rank < end; ++rank) {
        if (rank == _window.rank) {
            static_cast<void>(unlock_self());
        } else if (must_hold(rank)) {
            const Guard guard(_lock);
            give_back_lock(*_peers[std::size_t(rank)]);
        }
    }
}

int Pt2pt::unlock_all() noexcept {
    const int code =
        complete_all(Where::at_target, [this](Peer& peer, UniqueLock& lock) { return ask_for_unlock(peer, lock); });
    _locked_all = false;
    return _unchecked_all ? code : first_error(code, unlock_self());
}

int Pt2pt::flush(int rank) noexcept {
    return complete_peer(
        rank, Where::at_target, [this](Peer& peer, UniqueLock& lock) { return ask_for_acknowledgement(peer, lock); });
}

int Pt2pt::flush_all() noexcept {
    return complete_all(
        Where::at_target, [this](Peer& peer, UniqueLock& lock) { return ask_for_acknowledgement(peer, lock); });
}

int Pt2pt::flush_local(int rank) noexcept {
    return complete_peer(rank, Where::at_origin, [](Peer&, UniqueLock&) { return MPI_SUCCESS; });
}

int Pt2pt::flush_local_all() noexcept {
    return complete_all(Where::at_origin, [](Peer&, UniqueLock&) { return MPI_SUCCESS; });
}

} // namespace patchbay::osc::pt2pt
