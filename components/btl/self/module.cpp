// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/self/module.h"

#include "core/base/copy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace patchbay::btl::self {

namespace {
constexpr std::size_t header_room = 64;
constexpr int packets_per_poll = 32;
// Also with an eager limit of 0: a long message of short blocks is sent in packets, each of which has some of it.
constexpr std::size_t least_packet = 4096;
} // namespace

struct SelfModule::Packet {
    Packet* next;
    std::size_t room; // for the payload, which follows this structure
    std::size_t payload_size;
    std::size_t header_size;
    alignas(8) std::byte header[header_room];

    std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

SelfModule::SelfModule(ProcessId self, Progress& progress, std::size_t eager_limit, std::size_t queue_limit) noexcept
    : _endpoint(self),
      _progress(progress),
      _one_sided(progress),
      _queue_limit(queue_limit) {
    _limits.header = header_room;
    _limits.eager = eager_limit;
    _limits.packet = std::max(eager_limit, least_packet);
    _limits.inline_size = 0;
    _limits.get_from = eager_limit + 1;
    _limits.latency_ns = 0;
    _limits.bandwidth_mbps = 40000;
    _limits.unsolicited = false;
}

SelfModule::~SelfModule() {
    for (Packet* list : {_first, _free, _reserved}) {
        while (list != nullptr) {
            std::free(std::exchange(list, list->next));
        }
    }
}

SelfModule::Packet* SelfModule::make_packet(std::size_t room) noexcept {
    if (room <= pooled_room) {
        if (_free != nullptr) {
            return std::exchange(_free, _free->next);
        }
        room = pooled_room;
    }
    void* memory = std::malloc(sizeof(Packet) + room);
    if (memory == nullptr) {
        return nullptr;
    }
    return ::new (memory) Packet{nullptr, room, 0, 0, {}};
}

void SelfModule::free_packet(Packet* packet) noexcept {
    if (packet->room > pooled_room) {
        std::free(packet);
        return;
    }
    packet->next = _free;
    _free = packet;
}

void SelfModule::enqueue(Packet* packet) noexcept {
    packet->next = nullptr;
    (_first == nullptr ? _first : _last->next) = packet;
    _last = packet;
    _queued += sizeof(Packet) + packet->payload_size;
}

Endpoint* SelfModule::connect(ProcessId process) noexcept {
    return process == _endpoint.process ? &_endpoint : nullptr;
}

SendCode SelfModule::send(
    Endpoint& to, const void* header, std::size_t header_size, const void* payload, std::size_t payload_size) noexcept {
    const Reservation reservation = reserve(to, header_size, payload_size);
    if (reservation.code != SendCode::ok) {
        return reservation.code;
    }
    if (payload_size != 0) {
        copy_bytes(reservation.room.data(), payload, payload_size);
    }
    return commit(to, header, header_size, payload_size);
}

Module::Reservation SelfModule::reserve(Endpoint&, std::size_t, std::size_t payload_size) noexcept {
    if (_queued + payload_size > _queue_limit && _queued != 0) {
        return {SendCode::full, {}};
    }
    _reserved = make_packet(payload_size);
    if (_reserved == nullptr) {
        return {SendCode::no_memory, {}};
    }
    return {SendCode::ok, {_reserved->payload(), payload_size}};
}

SendCode SelfModule::commit(Endpoint&, const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
    Packet* packet = std::exchange(_reserved, nullptr);
    std::memcpy(packet->header, header, header_size);
    packet->header_size = header_size;
    packet->payload_size = payload_size;
    enqueue(packet);
    if (_progress.threaded()) [[unlikely]] {
        _progress.wake(); // another thread may wait for this packet
    }
    return SendCode::ok;
}

std::ptrdiff_t SelfModule::get(Endpoint&, std::uint64_t remote, std::span<const iovec> local) noexcept {
    const auto* from = reinterpret_cast<const std::byte*>(remote);
    std::ptrdiff_t done = 0;
    for (const iovec& block : local) {
        copy_bytes(block.iov_base, from + done, block.iov_len);
        done += std::ptrdiff_t(block.iov_len);
    }
    return done;
}

int SelfModule::poll() noexcept {
    int delivered = 0;
    // The receiver may send again from inside: the bound keeps an echo from going on for ever.
    while (_first != nullptr && delivered < packets_per_poll) {
        Packet* packet = std::exchange(_first, _first->next);
        _queued -= sizeof(Packet) + packet->payload_size;
        ++delivered;
        const bool taken = packet->payload_size == 0 ? deliver_header(packet) : deliver(packet);
        if (!taken) {
            put_back(packet);
            break;
        }
    }
    return delivered;
}

// false: the packet has not been taken and is in no list.
bool SelfModule::deliver(Packet* packet) noexcept {
    const bool taken =
        _receiver(_context, _endpoint, packet->header, packet->header_size, packet->payload(), packet->payload_size);
    if (taken) {
        free_packet(packet);
    }
    return taken;
}

// The same for a packet without payload. It is free while it is delivered, so that a reply needs no memory. A receiver
// that does not take it has sent nothing, so that the packet is still the first free one.
bool SelfModule::deliver_header(Packet* packet) noexcept {
    alignas(8) std::array<std::byte, header_room> header;
    const std::size_t header_size = packet->header_size;
    std::memcpy(header.data(), packet->header, header_size);
    free_packet(packet);
    const bool taken = _receiver(_context, _endpoint, header.data(), header_size, nullptr, 0);
    if (!taken) {
        _free = packet->next;
    }
    return taken;
}

void SelfModule::put_back(Packet* packet) noexcept {
    packet->next = _first;
    if (_first == nullptr) {
        _last = packet;
    }
    _first = packet;
    _queued += sizeof(Packet) + packet->payload_size;
}

} // namespace patchbay::btl::self
