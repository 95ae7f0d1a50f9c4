// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/engine.h"

#include "core/progress/waiter.h"
#include "mpi/threads/carrier.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay::threads {

// The cells of an engine, which are used in turn. One that is still in use, because its message is unexpected at its
// receiver, is replaced by memory of the heap.
struct Cells {
    static constexpr std::size_t number = 16;
    struct alignas(64) One {
        Cell cell;
        alignas(64) std::byte memory[Engine::eager_limit];
    };
    std::array<One, number> all;

    Cells() noexcept {
        for (One& one : all) {
            one.cell.payload = one.memory;
        }
    }
};

void DeleteCells::operator()(Cells* cells) const noexcept {
    delete cells;
}

Engine::Engine(Progress& progress, Carrier* carrier, int thread, int threads)
    : _progress(progress),
      _carrier(carrier),
      _thread(thread),
      _backlog_to(std::size_t(threads), 0),
      _blocked_in(std::size_t(threads), 0) {}

Engine::~Engine() {
    while (const Envelope* envelope = _inbox.front()) {
        drop(*envelope);
        _inbox.pop();
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

void Engine::remove(View& view) noexcept {
    while (!view.unexpected.empty()) {
        Unexpected* message = view.unexpected.pop_front();
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

// Sending

int Engine::send(const Outgoing& message) noexcept {
    Sent sent = attempt(message, nullptr);
    if (sent == Sent::full) {
        wait_until(_progress, [&] {
            sent = sent == Sent::full ? attempt(message, nullptr) : sent;
            return sent != Sent::full;
        });
    }
    if (sent == Sent::done) [[likely]] {
        return MPI_SUCCESS;
    }
    if (sent == Sent::no_memory) {
        return MPI_ERR_NO_MEM;
    }
    SendRequest request(
        message.view, message.buffer, message.count, message.type, message.dest, message.tag, message.mode);
    request.set_active();
    start(request);
    wait_until(_progress, [&request] { return request.is_complete(); });
    return request.error;
}

void Engine::start(SendRequest& request) noexcept {
    switch (attempt(request.message, &request)) {
    case Sent::full: {
        const int thread = request.message.view.member(request.message.dest).thread;
        ++_backlog_to[std::size_t(thread)];
        request.queued = true;
        _backlog.push_back(request);
        return;
    }
    case Sent::no_memory:
        request.error = MPI_ERR_NO_MEM;
        [[fallthrough]];
    case Sent::done:
        request.complete();
        return;
    default:
        return;
    }
}

Engine::Sent Engine::attempt(const Outgoing& message, SendRequest* request) noexcept {
    const Member& member = message.view.member(message.dest);
    if (member.engine == nullptr) {
        return attempt_remote(message, member, request);
    }
    if (_backlog_to[std::size_t(member.thread)] != 0 && (request == nullptr || !request->queued)) [[unlikely]] {
        return Sent::full; // those before it go first
    }
    return attempt_here(message, *member.engine, request);
}

Engine::Sent Engine::attempt_here(const Outgoing& message, Engine& receiver, SendRequest* request) noexcept {
    const std::size_t bytes = message.bytes();
    const bool eager =
        message.mode == pml::SendMode::buffered || (bytes <= eager_limit && message.mode != pml::SendMode::synchronous);
    if (!eager && request == nullptr) {
        return Sent::needs_request;
    }
    if (&receiver == this) {
        Envelope envelope;
        if (!fill(envelope, message, eager ? nullptr : request)) {
            return Sent::no_memory;
        }
        if (!eager) {
            request->at_receiver = true;
        }
        if (!deliver(envelope)) {
            drop(envelope);
            return Sent::no_memory;
        }
        return eager ? Sent::done : Sent::under_way;
    }
    Envelope envelope;
    if (eager && bytes > Envelope::in_place_bytes && !fill(envelope, message, nullptr)) {
        return Sent::no_memory;
    }
    const Inbox::Claim claim = receiver.inbox().claim();
    if (claim.slot == nullptr) [[unlikely]] {
        if (eager && bytes > Envelope::in_place_bytes) {
            drop(envelope);
        }
        return Sent::full;
    }
    if (eager && bytes > Envelope::in_place_bytes) {
        claim.slot->envelope = envelope;
    } else {
        fill(claim.slot->envelope, message, eager ? nullptr : request);
    }
    if (!eager) {
        request->at_receiver = true;
    }
    Inbox::publish(claim);
    receiver.wake();
    return eager ? Sent::done : Sent::under_way;
}

// `request`: of a rendezvous; nullptr: the payload is copied now. false: out of memory.
bool Engine::fill(Envelope& envelope, const Outgoing& message, SendRequest* request) noexcept {
    const std::size_t bytes = message.bytes();
    envelope.context = message.view.context;
    envelope.source = message.view.comm.rank;
    envelope.tag = message.tag;
    envelope.bytes = bytes;
    if (request != nullptr) {
        envelope.kind = Kind::rendezvous;
        envelope.sender = request;
        return true;
    }
    if (bytes <= Envelope::in_place_bytes) {
        envelope.kind = Kind::in_place;
        Convertor(message.type, message.count, message.buffer).pack(envelope.data, bytes);
        return true;
    }
    Cell* cell = take_cell(bytes);
    if (cell == nullptr) {
        return false;
    }
    envelope.kind = Kind::cell;
    envelope.cell = cell;
    Convertor(message.type, message.count, message.buffer).pack(cell->payload, bytes);
    return true;
}

Cell* Engine::take_cell(std::size_t bytes) noexcept {
    if (bytes <= eager_limit) {
        if (_cells == nullptr) {
            _cells.reset(new (std::nothrow) Cells);
        }
        if (_cells != nullptr) {
            Cell& cell = _cells->all[_next_cell % Cells::number].cell;
            if (!cell.in_use.load(std::memory_order_acquire)) {
                ++_next_cell;
                cell.in_use.store(true, std::memory_order_relaxed);
                return &cell;
            }
        }
    }
    void* memory = std::malloc(sizeof(Cell) + bytes);
    if (memory == nullptr) {
        return nullptr;
    }
    auto* cell = new (memory) Cell;
    cell->from_heap = true;
    cell->payload = static_cast<std::byte*>(memory) + sizeof(Cell);
    return cell;
}

Engine::Sent Engine::attempt_remote(const Outgoing& message, const Member& member, SendRequest* request) noexcept {
    const bool eager = message.mode == pml::SendMode::buffered ||
        (message.bytes() <= Carrier::eager_limit && message.mode != pml::SendMode::synchronous);
    if (eager) {
        const int code = _carrier->send(message, member);
        if (code == MPI_SUCCESS || request == nullptr) {
            return code == MPI_SUCCESS ? Sent::done : Sent::needs_request; // the request tells the error
        }
        request->error = code;
        return Sent::done;
    }
    if (request == nullptr) {
        return Sent::needs_request;
    }
    try {
        _transfers.reserve(_transfers.size() + 1);
    } catch (const std::bad_alloc&) {
        return Sent::no_memory;
    }
    request->error = _carrier->start(message, member, &request->inner);
    if (request->error != MPI_SUCCESS) {
        return Sent::done;
    }
    _transfers.push_back(request);
    return Sent::under_way;
}

// Receiving

void Engine::start(RecvRequest& request) noexcept {
    View& view = request.view;
    Unexpected* message = view.find(request.source, request.tag);
    if (message == nullptr) {
        request.posted = true;
        view.posted.push_back(request);
        return;
    }
    view.unexpected.erase(*message);
    accept(request, *message);
}

void Engine::accept(RecvRequest& request, Unexpected& message) noexcept {
    receive(request, message.envelope);
    delete &message;
}

// false: out of memory; the message has to be delivered again.
bool Engine::deliver(const Envelope& envelope) noexcept {
    if (envelope.kind == Kind::cancel) [[unlikely]] {
        cancel_unexpected(envelope.sender, envelope.context);
        return true;
    }
    View* view = find(envelope.context);
    if (view != nullptr) {
        if (RecvRequest* request = view->match(envelope)) {
            receive(*request, envelope);
            return true;
        }
    }
    auto* message = new (std::nothrow) Unexpected{envelope, {}};
    if (message == nullptr) {
        return false;
    }
    (view != nullptr ? view->unexpected : _early).push_back(*message);
    return true;
}

void Engine::receive(RecvRequest& request, const Envelope& envelope) noexcept {
    fill_status(request.status, envelope.source, envelope.tag, envelope.bytes);
    switch (envelope.kind) {
    case Kind::in_place:
        unpack(request, envelope.data, envelope.bytes);
        break;
    case Kind::cell:
        unpack(request, envelope.cell->payload, envelope.bytes);
        envelope.cell->release();
        break;
    case Kind::rendezvous: {
        SendRequest& sender = *envelope.sender;
        const Outgoing& message = sender.message;
        const std::uint64_t room = std::uint64_t(request.count) * std::uint64_t(request.type.size);
        if (envelope.bytes > room) {
            request.error = MPI_ERR_TRUNCATE;
            set_status_bytes(request.status, room);
        }
        typed_copy(message.buffer, message.count, message.type, request.buffer, request.count, request.type);
        message.view.engine.give_back(sender);
        break;
    }
    case Kind::remote:
        receive_remote(request, envelope);
        return;
    case Kind::cancel: // deliver() has handled it
        break;
    }
    request.complete();
}

void Engine::unpack(RecvRequest& request, const std::byte* data, std::uint64_t bytes) noexcept {
    Convertor to(request.type, request.count, request.buffer);
    if (bytes > to.total()) [[unlikely]] {
        request.error = MPI_ERR_TRUNCATE;
        set_status_bytes(request.status, to.total());
    }
    to.unpack(data, std::min<std::size_t>(bytes, to.total()));
}

void Engine::receive_remote(RecvRequest& request, const Envelope& envelope) noexcept {
    try {
        _transfers.reserve(_transfers.size() + 1);
        request.error = _carrier->receive(envelope, request.buffer, request.count, request.type, &request.inner);
    } catch (const std::bad_alloc&) {
        request.error = MPI_ERR_NO_MEM;
    }
    if (request.error != MPI_SUCCESS) {
        request.complete();
        return;
    }
    _transfers.push_back(&request);
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

// A message that is on its way to another process cannot be cancelled.
void Engine::cancel(SendRequest& request) noexcept {
    if (request.is_complete() || !request.is_active()) {
        return;
    }
    const Member& member = request.message.view.member(request.message.dest);
    if (request.queued) {
        _backlog.erase(request);
        request.queued = false;
        --_backlog_to[std::size_t(member.thread)];
        set_status_cancelled(request.status, true);
        request.complete();
        return;
    }
    if (!request.at_receiver || request.cancelled) {
        return;
    }
    if (member.engine == this) {
        cancel_unexpected(&request, request.view.context);
        return;
    }
    Inbox::Claim claim{};
    wait_until(_progress, [&] {
        claim = claim.slot == nullptr ? member.engine->inbox().claim() : claim;
        return claim.slot != nullptr;
    });
    claim.slot->envelope.kind = Kind::cancel;
    claim.slot->envelope.context = request.view.context;
    claim.slot->envelope.sender = &request;
    Inbox::publish(claim);
    member.engine->wake();
}

// Where the message has been received, its sender has got the request back already, which may not exist any more.
void Engine::cancel_unexpected(const SendRequest* request, std::uint32_t context) noexcept {
    View* view = find(context);
    auto& messages = view != nullptr ? view->unexpected : _early;
    for (Unexpected* message = messages.first(); message != nullptr; message = messages.next(*message)) {
        const Envelope& envelope = message->envelope;
        if (envelope.kind == Kind::rendezvous && envelope.sender == request) {
            SendRequest& sender = *envelope.sender;
            messages.erase(*message);
            delete message;
            sender.cancelled = true;
            sender.message.view.engine.give_back(sender);
            return;
        }
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
    }
    if (!_backlog.empty()) [[unlikely]] {
        events += poll_backlog();
    }
    _polling = false;
    return events;
}

int Engine::poll_inbox() noexcept {
    int events = 0;
    for (const Envelope* envelope = _inbox.front(); envelope != nullptr && events < int(Inbox::slot_count);
         envelope = _inbox.front()) {
        if (!deliver(*envelope)) [[unlikely]] {
            break;
        }
        _inbox.pop();
        ++events;
    }
    return events;
}

int Engine::poll_given_back() noexcept {
    int events = 0;
    SendRequest* request = _given_back.exchange(nullptr, std::memory_order_acquire);
    while (request != nullptr) {
        SendRequest* const next = request->next_completed;
        request->at_receiver = false;
        if (request->cancelled) {
            set_status_cancelled(request->status, true);
        }
        request->complete();
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
            const Sent sent = attempt(request->message, request);
            if (sent == Sent::full) {
                _blocked_in[thread] = _pass;
            } else {
                _backlog.erase(*request);
                request->queued = false;
                --_backlog_to[thread];
                ++events;
                if (sent != Sent::under_way) {
                    request->error = sent == Sent::no_memory ? MPI_ERR_NO_MEM : request->error;
                    request->complete();
                }
            }
        }
        request = next;
    }
    return events;
}

int Engine::poll_transfers() noexcept {
    int events = 0;
    for (std::size_t i = 0; i < _transfers.size();) {
        ThreadRequest& request = *_transfers[i];
        if (!request.inner->is_complete()) {
            ++i;
            continue;
        }
        _transfers[i] = _transfers.back();
        _transfers.pop_back();
        Request& inner = *std::exchange(request.inner, nullptr);
        request.error = inner.error;
        set_status_bytes(request.status, status_bytes(inner.status));
        inner.recycle();
        request.complete();
        ++events;
    }
    return events;
}

} // namespace patchbay::threads
