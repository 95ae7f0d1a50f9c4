// SPDX-License-Identifier: BSD-3-Clause
#include "object/request.h"

#include <mutex>

namespace patchbay {

namespace {
Continuation* continuation_of(std::uintptr_t word, std::uintptr_t flags) noexcept {
    return reinterpret_cast<Continuation*>(word & ~flags);
}
} // namespace

bool Request::attach(Continuation& continuation) noexcept {
    static_assert(alignof(Continuation) > flag_bits);
    if (is_complete()) {
        return false;
    }
    bool attached = false;
    progress->with_thread_level([&](bool threaded) {
        continuation.count_up(threaded);
        std::uintptr_t expected = active_word;
        const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(&continuation) | active_bit;
        if (threaded) {
            attached =
                _word.compare_exchange_strong(expected, word, std::memory_order_release, std::memory_order_acquire);
        } else if (_word.load(std::memory_order_relaxed) == expected) {
            _word.store(word, std::memory_order_relaxed);
            attached = true;
        }
        if (!attached) { // complete meanwhile; the caller's count keeps the counter above zero
            continuation.count_down(threaded);
        }
    });
    return attached;
}

void Request::detach(Continuation& continuation) noexcept {
    progress->with_thread_level([&](bool threaded) {
        std::uintptr_t expected = reinterpret_cast<std::uintptr_t>(&continuation) | active_bit;
        bool detached = false;
        if (threaded) {
            detached = _word.compare_exchange_strong(expected, active_word, std::memory_order_acq_rel);
        } else if (_word.load(std::memory_order_relaxed) == expected) {
            _word.store(active_word, std::memory_order_relaxed);
            detached = true;
        }
        if (detached) {
            continuation.count_down(threaded);
        }
    });
}

void Request::enter_list() noexcept {
    if (comm == nullptr) {
        return;
    }
    const std::lock_guard lock(comm->mutex);
    _neighbours = {comm->persistent_requests, nullptr};
    if (_neighbours.next != nullptr) {
        _neighbours.next->_neighbours.previous = this;
    }
    comm->persistent_requests = this;
}

void Request::leave_list() noexcept {
    // The handle is not valid from here on, although an active request goes on.
    set_kind(ObjectKind::dead);
    if (comm == nullptr) {
        return;
    }
    const std::lock_guard lock(comm->mutex);
    const auto [next, previous] = _neighbours;
    (previous != nullptr ? previous->_neighbours.next : comm->persistent_requests) = next;
    if (next != nullptr) {
        next->_neighbours.previous = previous;
    }
}

std::int32_t Request::idle_references(const Communicator& comm) noexcept {
    const std::lock_guard lock(comm.mutex);
    std::int32_t references = 0;
    for (Request* request = comm.persistent_requests; request != nullptr; request = request->_neighbours.next) {
        if (!request->has_communication()) {
            references += request->references_to_comm();
        }
    }
    return references;
}

// That of a request with several starts is looked at by one thread at a time, as in has_completed_among_threads(); the
// other one learns in its next look, or is woken.
bool Request::has_communication() noexcept {
    if (most_starts != 1 && state() == State::complete) {
        if (_is_being_checked.exchange(true, std::memory_order_acquire)) {
            return true;
        }
        const bool later = has_later_communication();
        _is_being_checked.store(false, std::memory_order_release);
        if (later) {
            return true;
        }
    }
    return state() == State::active;
}

void Request::leave_all_to_polls(const Communicator& comm) noexcept {
    const std::lock_guard lock(comm.mutex);
    for (Request* request = comm.persistent_requests; request != nullptr; request = request->_neighbours.next) {
        if (request->state() == State::active) {
            request->leave_to_polls();
        }
    }
}

// The mutex also keeps a request that is complete then from being released: leave_list() takes it.
void Request::check_all(const Communicator& comm) noexcept {
    const std::lock_guard lock(comm.mutex);
    for (Request* request = comm.persistent_requests; request != nullptr; request = request->_neighbours.next) {
        if (request->state() == State::active) {
            static_cast<void>(request->has_completed());
        }
    }
}

// One thread may be in a completing call, and another one in check_all(). The one that finds the other one looking may
// go to sleep then.
bool Request::has_completed_among_threads() noexcept {
    if (_is_being_checked.exchange(true, std::memory_order_acquire)) {
        return is_complete();
    }
    check();
    const bool complete = is_complete();
    _is_being_checked.store(false, std::memory_order_release);
    if (complete) {
        progress->wake();
    }
    return complete;
}

// Of a request that was active when it was completed; `before` is the word that complete() has replaced. If the handle
// was not released, the request may not exist any more.
bool Request::end_owner(std::uintptr_t before, bool threaded) noexcept {
    const bool released = (before & released_bit) != 0;
    if (released) {
        retire_later(threaded);
    }
    if (Continuation* continuation = continuation_of(before, flag_bits)) {
        continuation->count_down(threaded);
    }
    return released;
}

void Request::retire_later(bool threaded) noexcept {
    _retirement.request = this;
    _retirement.run = [](ReadyItem& item) noexcept { static_cast<Retirement&>(item).request->retire(); };
    progress->ready_list().link(_retirement, threaded);
}

int Request::complete_outside() noexcept {
    const std::uintptr_t before = publish(true);
    if (Continuation* continuation = continuation_of(before, flag_bits)) {
        continuation->count_down(true);
    }
    return (before & released_bit) != 0 ? retire() : MPI_SUCCESS;
}

int Request::recycle_active() noexcept {
    prepare_release();
    std::uintptr_t word = _word.load(std::memory_order_acquire);
    while ((word & active_bit) != 0) {
        if (_word.compare_exchange_weak(
                word, word | released_bit, std::memory_order_acq_rel, std::memory_order_acquire)) {
            return MPI_SUCCESS;
        }
    }
    return retire();
}

} // namespace patchbay
