// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/sm/buffers.h"
#include "components/chan/sm/shared.h"
#include "components/common/short_copy.h"
#include "core/memory/shared_heap.h"
#include "core/progress/doorbell.h"

#include <memory>

namespace patchbay::chan::sm {

// The receiving half of the transfer. One thread at a time.
class Receiver {
public:
    struct Shared {
        ReceiverBlock* own = nullptr;
        SenderBlock* partner = nullptr;
        Geometry geometry{}; // the sender's
        Doorbell* bell = nullptr;
    };

    // Throws std::bad_alloc.
    Receiver(const Buffers& buffers, std::uint32_t slackness, SharedHeap& heap)
        : _buffers(buffers),
          _lengths(new std::uint64_t[slackness]),
          _slackness(slackness),
          _heap(heap) {}

    // Before the first message. `posts`: the sender wants to know of each start.
    void connect(const Shared& shared, bool posts) noexcept;
    // All messages that may be outstanding have room in the ring, whatever was sent before: the sender never waits for
    // this process once their receives have been started.
    bool ring_holds_all() const noexcept { return chunks_of_all() <= _geometry.chunks; }

    // Starts a receive; advance() continues.
    void start() noexcept {
        if (_posts) {
            post();
        }
        ++_started;
    }
    // For a caller that takes messages of one chunk itself (ReceiveHalf::check()); `chunks` is nullptr: messages are
    // not like that, or some have not ended.
    struct QuickWay {
        std::byte* chunks = nullptr;
        std::uint64_t mask = 0;
        std::uint64_t stride = 0;
        std::byte* data = nullptr;
        std::uint64_t bytes = 0;
        std::uint64_t next = 0;       // message, and chunk
        std::uint64_t publish_at = 0; // call publish_quickly() when so many have been taken
        std::uint64_t payload_offset = 0;
    };
    QuickWay quick_way() const noexcept {
        const bool possible = _quick && !_posts && _slackness == 1 && _started == _chunk && _ended == _chunk &&
            _geometry.allows_quick_way(_buffers.bytes());
        return {possible ? _chunks : nullptr, _mask, _stride, _buffers.data(), _buffers.bytes(), _chunk, _publish_at,
            _geometry.payload_offset};
    }
    // What such a caller has done: so many messages have ended in all, and so many receives were started.
    void catch_up(std::uint64_t ended, std::uint64_t started) noexcept {
        _ended = _chunk = ended;
        _started = started;
    }
    // Returns the next publish_at.
    std::uint64_t publish_quickly(std::uint64_t taken) noexcept {
        _chunk = taken;
        publish();
        return _publish_at;
    }

    // Takes what has arrived of the oldest message whose receive has been started and has not ended. true: that message
    // has ended; length() of its number is known. Called only while there is such a receive.
    bool advance() noexcept {
        std::byte* const chunk = _chunks + (_chunk & _mask) * _stride;
        const std::uint64_t word = reinterpret_cast<Word*>(chunk)->load(std::memory_order_acquire);
        if (!ChunkWord::is_of(word, _chunk)) {
            return false;
        }
        const std::uint64_t bytes = word & ChunkWord::bytes_mask;
        if (!_quick || bytes != _buffers.bytes()) [[unlikely]] {
            return take(chunk, word);
        }
        common::copy_any(_buffers.data(), chunk + _geometry.payload_offset, bytes);
        end_chunk();
        end_message(bytes);
        return true;
    }
    // Messages, counted from the first one. Those that have ended are complete in the buffer.
    std::uint64_t started() const noexcept { return _started; }
    std::uint64_t ended() const noexcept { return _ended; }
    // Chunks that have been taken.
    std::uint64_t chunks() const noexcept { return _chunk; }
    // What the sender sent as this message, counted from 0, which has ended and is not older than the slackness:
    // perhaps more than the buffer has room for.
    std::uint64_t length(std::uint64_t message) const noexcept { return _lengths[message % _slackness]; }
    std::uint64_t capacity() const noexcept { return _buffers.bytes(); }

    void rebind(void* buffer, MPI_Count count) noexcept {
        _buffers.rebind(buffer, count);
        set_quick();
    }

private:
    void set_quick() noexcept { _quick = _buffers.is_block() && _geometry.whole_messages != 0; }
    void post() noexcept;
    bool take(std::byte* chunk, std::uint64_t word) noexcept;
    void end_message(std::uint64_t bytes) noexcept {
        _lengths[_buffers.index()] = bytes;
        ++_ended;
        _buffers.advance();
        if (_chunk + _early > _publish_at) [[unlikely]] {
            publish();
        }
    }
    void end_chunk() noexcept {
        ++_chunk;
        if (_chunk >= _publish_at) {
            publish();
        }
    }
    void publish() noexcept;
    std::uint64_t chunks_of_all() const noexcept { return _geometry.chunks_of(_buffers.bytes()) * _slackness; }

    std::uint64_t _started = 0; // receives
    std::uint64_t _ended = 0;
    std::uint64_t _chunk = 0;      // the next one
    std::uint64_t _publish_at = 0; // the sender is told what is consumed when this many chunks are
    std::uint64_t _early = 0;      // ... or fewer by so many, at the end of a message
    std::byte* _chunks = nullptr;
    std::uint64_t _mask = 0;
    std::uint64_t _stride = 0;
    bool _quick = false; // messages are one chunk, and the buffer is one block
    bool _posts = false;
    Buffers _buffers;
    const std::unique_ptr<std::uint64_t[]> _lengths; // of messages that have ended

    const std::uint32_t _slackness;
    std::uint64_t _position = 0; // bytes of the present message that have arrived
    Geometry _geometry{};
    ReceiverBlock* _own = nullptr;
    Doorbell* _bell = nullptr;
    SharedHeap& _heap;
};

} // namespace patchbay::chan::sm
