// SPDX-License-Identifier: BSD-3-Clause
// A thread as a sender.
#include "core/progress/waiter.h"
#include "mpi/threads/carrier.h"
#include "mpi/threads/cell_pool.h"
#include "mpi/threads/engine.h"
#include "object/convertor.h"

#include <memory>
#include <new>
#include <utility>

namespace patchbay::threads {

namespace {
// All but the kind and what belongs to it.
void describe(Envelope& envelope, const Outgoing& message) noexcept {
    envelope.context = message.view.context;
    envelope.source = message.view.comm.rank;
    envelope.tag = message.tag;
    envelope.bytes = message.bytes();
}
} // namespace

int Engine::send(const Outgoing& message) noexcept {
    if (send_by_lane(message)) [[likely]] {
        return MPI_SUCCESS;
    }
    Sent sent = attempt(message, nullptr);
    if (sent == Sent::full) {
        if (message.mode == pml::SendMode::buffered) {
            return queue_copy(message);
        }
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
    wait_until(_progress, [this, &request] { return look_for(request); });
    return request.error;
}

// What most messages are: an eager one from one block of memory, to a receiver to which there is a lane already. false:
// it is another one, or there is no room.
bool Engine::send_by_lane(const Outgoing& message) noexcept {
    const Member& member = message.view.member(message.dest);
    const std::size_t bytes = message.bytes();
    if (member.engine == nullptr || bytes > eager_limit || !message.type.dense ||
        message.mode == pml::SendMode::synchronous) {
        return false;
    }
    const Destination& to = _destinations[std::size_t(member.thread)];
    if (to.lane == nullptr || to.queued != 0) [[unlikely]] {
        return false;
    }
    const bool in_place = bytes <= Envelope::in_place_bytes;
    std::byte* payload = nullptr;
    const Claim claim = to.lane->claim(in_place ? 0 : bytes, &payload);
    if (claim.slot == nullptr) [[unlikely]] {
        return false;
    }
    Envelope& envelope = claim.slot->envelope;
    describe(envelope, message);
    envelope.kind = in_place ? Kind::in_place : Kind::in_lane;
    const std::byte* const data = static_cast<const std::byte*>(message.buffer) + message.type.true_lower_bound;
    if (!in_place) {
        envelope.payload = payload;
    }
    copy_payload(in_place ? envelope.data : payload, data, bytes);
    claim.publish();
    member.engine->wake();
    return true;
}

void Engine::start(SendRequest& request) noexcept {
    if (send_by_lane(request.message)) [[likely]] {
        request.complete();
        return;
    }
    switch (attempt(request.message, &request)) {
    case Sent::full:
        if (request.message.mode != pml::SendMode::buffered) {
            queue(request);
            return;
        }
        request.error = queue_copy(request.message);
        request.complete();
        return;
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

void Engine::queue(SendRequest& request) noexcept {
    const int thread = request.message.view.member(request.message.dest).thread;
    ++_destinations[std::size_t(thread)].queued;
    request.queued = true;
    _backlog.push_back(request);
}

// A buffered send, which is local, to a receiver that has no room: a request that the program does not know sends a
// copy.
int Engine::queue_copy(const Outgoing& message) noexcept {
    const std::size_t bytes = message.bytes();
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes]);
    auto* const request = copy == nullptr
        ? nullptr
        : new (std::nothrow) SendRequest(message.view, copy.get(), MPI_Count(bytes), *to_object<Datatype>(MPI_BYTE),
              message.dest, message.tag, message.mode);
    if (request == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    Convertor(message.type, message.count, message.buffer).pack(copy.get(), bytes);
    request->copy_of_payload = std::move(copy);
    request->hold();
    request->set_active();
    queue(*request);
    request->recycle();
    return MPI_SUCCESS;
}

Engine::Sent Engine::attempt(const Outgoing& message, SendRequest* request) noexcept {
    const Member& member = message.view.member(message.dest);
    if (member.engine == nullptr) {
        return attempt_remote(message, member, request);
    }
    if (_destinations[std::size_t(member.thread)].queued != 0 && (request == nullptr || !request->queued))
        [[unlikely]] {
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
    const bool in_cell = eager && bytes > Envelope::in_place_bytes;
    Envelope envelope;
    if (in_cell && !fill(envelope, message, nullptr)) {
        return Sent::no_memory;
    }
    const Claim claim = this->claim(receiver);
    if (claim.slot == nullptr) [[unlikely]] {
        if (in_cell) {
            drop(envelope);
        }
        return Sent::full;
    }
    if (in_cell) {
        claim.slot->envelope = envelope;
    } else {
        fill(claim.slot->envelope, message, eager ? nullptr : request);
    }
    if (!eager) {
        request->at_receiver = true;
        Lane* const lane = _destinations[std::size_t(receiver._thread)].lane;
        request->copy.reset(lane != nullptr ? &lane->way() : nullptr);
        request->checks_itself = bytes >= SharedCopy::least;
    }
    claim.publish();
    receiver.wake();
    return eager ? Sent::done : Sent::under_way;
}

// The lane is empty, so that the message for which it is made gets a slot of it and wakes the receiver.
void Engine::open_lane(Destination& to, Engine& receiver) noexcept {
    auto lane = std::unique_ptr<Lane>(new (std::nothrow) Lane(_bell));
    if (lane == nullptr || !receiver._inbox.grant_lane()) {
        return; // further messages go to the inbox
    }
    const Claim claim = receiver._inbox.claim();
    if (claim.slot == nullptr) {
        receiver._inbox.return_lane();
        to.sent = 0;
        return;
    }
    claim.slot->envelope.kind = Kind::lane;
    claim.slot->envelope.lane = lane.get();
    claim.publish();
    to.lane = lane.release();
}

// `request`: of a rendezvous; nullptr: the payload is copied now. false: out of memory.
bool Engine::fill(Envelope& envelope, const Outgoing& message, SendRequest* request) noexcept {
    const std::size_t bytes = message.bytes();
    describe(envelope, message);
    if (request != nullptr) {
        envelope.kind = Kind::rendezvous;
        envelope.sender.request = request;
        envelope.sender.engine = this;
        envelope.sender.data = message.view.member(message.dest).engine != this
            ? Convertor(message.type, message.count, message.buffer).contiguous()
            : nullptr;
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
            _cells.reset(new (std::nothrow) Pool);
        }
        if (_cells != nullptr) {
            Cell& cell = _cells->all[_next_cell % Pool::cells].cell;
            if (!cell.in_use.load(std::memory_order_acquire)) {
                ++_next_cell;
                cell.in_use.store(true, std::memory_order_relaxed);
                return &cell;
            }
        }
    }
    return Cell::allocate(bytes);
}

Engine::Sent Engine::attempt_remote(const Outgoing& message, const Member& member, SendRequest* request) noexcept {
    const bool eager = message.mode == pml::SendMode::buffered ||
        (message.bytes() <= Carrier::eager_limit && message.mode != pml::SendMode::synchronous);
    if (eager) {
        // A buffered send does not wait for room at the other process.
        const bool may_block = request == nullptr && message.mode != pml::SendMode::buffered;
        const int code = may_block ? _carrier->send_eager(message, member) : _carrier->send_copy(message, member);
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
    request->error = _carrier->start(message, member, &request->inner, &request->payload_tag);
    if (request->error != MPI_SUCCESS) {
        return Sent::done;
    }
    _transfers.push_back(request);
    return Sent::under_way;
}

} // namespace patchbay::threads
