// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/carrier.h"

#include "core/progress/waiter.h"
#include "frameworks/coll/tags.h"
#include "object/convertor.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>
#include <utility>

namespace patchbay::threads {

namespace {
constexpr int header_tag = 0;
// Below those of the collectives on the duplicate, and negative, so that the checking mode passes the payload on: the
// datatypes of a message of a collective need not be the same on both sides.
constexpr int payload_tag_of(std::uint32_t sequence) noexcept {
    return coll::lowest_tag - 1 - int(sequence % std::uint32_t(pml::highest_tag));
}
const Datatype& bytes_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}
void pack(const Outgoing& message, std::byte* to) noexcept {
    if (message.type.dense) {
        copy_payload(
            to, static_cast<const std::byte*>(message.buffer) + message.type.true_lower_bound, message.bytes());
    } else {
        Convertor(message.type, message.count, message.buffer).pack(to, message.bytes());
    }
}
} // namespace

Carrier::~Carrier() {
    stop_receiving();
    for (const Sending& one : _sending) {
        std::free(one.memory);
    }
}

void Carrier::open(std::uint32_t activation, std::span<Engine* const> threads) noexcept {
    _activation = activation;
    deliver_to(threads);
}

void Carrier::deliver_to(std::span<Engine* const> threads) noexcept {
    while (_polling.test_and_set(std::memory_order_acquire)) {
        sched_yield(); // the thread that polls may have no core
    }
    _threads = threads;
    _polling.clear(std::memory_order_release);
}

Carrier::Header Carrier::header_of(const Outgoing& message, const Member& to, int payload_tag) const noexcept {
    return {_activation, std::uint32_t(to.thread), message.view.context, message.view.comm.rank, message.tag,
        payload_tag, message.bytes()};
}

int Carrier::next_payload_tag() noexcept {
    return payload_tag_of(_payloads.fetch_add(1, std::memory_order_relaxed));
}

int Carrier::send_eager(const Outgoing& message, const Member& to) noexcept {
    alignas(Header) std::byte memory[longest_message];
    new (memory) Header(header_of(message, to, 0));
    pack(message, memory + sizeof(Header));
    return _comm.pml->send(memory, MPI_Count(sizeof(Header) + message.bytes()), bytes_type(), to.process, header_tag,
        pml::SendMode::standard, _comm);
}

int Carrier::send_copy(const Outgoing& message, const Member& to) noexcept {
    const std::size_t bytes = message.bytes();
    const bool is_long = bytes > eager_limit;
    const std::size_t before = is_long ? 0 : sizeof(Header);
    auto* memory = static_cast<std::byte*>(std::malloc(before + bytes)); // first: a payload follows each header
    if (memory == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    int tag = header_tag;
    if (is_long) {
        tag = next_payload_tag();
        if (const int code = send_header(header_of(message, to, tag), to.process); code != MPI_SUCCESS) {
            std::free(memory);
            return code;
        }
    } else {
        new (memory) Header(header_of(message, to, 0));
    }
    pack(message, memory + before);
    return send_memory(memory, before + bytes, to.process, tag);
}

int Carrier::start(const Outgoing& message, const Member& to, Request** request, int* payload_tag) noexcept {
    *payload_tag = next_payload_tag();
    if (const int code = send_header(header_of(message, to, *payload_tag), to.process); code != MPI_SUCCESS) {
        return code;
    }
    return _comm.pml->isend(
        message.buffer, message.count, message.type, to.process, *payload_tag, message.mode, _comm, request);
}

int Carrier::receive(
    const Envelope& envelope, void* buffer, MPI_Count count, const Datatype& type, Request** request) noexcept {
    return _comm.pml->irecv(buffer, count, type, envelope.remote.process, envelope.remote.tag, _comm, request);
}

// A withdrawal names the message by the tag of its payload, and by its sender's process.
int Carrier::withdraw(std::uint32_t context, const Member& to, int payload_tag, int from) noexcept {
    return send_header(
        {_activation, std::uint32_t(to.thread), context, from, payload_tag, std::int32_t(Kind::withdraw), 0},
        to.process);
}

int Carrier::answer(const Envelope& withdrawal, bool dropped) noexcept {
    return send_header({_activation, std::uint32_t(withdrawal.remote.thread), withdrawal.context, 0,
                           withdrawal.remote.tag, std::int32_t(dropped ? Kind::withdrawn : Kind::kept), 0},
        withdrawal.remote.process);
}

int Carrier::send_header(const Header& header, int process) noexcept {
    auto* memory = static_cast<std::byte*>(std::malloc(sizeof header));
    if (memory == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    new (memory) Header(header);
    return send_memory(memory, sizeof header, process, header_tag);
}

// Frees the memory when it has been sent.
int Carrier::send_memory(std::byte* memory, std::size_t size, int process, int tag) noexcept {
    Request* request = nullptr;
    const int code =
        _comm.pml->isend(memory, MPI_Count(size), bytes_type(), process, tag, pml::SendMode::standard, _comm, &request);
    if (code != MPI_SUCCESS) {
        std::free(memory);
        return code;
    }
    if (request->is_complete()) {
        const int error = request->error;
        request->recycle();
        std::free(memory);
        return error;
    }
    const std::lock_guard lock(_mutex);
    _sending.push_back({request, memory});
    _sending_count.store(_sending.size(), std::memory_order_relaxed);
    return MPI_SUCCESS;
}

bool Carrier::sent_all() noexcept {
    retire_sent();
    return _sending_count.load(std::memory_order_relaxed) == 0;
}

void Carrier::retire_sent() noexcept {
    if (_sending_count.load(std::memory_order_relaxed) == 0) {
        return;
    }
    const std::lock_guard lock(_mutex);
    std::erase_if(_sending, [](const Sending& one) {
        const bool complete = one.request->is_complete();
        if (complete) {
            one.request->recycle();
            std::free(one.memory);
        }
        return complete;
    });
    _sending_count.store(_sending.size(), std::memory_order_relaxed);
}

int Carrier::poll(Engine& own) noexcept {
    if (_polling.test_and_set(std::memory_order_acquire)) {
        return 0;
    }
    int events = 0;
    if (!_threads.empty()) { // otherwise the library may not lock any more
        events = _process_progress.poll();
        retire_sent();
        events += take_messages(own);
        if (events == 0) { // not between a message and what the program does with it
            post_receives();
        }
    }
    _polling.clear(std::memory_order_release);
    if (events > 0) {
        _process_progress.wake(); // a transfer that another thread waits for may be complete
    }
    return events;
}

void Carrier::post_receives() noexcept {
    while (_posted < most_posted && !_failed && post(receive_at(_posted))) {
        ++_posted;
    }
}

// false: out of memory; it is tried again in the next poll.
bool Carrier::post(Receive& receive) noexcept {
    if (receive.memory == nullptr) {
        receive.memory = static_cast<std::byte*>(std::malloc(longest_message));
    }
    return receive.memory != nullptr &&
        _comm.pml->irecv(receive.memory, MPI_Count(longest_message), bytes_type(), MPI_ANY_SOURCE, header_tag, _comm,
            &receive.request) == MPI_SUCCESS;
}

void Carrier::stop_receiving() noexcept {
    for (; _posted > 0; --_posted) {
        Request& request = *receive_at(_posted - 1).request;
        request.cancel();
        wait_until(_process_progress, [&request] { return request.is_complete(); });
        request.recycle();
    }
    for (Receive& receive : _receives) {
        std::free(std::exchange(receive.memory, nullptr));
    }
}

int Carrier::take_messages(Engine& own) noexcept {
    constexpr int most = 16;
    int taken = 0;
    while (taken < most && take_message(own)) {
        ++taken;
    }
    return taken;
}

bool Carrier::take_message(Engine& own) noexcept {
    if (_posted == 0) {
        post_receives();
    }
    Receive& receive = receive_at(0);
    if (_posted == 0 || !receive.request->is_complete()) {
        return false;
    }
    // Receives that were posted later may have got messages of other processes.
    if (receive.request->error != MPI_SUCCESS) {
        _failed = true;
    } else if (!deliver(receive.memory, receive.request->status, own)) {
        return false;
    }
    receive.request->recycle();
    _first = (_first + 1) % most_posted;
    --_posted;
    return true;
}

// false: out of memory, or the message is one of the next activation; it stays where it is.
bool Carrier::deliver(const std::byte* received, const MPI_Status& status, Engine& own) noexcept {
    Header header;
    std::memcpy(&header, received, sizeof header);
    if (std::int32_t(header.activation - _activation) > 0) {
        return false;
    }
    if (header.activation != _activation || header.thread >= _threads.size()) {
        return true; // of an activation that has ended without a receive for it
    }
    Envelope envelope;
    envelope.context = header.context;
    envelope.source = header.source;
    envelope.tag = header.tag;
    envelope.bytes = header.bytes;
    if (header.payload_tag == 0) {
        envelope.kind = Kind::in_lane; // for the duration of the call
        envelope.payload = received + sizeof header;
    } else if (header.payload_tag < 0) {
        envelope.kind = Kind::remote;
        envelope.remote = {status.MPI_SOURCE, header.payload_tag, 0};
    } else {
        envelope.kind = Kind(header.payload_tag);
        envelope.remote = {status.MPI_SOURCE, header.tag, header.source};
    }
    Engine& engine = *_threads[header.thread];
    if (&engine == &own && own.deliver_at_once(envelope)) {
        return true;
    }
    const std::size_t bytes = envelope.kind == Kind::in_lane ? header.bytes : 0;
    auto* const memory = static_cast<std::byte*>(std::malloc(sizeof(Arrival) + bytes));
    if (memory == nullptr) {
        return false;
    }
    auto* const arrival = new (memory) Arrival{};
    arrival->from_heap = true;
    arrival->envelope = envelope;
    if (envelope.kind == Kind::in_lane) {
        arrival->payload = memory + sizeof(Arrival);
        copy_payload(arrival->payload, envelope.payload, bytes);
        arrival->envelope.kind = Kind::cell;
        arrival->envelope.cell = arrival;
    }
    engine.arrive(*arrival);
    return true;
}

} // namespace patchbay::threads
