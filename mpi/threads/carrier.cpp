// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/carrier.h"

#include "core/log.h"
#include "frameworks/coll/tags.h"
#include "object/convertor.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>

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
} // namespace

Carrier::~Carrier() {
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

int Carrier::send(const Outgoing& message, const Member& to) noexcept {
    return send_header(message, to, 0);
}

int Carrier::start(const Outgoing& message, const Member& to, Request** request, int* payload_tag) noexcept {
    *payload_tag = payload_tag_of(_payloads.fetch_add(1, std::memory_order_relaxed));
    if (const int code = send_header(message, to, *payload_tag); code != MPI_SUCCESS) {
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
    return send_control(to.process,
        {_activation, std::uint32_t(to.thread), context, from, payload_tag, std::int32_t(Kind::withdraw), 0});
}

int Carrier::answer(const Envelope& withdrawal, bool dropped) noexcept {
    return send_control(withdrawal.remote.process,
        {_activation, std::uint32_t(withdrawal.remote.thread), withdrawal.context, 0, withdrawal.remote.tag,
            std::int32_t(dropped ? Kind::withdrawn : Kind::kept), 0});
}

int Carrier::send_control(int process, const Header& header) noexcept {
    auto* memory = static_cast<std::byte*>(std::malloc(sizeof header));
    if (memory == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    std::memcpy(memory, &header, sizeof header);
    return send_memory(memory, sizeof header, process);
}

// With the payload where `payload_tag` is 0.
int Carrier::send_header(const Outgoing& message, const Member& to, int payload_tag) noexcept {
    const std::size_t bytes = message.bytes();
    const std::size_t size = sizeof(Header) + (payload_tag == 0 ? bytes : 0);
    auto* memory = static_cast<std::byte*>(std::malloc(size));
    if (memory == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const Header header{_activation, std::uint32_t(to.thread), message.view.context, message.view.comm.rank,
        message.tag, payload_tag, bytes};
    std::memcpy(memory, &header, sizeof header);
    if (payload_tag == 0) {
        Convertor(message.type, message.count, message.buffer).pack(memory + sizeof header, bytes);
    }
    return send_memory(memory, size, to.process);
}

// Frees the memory when it has been sent.
int Carrier::send_memory(std::byte* memory, std::size_t size, int process) noexcept {
    Request* request = nullptr;
    const int code = _comm.pml->isend(
        memory, MPI_Count(size), bytes_type(), process, header_tag, pml::SendMode::standard, _comm, &request);
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

int Carrier::poll() noexcept {
    if (_polling.test_and_set(std::memory_order_acquire)) {
        return 0;
    }
    int events = 0;
    if (!_threads.empty()) { // otherwise the library may not lock any more
        events = _process_progress.poll();
        retire_sent();
        events += take_messages();
    }
    _polling.clear(std::memory_order_release);
    if (events > 0) {
        _process_progress.wake(); // a transfer that another thread waits for may be complete
    }
    return events;
}

int Carrier::take_messages() noexcept {
    constexpr int most = 16;
    int taken = 0;
    while (taken < most && take_message()) {
        ++taken;
    }
    return taken;
}

bool Carrier::take_message() noexcept {
    bool found = false;
    Message* message = nullptr;
    MPI_Status status;
    const int code = _comm.pml->improbe(MPI_ANY_SOURCE, header_tag, _comm, &found, &message, &status);
    if (code != MPI_SUCCESS || !found) {
        return false;
    }
    const std::size_t size = status_bytes(status);
    const std::size_t payload = size - sizeof(Header);
    void* memory = std::malloc(sizeof(Arrival) + sizeof(Header) + payload);
    if (memory == nullptr) {
        log_error("thread communicator: out of memory for a message from another process, which is lost");
        _comm.pml->mrecv(nullptr, 0, bytes_type(), message, nullptr);
        return false;
    }
    auto* arrival = new (memory) Arrival{};
    arrival->from_heap = true;
    std::byte* const received = static_cast<std::byte*>(memory) + sizeof(Arrival);
    const int error = _comm.pml->mrecv(received, MPI_Count(size), bytes_type(), message, nullptr);
    Header header;
    std::memcpy(&header, received, sizeof header);
    if (error != MPI_SUCCESS || header.activation != _activation || header.thread >= _threads.size()) {
        arrival->release(); // of an activation that has ended without a receive for it
        return true;
    }
    Envelope& envelope = arrival->envelope;
    envelope.context = header.context;
    envelope.source = header.source;
    envelope.tag = header.tag;
    envelope.bytes = header.bytes;
    if (header.payload_tag == 0) {
        envelope.kind = Kind::cell;
        envelope.cell = arrival;
        arrival->payload = received + sizeof header;
    } else if (header.payload_tag < 0) {
        envelope.kind = Kind::remote;
        envelope.remote = {status.MPI_SOURCE, header.payload_tag, 0};
    } else {
        envelope.kind = Kind(header.payload_tag);
        envelope.remote = {status.MPI_SOURCE, header.tag, header.source};
    }
    _threads[header.thread]->arrive(*arrival);
    return true;
}

} // namespace patchbay::threads
