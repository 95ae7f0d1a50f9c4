// SPDX-License-Identifier: BSD-3-Clause
// A thread as a receiver.
#include "core/base/copy.h"
#include "mpi/threads/carrier.h"
#include "mpi/threads/engine.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace patchbay::threads {

namespace {

// The payload of a message of a lane that such a receive matches, and which fits its buffer, one block of memory. null:
// the message is another one, or more is to be done for it.
const std::byte* plain_payload(const Incoming& wanted, const Envelope& envelope) noexcept {
    if (envelope.context != wanted.view.context || !matches(wanted.source, wanted.tag, envelope) ||
        envelope.bytes > std::uint64_t(wanted.count) * std::uint64_t(wanted.type.size)) {
        return nullptr;
    }
    return envelope.kind == Kind::in_place ? envelope.data
        : envelope.kind == Kind::in_lane   ? envelope.payload
                                           : nullptr;
}

} // namespace

// What most messages are. No receive and no message of the communicator is older than this one and the next of a lane:
// then nothing needs to be matched.
bool Engine::receive_next(const Incoming& wanted, MPI_Status* status) noexcept {
    const View& view = wanted.view;
    if (!wanted.type.dense || !view.posted.empty() || !view.unexpected.empty() || _polling) [[unlikely]] {
        return false;
    }
    for (int looks = _looks; looks > 0; --looks) {
        for (std::size_t i = 0; i < _lane_count; ++i) {
            Lane& lane = *_lanes[i];
            const Envelope* const envelope = lane.front();
            if (envelope == nullptr) {
                continue;
            }
            const std::byte* const payload = plain_payload(wanted, *envelope);
            if (payload == nullptr) {
                return false;
            }
            copy_payload(
                static_cast<std::byte*>(wanted.buffer) + wanted.type.true_lower_bound, payload, envelope->bytes);
            if (status != MPI_STATUS_IGNORE) {
                fill_status(*status, envelope->source, envelope->tag, envelope->bytes);
            }
            lane.pop();
            return true;
        }
    }
    return false;
}

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
    if (!is_message(envelope.kind)) [[unlikely]] {
        deliver_control(envelope);
        return true;
    }
    View* view = find(envelope.context);
    if (view != nullptr) {
        if (RecvRequest* request = view->match(envelope)) {
            receive(*request, envelope);
            return true;
        }
    }
    return keep_unexpected(view, envelope);
}

// `view`: nullptr: of a communicator that this thread does not have yet. A payload in the lane has to leave it.
bool Engine::keep_unexpected(View* view, const Envelope& envelope) noexcept {
    auto message = std::unique_ptr<Unexpected>(new (std::nothrow) Unexpected{envelope, {}});
    if (message == nullptr) {
        return false;
    }
    if (envelope.kind == Kind::in_lane) {
        Cell* const cell = Cell::allocate(envelope.bytes);
        if (cell == nullptr) {
            return false;
        }
        std::memcpy(cell->payload, envelope.payload, envelope.bytes);
        message->envelope.kind = Kind::cell;
        message->envelope.cell = cell;
    }
    (view != nullptr ? view->unexpected : _early).push_back(*message.release());
    return true;
}

void Engine::deliver_control(const Envelope& envelope) noexcept {
    switch (envelope.kind) {
    case Kind::received:
        envelope.sender.request->end();
        return;
    case Kind::lane:
        _lanes[_lane_count++] = envelope.lane;
        return;
    case Kind::withdraw:
        withdraw_unexpected(envelope);
        return;
    case Kind::withdrawn:
    case Kind::kept:
        end_withdrawal(envelope);
        return;
    default:
        cancel_unexpected(envelope.sender, envelope.context);
        return;
    }
}

void Engine::receive(RecvRequest& request, const Envelope& envelope) noexcept {
    fill_status(request.status, envelope.source, envelope.tag, envelope.bytes);
    switch (envelope.kind) {
    case Kind::in_place:
        unpack(request, envelope.data, envelope.bytes);
        break;
    case Kind::in_lane:
        unpack(request, envelope.payload, envelope.bytes);
        break;
    case Kind::cell:
        unpack(request, envelope.cell->payload, envelope.bytes);
        envelope.cell->release();
        break;
    case Kind::rendezvous:
        receive_from_sender(request, envelope);
        answer(envelope);
        break;
    case Kind::remote:
        receive_remote(request, envelope);
        return;
    default: // deliver() has handled it
        break;
    }
    request.complete();
}

// The copy from the sender's buffer. What the envelope tells need not be read from the memory of the sender.
void Engine::receive_from_sender(RecvRequest& request, const Envelope& envelope) noexcept {
    Convertor to(request.type, request.count, request.buffer);
    if (envelope.bytes > to.total()) [[unlikely]] {
        request.truncate(envelope.bytes, to.total());
    }
    if (envelope.sender.data != nullptr && to.contiguous() != nullptr) [[likely]] {
        const std::size_t bytes = std::min<std::size_t>(envelope.bytes, to.total());
        if (bytes >= SharedCopy::least) {
            envelope.sender.request->copy.run(to.contiguous(), envelope.sender.data, bytes);
        } else {
            copy_bytes(to.contiguous(), envelope.sender.data, bytes);
        }
        return;
    }
    const Outgoing& message = envelope.sender.request->message;
    typed_copy(message.buffer, message.count, message.type, request.buffer, request.count, request.type);
}

// The sender of a rendezvous gets its request back: by the lane to it, which takes stores only, or by the list.
void Engine::answer(const Envelope& envelope) noexcept {
    Engine& sender = *envelope.sender.engine;
    if (&sender != this) {
        if (Lane* lane = lane_to(sender); lane != nullptr) {
            if (const Claim claim = lane->claim(); claim.slot != nullptr) [[likely]] {
                claim.slot->envelope.kind = Kind::received;
                claim.slot->envelope.sender.request = envelope.sender.request;
                claim.publish();
                sender.wake();
                return;
            }
        }
    }
    sender.give_back(*envelope.sender.request);
}

void Engine::unpack(RecvRequest& request, const std::byte* data, std::uint64_t bytes) noexcept {
    const Datatype& type = request.type;
    if (type.dense && bytes <= std::uint64_t(request.count) * std::uint64_t(type.size)) [[likely]] {
        copy_payload(static_cast<std::byte*>(request.buffer) + type.true_lower_bound, data, bytes);
        return;
    }
    Convertor to(request.type, request.count, request.buffer);
    if (bytes > to.total()) [[unlikely]] {
        request.truncate(bytes, to.total());
    }
    to.unpack(data, std::min<std::size_t>(bytes, to.total()));
}

void Engine::receive_remote(RecvRequest& request, const Envelope& envelope) noexcept {
    request.sent = envelope.bytes;
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

} // namespace patchbay::threads
