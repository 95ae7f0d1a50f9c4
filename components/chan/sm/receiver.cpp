// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/receiver.h"

#include <algorithm>

namespace patchbay::chan::sm {

void Receiver::connect(const Shared& shared, bool posts) noexcept {
    _geometry = shared.geometry;
    _chunks = shared.partner->chunks();
    _mask = _geometry.chunks - 1;
    _stride = _geometry.stride;
    _own = shared.own;
    _bell = shared.bell;
    _posts = posts;
    _publish_at = _geometry.chunks / 4;
    // What the sender does not know of yet takes room from the messages that may be outstanding.
    if (ring_holds_all()) {
        const std::uint64_t spare = _geometry.chunks - chunks_of_all();
        _early = _publish_at - std::min(spare, _publish_at);
    }
    set_quick();
}

void Receiver::post() noexcept {
    Posted& posted = _own->posted()[_started % _slackness];
    std::byte* const data = _buffers.data_ahead(_started - _ended);
    const bool reachable = _buffers.is_block() && _buffers.bytes() > 0;
    posted.shared = reachable ? _heap.address_of_memory(data, std::size_t(_buffers.bytes())) : 0;
    posted.address = reachable ? reinterpret_cast<std::uintptr_t>(data) : 0;
    posted.bytes = _buffers.bytes();
    posted.number.store(_started + 1, std::memory_order_release);
    _bell->notify();
}

// Any chunk that has arrived, and those behind it.
bool Receiver::take(std::byte* chunk, std::uint64_t word) noexcept {
    const std::uint64_t capacity = _buffers.bytes();
    for (;;) {
        std::uint64_t bytes = word & ChunkWord::bytes_mask;
        if ((word & ChunkWord::placed) != 0) {
            std::memcpy(&bytes, chunk + sizeof(Word), sizeof bytes);
        } else if (_position < capacity) {
            const auto fitting = std::size_t(std::min(bytes, capacity - _position));
            const std::byte* payload = chunk + _geometry.payload_offset;
            if (_buffers.is_block()) {
                common::copy_any(_buffers.data() + _position, payload, fitting);
            } else {
                Convertor& stream = _buffers.stream();
                stream.seek(std::size_t(_position));
                stream.unpack(payload, fitting);
            }
        }
        _position += bytes;
        end_chunk();
        if ((word & ChunkWord::last) != 0) {
            break;
        }
        chunk = _chunks + (_chunk & _mask) * _stride;
        word = reinterpret_cast<Word*>(chunk)->load(std::memory_order_acquire);
        if (!ChunkWord::is_of(word, _chunk)) {
            return false;
        }
    }
    end_message(_position);
    _position = 0;
    return true;
}

// A quarter of the ring at a time, because the line moves to the sender and back for each. The end of a message
// publishes less where the chunks that are left would not hold all messages that may be outstanding.
void Receiver::publish() noexcept {
    _own->consumed.store(_chunk, std::memory_order_release);
    _publish_at = _chunk + _geometry.chunks / 4;
    _bell->notify();
}

} // namespace patchbay::chan::sm
