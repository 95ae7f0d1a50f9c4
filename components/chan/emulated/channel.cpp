// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/emulated/channel.h"

#include "frameworks/pml/pml.h"
#include "object/status.h"

namespace patchbay::chan::emulated {

EmulatedChannel::EmulatedChannel(Progress& waits, const Binding& binding)
    : Channel(waits, binding),
      _requests(binding.side.slackness, nullptr),
      _others(binding.side.slackness, nullptr) {
    checks_itself = true;
}

int EmulatedChannel::make_requests(void* buffer, MPI_Count count) noexcept {
    const Side& side = binding().side;
    auto* address = static_cast<std::byte*>(buffer);
    for (Request*& made : _others) {
        if (const int code = make_request(address, count, &made); code != MPI_SUCCESS) {
            made = nullptr;
            release(_others);
            return code;
        }
        address += side.increment_bytes;
    }
    release(_requests);
    _requests.swap(_others);
    return MPI_SUCCESS;
}

int EmulatedChannel::make_request(void* buffer, MPI_Count count, Request** made) noexcept {
    const Binding& bound = binding();
    const Side& side = bound.side;
    pml::Module& pml = *bound.comm->pml;
    if (!side.sends) {
        return pml.recv_init(buffer, count, *side.type, bound.peer, bound.tag_here, *bound.comm, made);
    }
    const auto mode = side.synchronous ? pml::SendMode::synchronous : pml::SendMode::standard;
    return pml.send_init(buffer, count, *side.type, bound.peer, bound.tag_there, mode, *bound.comm, made);
}

int EmulatedChannel::start() noexcept {
    Request& message = *_requests[_next];
    if (const int code = message.start(); code != MPI_SUCCESS) {
        return code;
    }
    _next = after(_next);
    const bool done = !is_active() && message.is_complete();
    if (done) {
        take_oldest();
    }
    add_start(done);
    return MPI_SUCCESS;
}

void EmulatedChannel::check() noexcept {
    if (_requests[_oldest]->is_complete()) {
        take_oldest();
        complete_oldest();
    }
}

// Gives the result of the oldest message to the channel's request.
void EmulatedChannel::take_oldest() noexcept {
    Request& message = *_requests[_oldest];
    _oldest = after(_oldest);
    error = message.calls_back ? message.finish(&message.status) : message.error;
    _failed = error != MPI_SUCCESS ? &message : nullptr;
    set_status_bytes(status, binding().side.sends ? binding().bytes : status_bytes(message.status));
    message.end_start();
}

int EmulatedChannel::rebind(void* buffer, MPI_Count count) noexcept {
    _failed = nullptr;
    return make_requests(buffer, count);
}

std::int32_t EmulatedChannel::references_to_comm() const noexcept {
    std::int32_t references = Channel::references_to_comm();
    for (const Request* message : _requests) {
        references += message != nullptr ? message->references_to_comm() : 0;
    }
    return references;
}

std::string_view EmulatedChannel::cause() const noexcept {
    return _failed != nullptr && !_failed->is_active() ? _failed->cause() : Channel::cause();
}

void EmulatedChannel::release_requests() noexcept {
    release(_requests);
}

// An active one goes on in the pml, which releases it then.
void EmulatedChannel::release(Requests& requests) noexcept {
    for (Request*& message : requests) {
        if (message != nullptr) {
            message->recycle();
            message = nullptr;
        }
    }
}

int EmulatedChannel::retire() noexcept {
    delete this;
    return MPI_SUCCESS;
}

} // namespace patchbay::chan::emulated
