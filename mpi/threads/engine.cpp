// SPDX-License-Identifier: BSD-3-Clause
// A thread from its start to its finish, cancelling, and progress.
#include "mpi/threads/engine.h"

#include "core/base/out_of_memory.h"
#include "mpi/threads/carrier.h"
#include "mpi/threads/cell_pool.h"
#include "object/datatype.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay::threads {

Engine::Engine(Progress& progress, Carrier* carrier, int thread, int threads)
    : _progress(progress),
      _bell(progress.doorbell()),
      _carrier(carrier),
      _thread(thread),
      _looks(carrier == nullptr ? 16 : 2),
      _destinations(std::size_t(threads)),
      _blocked_in(std::size_t(threads), 0) {}

Engine::~Engine() = default;

void Engine::close() noexcept {
    const auto drop_all = [](auto& queue, const auto& also) {
        for (const Envelope* envelope = queue.front(); envelope != nullptr; envelope = queue.front()) {
            also(*envelope);
            drop(*envelope);
            queue.pop();
        }
    };
    drop_all(_inbox, [this](const Envelope& envelope) {
        if (envelope.kind == Kind::lane) {
            _lanes[_lane_count++] = envelope.lane;
        }
    });
    while (_lane_count > 0) {
        const std::unique_ptr<Lane> lane(_lanes[--_lane_count]);
        drop_all(*lane, [](const Envelope&) {});
    }
    while (!_early.empty()) {
        Unexpected* message = _early.pop_front();
        drop(message->envelope);
        delete message;
    }
    poll_arrivals();
    while (_arrived != nullptr) {
        std::exchange(_arrived, _arrived->next)->release();
    }
}

bool Engine::add(View& view) noexcept {
    try {
        _views.emplace(view.context, &view);
    } catch (const std::bad_alloc&) {
        return false;
    }
    for (Unexpected* message = _early.first(); message != nullptr;) {
        Unexpected* const next = _early.next(*message);
        if (message->envelope.context == view.context) {
            _early.erase(*message);
            view.unexpected.push_back(*message);
        }
        message = next;
    }
    return true;
}

// Messages whose sends are incomplete stay: their senders may cancel them.
void Engine::remove(View& view) noexcept {
    while (!view.unexpected.empty()) {
        Unexpected* message = view.unexpected.pop_front();
        if (message->envelope.kind == Kind::rendezvous || message->envelope.kind == Kind::remote) {
            _early.push_back(*message);
            continue;
        }
        drop(message->envelope);
        delete message;
    }
    _last_found = nullptr;
    _views.erase(view.context);
}

View* Engine::find(std::uint32_t context) noexcept {
    if (_last_found != nullptr && _last_found->context == context) [[likely]] {
        return _last_found;
    }
    const auto found = _views.find(context);
    return _last_found = found != _views.end() ? found->second : nullptr;
}

// A message that nobody will receive.
void Engine::drop(const Envelope& envelope) noexcept {
    if (envelope.kind == Kind::cell) {
        envelope.cell->release();
    }
}

// Cancelling

void Engine::cancel(RecvRequest& request) noexcept {
    if (request.posted) {
        request.view.posted.erase(request);
        request.posted = false;
        fill_empty_status(request.status);
        set_status_cancelled(request.status, true);
        request.complete();
    }
}

void Engine::cancel(SendRequest& request) noexcept {
    if (request.is_complete() || !request.is_active()) {
        return;
    }
    const Member& member = request.message.view.member(request.message.dest);
    if (request.queued) {
        _backlog.erase(request);
        request.queued = false;
        --_destinations[std::size_t(member.thread)].queued;
        set_status_cancelled(request.status, true);
        request.complete();
        return;
    }
    if (request.inner != nullptr && !request.withdrawing && !request.cancelled) {
        request.withdrawing =
            _carrier->withdraw(request.view.context, member, request.payload_tag, _thread) == MPI_SUCCESS;
        return;
    }
    if (!request.at_receiver || request.cancelled) {
        return;
    }
    if (member.engine == this) {
        cancel_unexpected({.request = &request, .engine = this, .data = nullptr}, request.view.context);
        return;
    }
    if (!request.cancelling && !ask_to_drop(request, *member.engine)) {
        request.cancelling = true;
        _backlog.insert_before(_backlog.first(), request); // its message is at the receiver already
    }
}

// false: there is no room at the receiver.
bool Engine::ask_to_drop(SendRequest& request, Engine& receiver) noexcept {
    const Claim claim = this->claim(receiver);
    if (claim.slot == nullptr) {
        return false;
    }
    claim.slot->envelope.kind = Kind::cancel;
    claim.slot->envelope.context = request.view.context;
    claim.slot->envelope.sender = {.request = &request, .engine = this, .data = nullptr};
    claim.publish();
    receiver.wake();
    return true;
}

template <class Predicate>
std::unique_ptr<Unexpected> Engine::take_unexpected(std::uint32_t context, const Predicate& is_it) noexcept {
    View* view = find(context);
    auto& messages = view != nullptr ? view->unexpected : _early;
    for (Unexpected* message = messages.first(); message != nullptr; message = messages.next(*message)) {
        if (is_it(std::as_const(message->envelope))) {
            messages.erase(*message);
            return std::unique_ptr<Unexpected>(message);
        }
    }
    return nullptr;
}

// Where the message has been received, its sender has got the request back already, which may not exist any more: a
// request of another thread may have its address.
void Engine::cancel_unexpected(const Envelope::Sender& sender, std::uint32_t context) noexcept {
    const auto message = take_unexpected(context, [&sender](const Envelope& envelope) {
        return envelope.kind == Kind::rendezvous && envelope.sender.request == sender.request &&
            envelope.sender.engine == sender.engine;
    });
    if (message != nullptr) {
        message->envelope.sender.request->cancelled = true;
        answer(message->envelope);
    }
}

// The sender is in another process, and its message came before the withdrawal. One that cannot be dropped stays where
// it is.
void Engine::withdraw_unexpected(const Envelope& withdrawal) noexcept {
    const auto message = take_unexpected(withdrawal.context, [this, &withdrawal](const Envelope& envelope) {
        return envelope.kind == Kind::remote && envelope.remote.process == withdrawal.remote.process &&
            envelope.remote.tag == withdrawal.remote.tag && drop_remote(envelope);
    });
    _carrier->answer(withdrawal, message != nullptr);
}

// A receive without room ends the transfer of the payload. false: out of memory.
bool Engine::drop_remote(const Envelope& envelope) noexcept {
    return unless_out_of_memory(false, [&] {
        _dropped.reserve(_dropped.size() + 1);
        Request* request = nullptr;
        if (_carrier->receive(envelope, nullptr, 0, *to_object<Datatype>(MPI_BYTE), &request) != MPI_SUCCESS) {
            return false;
        }
        _dropped.push_back(request);
        return true;
    });
}

// The request exists: it is not complete before that.
void Engine::end_withdrawal(const Envelope& answer) noexcept {
    const auto request = std::ranges::find_if(_transfers,
        [&answer](const ThreadRequest* one) { return one->withdrawing && one->payload_tag == answer.remote.tag; });
    if (request != _transfers.end()) {
        (*request)->withdrawing = false;
        static_cast<SendRequest*>(*request)->cancelled = answer.kind == Kind::withdrawn;
    }
}

// Progress

void Engine::give_back(SendRequest& request) noexcept {
    request.next_completed = _given_back.load(std::memory_order_relaxed);
    while (!_given_back.compare_exchange_weak(
        request.next_completed, &request, std::memory_order_release, std::memory_order_relaxed)) {
    }
    wake();
}

void Engine::arrive(Arrival& arrival) noexcept {
    arrival.next = _arrivals.load(std::memory_order_relaxed);
    while (!_arrivals.compare_exchange_weak(
        arrival.next, &arrival, std::memory_order_release, std::memory_order_relaxed)) {
    }
    wake();
}

bool Engine::deliver_at_once(const Envelope& envelope) noexcept {
    if (_polling || _arrived != nullptr || _arrivals.load(std::memory_order_relaxed) != nullptr) {
        return false;
    }
    _polling = true;
    const bool delivered = deliver(envelope);
    _polling = false;
    return delivered;
}

void Engine::take_arrivals() noexcept {
    if (!_polling) {
        _polling = true;
        poll_inbox();
        _polling = false;
    }
}

int Engine::poll() noexcept {
    if (_polling) {
        return 0; // inside a poll of the process that a poll of this thread makes
    }
    _polling = true;
    int events = poll_inbox();
    if (_given_back.load(std::memory_order_relaxed) != nullptr) {
        events += poll_given_back();
    }
    if (_carrier != nullptr) {
        events += poll_arrivals();
        events += poll_transfers();
        if (!_dropped.empty()) [[unlikely]] {
            events += poll_dropped();
        }
    }
    if (!_backlog.empty()) [[unlikely]] {
        events += poll_backlog();
    }
    _polling = false;
    return events;
}

template <class Queue>
int Engine::deliver_all(Queue& queue, int most) noexcept {
    int events = 0;
    for (const Envelope* envelope = queue.front(); envelope != nullptr && events < most; envelope = queue.front()) {
        if (!deliver(*envelope)) [[unlikely]] {
            break;
        }
        queue.pop();
        ++events;
    }
    return events;
}

int Engine::poll_inbox() noexcept {
    int events = 0;
    for (std::size_t i = 0; i < _lane_count; ++i) {
        events += deliver_all(*_lanes[i], int(Lane::slot_count));
    }
    return events + deliver_all(_inbox, int(Inbox::slot_count));
}

int Engine::poll_given_back() noexcept {
    int events = 0;
    SendRequest* request = _given_back.exchange(nullptr, std::memory_order_acquire);
    while (request != nullptr) {
        SendRequest* const next = request->next_completed;
        request->end();
        request = next;
        ++events;
    }
    return events;
}

int Engine::poll_arrivals() noexcept {
    if (_arrivals.load(std::memory_order_relaxed) != nullptr) {
        Arrival* newest = _arrivals.exchange(nullptr, std::memory_order_acquire);
        Arrival* in_order = nullptr;
        while (newest != nullptr) {
            Arrival* const before = newest->next;
            newest->next = in_order;
            in_order = newest;
            newest = before;
        }
        Arrival** end = &_arrived;
        while (*end != nullptr) {
            end = &(*end)->next;
        }
        *end = in_order;
    }
    int events = 0;
    while (_arrived != nullptr && _polling) {
        Arrival* const arrival = _arrived;
        Arrival* const next = arrival->next;
        const bool in_cell = arrival->envelope.kind == Kind::cell; // then the receiver releases it
        const Envelope envelope = arrival->envelope;
        if (!deliver(envelope)) {
            break;
        }
        if (!in_cell) {
            arrival->release();
        }
        _arrived = next;
        ++events;
    }
    return events;
}

int Engine::poll_backlog() noexcept {
    int events = 0;
    ++_pass;
    for (SendRequest* request = _backlog.first(); request != nullptr;) {
        SendRequest* const next = _backlog.next(*request);
        const auto thread = std::size_t(request->message.view.member(request->message.dest).thread);
        if (_blocked_in[thread] != _pass) {
            if (attempt_again(*request)) {
                ++events;
            } else {
                _blocked_in[thread] = _pass;
            }
        }
        request = next;
    }
    return events;
}

// Of the backlog. false: there still is no room at the receiver. The request may not exist afterwards.
bool Engine::attempt_again(SendRequest& request) noexcept {
    const Member& member = request.message.view.member(request.message.dest);
    if (request.cancelling) {
        const bool asked = ask_to_drop(request, *member.engine);
        if (asked) {
            end_cancelling(request);
        }
        return asked;
    }
    const Sent sent = attempt(request.message, &request);
    if (sent == Sent::full) {
        return false;
    }
    _backlog.erase(request);
    request.queued = false;
    --_destinations[std::size_t(member.thread)].queued;
    if (sent != Sent::under_way) {
        request.error = sent == Sent::no_memory ? MPI_ERR_NO_MEM : request.error;
        request.complete();
    }
    return true;
}

int Engine::poll_transfers() noexcept {
    int events = 0;
    for (std::size_t i = 0; i < _transfers.size();) {
        ThreadRequest& request = *_transfers[i];
        if (!request.inner->is_complete() || request.withdrawing) {
            ++i;
            continue;
        }
        _transfers[i] = _transfers.back();
        _transfers.pop_back();
        Request& inner = *std::exchange(request.inner, nullptr);
        request.error = inner.error;
        set_status_bytes(request.status, status_bytes(inner.status));
        inner.recycle();
        request.end_transfer();
        ++events;
    }
    return events;
}

int Engine::poll_dropped() noexcept {
    return int(std::erase_if(_dropped, [](Request* request) {
        const bool complete = request->is_complete();
        if (complete) {
            request->recycle();
        }
        return complete;
    }));
}

} // namespace patchbay::threads
