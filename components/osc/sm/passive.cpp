// SPDX-License-Identifier: BSD-3-Clause
// Passive target: locks, and the completion of operations.
#include "components/osc/sm/module.h"

namespace patchbay::osc::sm {

int Sm::lock(bool exclusive, int rank, int assertion) noexcept {
    if ((assertion & MPI_MODE_NOCHECK) != 0) {
        peer(rank).held = Held::unchecked;
        std::atomic_thread_fence(std::memory_order_acquire);
        return MPI_SUCCESS;
    }
    return take_lock(exclusive, rank);
}

int Sm::take_lock(bool exclusive, int rank) noexcept {
    Peer& target = peer(rank);
    // Before the ticket is taken: those who wait for a process that has failed find it here.
    target.own_ticket->store(1, std::memory_order_relaxed);
    const TicketQueue queue = queue_of(target);
    const auto wait = [&](const auto& done) { return wait_for_lock(rank, done); };
    const int code = exclusive ? target.control->lock.lock_exclusive(queue, wait, target.turn)
                               : target.control->lock.lock_shared(queue, wait, target.turn, ringer());
    if (code == MPI_SUCCESS) {
        target.held = exclusive ? Held::exclusive : Held::shared;
    }
    return code;
}

template <class Done>
[[gnu::noinline]] int Sm::wait_for_lock(int rank, const Done& done) noexcept {
    return _waits.until(done, [&] {
        for (Peer& member : _peers) {
            if (process_has_ended(member.pid) &&
                member.control->tickets(size())[rank].load(std::memory_order_relaxed) != 0) {
                return true;
            }
        }
        return false;
    });
}

void Sm::leave_lock(int rank) noexcept {
    Peer& target = peer(rank);
    const Held held = target.held;
    target.held = Held::nothing;
    if (held == Held::exclusive) {
        target.control->lock.unlock_exclusive(queue_of(target), target.turn, ringer());
    } else if (held == Held::shared) {
        target.control->lock.unlock_shared(queue_of(target), ringer());
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return;
    }
    target.own_ticket->store(0, std::memory_order_relaxed);
}

int Sm::unlock(int rank) noexcept {
    leave_lock(rank);
    return MPI_SUCCESS;
}

// The locks are taken in the order of ranks by all: a member that waits holds only locks of lower ranks, so that
// members in lock_all() never wait for each other in a circle.
int Sm::lock_all(int assertion) noexcept {
    if ((assertion & MPI_MODE_NOCHECK) != 0) {
        return MPI_SUCCESS;
    }
    for (int rank = 0; rank < _window.size; ++rank) {
        if (const int code = take_lock(false, rank); code != MPI_SUCCESS) {
            while (rank > 0) {
                leave_lock(--rank);
            }
            return code;
        }
    }
    return MPI_SUCCESS;
}

int Sm::unlock_all() noexcept {
    for (int rank = 0; rank < _window.size; ++rank) {
        leave_lock(rank);
    }
    return MPI_SUCCESS;
}

// The operations are complete when they return, but a store of theirs may be visible to others only after a load that
// follows the flush. A fence prevents that.
int Sm::flush(int) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return MPI_SUCCESS;
}
int Sm::flush_all() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return MPI_SUCCESS;
}
int Sm::sync() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::sm
