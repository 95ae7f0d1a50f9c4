// SPDX-License-Identifier: BSD-3-Clause
#include "components/common/short_copy.h"
#include "components/pml/ob1/module.h"
#include "core/log.h"
#include "core/progress/waiter.h"

#include <algorithm>
#include <array>

namespace patchbay::pml::ob1 {

int Ob1::recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    MPI_Status* status) noexcept {
    RecvRequest request(*this, buffer, count, type, source, tag, comm);
    {
        Guard guard(*this);
        start(request);
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    return_status(request.status, status);
    return request.error;
}

int Ob1::irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    Guard guard(*this);
    auto* made = _recv_pool.alloc(*this, buffer, count, type, source, tag, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a receive request");
        return MPI_ERR_NO_MEM;
    }
    *request = made;
    start(*made);
    if (!made->is_complete() || made->error != MPI_SUCCESS) {
        made->hold();
    }
    return MPI_SUCCESS;
}

int Ob1::recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    Guard guard(*this);
    auto* made = _recv_pool.alloc(*this, buffer, count, type, source, tag, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a receive request");
        return MPI_ERR_NO_MEM;
    }
    made->persistent = true;
    made->hold();
    *request = made;
    return MPI_SUCCESS;
}

int Ob1::restart(RecvRequest& request) noexcept {
    Guard guard(*this);
    request.error = MPI_SUCCESS;
    set_status_cancelled(request.status, false);
    start(request);
    return MPI_SUCCESS;
}

int Ob1::mrecv(void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept {
    auto* matched = static_cast<MatchedMessage*>(message);
    RecvRequest request(
        *this, buffer, count, type, matched->unexpected.match.source, matched->unexpected.match.tag, *matched->comm);
    {
        Guard guard(*this);
        request.set_state(Request::State::active);
        accept(request, matched->unexpected);
        _message_pool.free(matched);
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    return_status(request.status, status);
    return request.error;
}

int Ob1::imrecv(void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept {
    auto* matched = static_cast<MatchedMessage*>(message);
    Guard guard(*this);
    auto* made = _recv_pool.alloc(
        *this, buffer, count, type, matched->unexpected.match.source, matched->unexpected.match.tag, *matched->comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a receive request");
        return MPI_ERR_NO_MEM;
    }
    made->hold();
    made->set_state(Request::State::active);
    accept(*made, matched->unexpected);
    _message_pool.free(matched);
    *request = made;
    return MPI_SUCCESS;
}

void Ob1::start(RecvRequest& request) noexcept {
    CommState& state = state_of(*request.comm);
    request.set_state(Request::State::active);
    if (!state.prepare()) {
        request.error = MPI_ERR_NO_MEM;
        complete(request);
        return;
    }
    Unexpected* message = state.find(request.source, request.tag);
    if (message == nullptr) {
        state.post(request);
        return;
    }
    state.remove(*message);
    accept(request, *message);
}

// The message, which is in no queue any more, goes to this receive.
void Ob1::accept(RecvRequest& request, Unexpected& message) noexcept {
    Peer& from = *message.from;
    if (message.match.type == PacketType::rts) {
        begin_rendezvous(request, from, message.match, message.request, message.length, message.address);
    } else {
        if (message.match.type == PacketType::match_sync) {
            send_control(from, PacketType::ack, message.request, 0, request.comm->session);
        }
        deliver(request, message.match, message.payload(), message.length);
    }
    give_up(message);
}

// The memory of an unmatched message is free again; its sender may go on when enough is.
void Ob1::give_up(Unexpected& message) noexcept {
    Peer& from = *message.from;
    from.unexpected_bytes -= message.charge;
    _store.free(&message);
    if (from.stopped && from.unexpected_bytes < _settings.unexpected_limit / 2) {
        from.stopped = false;
        send_control(from, PacketType::xon, 0, 0, nullptr);
    }
}

void Ob1::deliver(RecvRequest& request, const MatchHeader& match, const std::byte* payload, std::size_t size) noexcept {
    const std::size_t used = std::min(size, request.bytes);
    if (request.type->dense) [[likely]] {
        common::copy_any(request.address(), payload, used);
    } else if (used != 0) {
        request.convertor.make(*request.type, request.count, request.buffer).unpack(payload, used);
    }
    fill_status(request.status, match.source, match.tag, used);
    if (size > request.bytes) [[unlikely]] {
        request.error = MPI_ERR_TRUNCATE;
    }
    complete(request);
}

void Ob1::begin_rendezvous(RecvRequest& request, Peer& from, const MatchHeader& match, std::uint64_t sender,
    std::uint64_t length, std::uint64_t address) noexcept {
    request.from = &from;
    request.remote_request = sender;
    request.remote_address = address;
    request.expected = std::min<std::size_t>(length, request.bytes);
    fill_status(request.status, match.source, match.tag, request.expected);
    if (length > request.bytes) {
        request.error = MPI_ERR_TRUNCATE;
    }
    if (!connect(from)) {
        request.error = MPI_ERR_OTHER;
        complete(request);
        return;
    }
    if (request.expected == 0) {
        send_control(from, PacketType::fin, sender, 0, request.comm->session);
        complete(request);
        return;
    }
    request.convertor.make(*request.type, request.count, request.buffer);
    const std::size_t get_from = from.btl->limits().get_from;
    if (address != 0 && get_from != 0 && length >= get_from && from.btl->can_get(*from.endpoint)) {
        fetch(request);
    } else {
        ask_for_stream(request);
    }
}

void Ob1::fetch(RecvRequest& request) noexcept {
    if (!fetch_some(request)) {
        _fetches.push_back(request);
    }
}

// Single copy of the next chunk. true: nothing more to fetch (all there, or the rest comes as a stream); the request
// may be gone then.
bool Ob1::fetch_some(RecvRequest& request) noexcept {
    Convertor& convertor = *request.convertor;
    const std::size_t end = std::min(request.expected, convertor.position() + _settings.fetch_chunk);
    while (convertor.position() < end) {
        std::array<iovec, 64> blocks;
        const std::size_t before = convertor.position();
        const std::size_t filled = convertor.next_blocks(blocks, end - before);
        const std::ptrdiff_t got = request.from->btl->get(
            *request.from->endpoint, request.remote_address + before, std::span(blocks).first(filled));
        if (got != std::ptrdiff_t(convertor.position() - before)) {
            convertor.seek(before + std::size_t(std::max<std::ptrdiff_t>(got, 0)));
            ask_for_stream(request);
            return true;
        }
    }
    if (end < request.expected) {
        return false;
    }
    send_control(*request.from, PacketType::fin, request.remote_request, 0, request.comm->session);
    complete(request);
    return true;
}

int Ob1::continue_fetches() noexcept {
    int events = 0;
    for (RecvRequest* request = _fetches.first(); request != nullptr;) {
        RecvRequest* following = List<RecvRequest, &RecvRequest::fetch_link>::next(*request);
        _fetches.erase(*request);
        fetch(*request);
        ++events;
        request = following;
    }
    return events;
}

void Ob1::ask_for_stream(RecvRequest& request) noexcept {
    const std::size_t position = request.convertor->position();
    const CtsHeader header{PacketType::cts, {}, request.remote_request, reinterpret_cast<std::uintptr_t>(&request),
        position, request.expected - position};
    send_control(*request.from, &header, sizeof header, request.comm->session);
}

} // namespace patchbay::pml::ob1
