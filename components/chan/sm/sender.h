// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/sm/buffers.h"
#include "components/chan/sm/direct.h"
#include "components/chan/sm/shared.h"
#include "components/common/short_copy.h"
#include "core/base/payload_copy.h"
#include "core/progress/doorbell.h"

namespace patchbay::chan::sm {

// The sending half of the transfer: writes messages to the ring of chunks, or to the receiver's buffer. One thread at a
// time. Nothing here blocks, allocates or makes a system call, but for a put of the kernel and for waking the receiver
// where it sleeps.
//
// A chunk is written when the receiver has consumed what was in it a lap before. What the receiver has consumed is read
// only when the ring appears to be full, so that a message of a chunk moves one way: the lines of that chunk.
class Sender {
public:
    struct Shared {
        SenderBlock* own = nullptr;
        Geometry geometry{};
        ReceiverBlock* partner = nullptr;
        Doorbell* bell = nullptr; // of the receiver's process
    };
    enum class Mode : std::uint8_t { ring, direct }; // where messages go if they can

    Sender(const Buffers& buffers, std::uint32_t slackness, bool synchronous, Stores stores, SharedHeap& heap) noexcept
        : _buffers(buffers),
          _slackness(slackness),
          _synchronous(synchronous),
          _payload_copy(stores),
          _direct(heap) {}

    // Before the first message.
    void connect(const Shared& shared, Mode mode) noexcept;
    DirectWay& direct() noexcept { return _direct; }

    // Starts a message. true: its buffer may be used again. false: advance() continues.
    bool start() noexcept {
        ++_started;
        if (_started <= _quick_limit && _started == _sent + 1) [[likely]] {
            send_quickly();
            return true;
        }
        return advance();
    }
    // For a caller that writes messages of one chunk itself (SendHalf::start()): where, and how many in all have room
    // now; 0: messages are not like that, or some have not been sent. A message of 8 bytes stands behind the word.
    struct QuickWay {
        std::byte* chunks = nullptr;
        std::uint64_t mask = 0;
        std::uint64_t stride = 0;
        const std::byte* data = nullptr;
        std::uint64_t bytes = 0;
        Doorbell* bell = nullptr;
        std::uint64_t limit = 0;
        std::uint64_t payload_offset = 0;
    };
    QuickWay quick_way() const noexcept {
        const bool idle = _started == _chunk && _sent == _chunk;
        const bool possible = idle && _geometry.allows_quick_way(_buffers.bytes());
        return {_chunks, _mask, _stride, _buffers.data(), _buffers.bytes(), _bell, possible ? _quick_limit : 0,
            _geometry.payload_offset};
    }
    // Writes a payload to a chunk, perhaps past the cache.
    void write_payload(std::byte* to, const std::byte* data, std::uint64_t bytes) noexcept {
        if (bytes < PayloadCopy::least) {
            common::copy_any(to, data, bytes);
        } else {
            _payload_copy.copy(to, data, bytes);
        }
    }
    // What such a caller has done: so many messages have been sent in all.
    void catch_up(std::uint64_t messages) noexcept { _started = _sent = _chunk = messages; }

    // Does what can be done now for the messages that have been started. Returns whether all of them have been sent,
    // and received as far as a synchronous send waits for that.
    bool advance() noexcept;
    // Messages whose sends are complete, counted from the first one.
    std::uint64_t complete() const noexcept { return _synchronous ? _complete : _sent; }
    std::uint64_t started() const noexcept { return _started; }
    // Chunks that have been written.
    std::uint64_t chunks() const noexcept { return _chunk; }

    // Between messages.
    void rebind(void* buffer, MPI_Count count) noexcept {
        _buffers.rebind(buffer, count);
        set_quick_limit();
    }

private:
    enum class Way : std::uint8_t { none, ring, putting }; // of the present message

    // A message that is one block and one chunk, for which there is room.
    void send_quickly() noexcept {
        std::byte* const chunk = _chunks + (_chunk & _mask) * _stride;
        write_payload(chunk + _geometry.payload_offset, _buffers.data(), _buffers.bytes());
        publish(chunk, ChunkWord::last | _buffers.bytes());
        ++_sent;
        _buffers.advance();
    }
    void publish(std::byte* chunk, std::uint64_t content) noexcept {
        reinterpret_cast<Word*>(chunk)->store(ChunkWord::make(_chunk, content), std::memory_order_release);
        ++_chunk;
        _bell->notify();
    }
    bool has_room() noexcept { return _chunk < _limit || refresh_limit(); }
    bool refresh_limit() noexcept;
    void set_quick_limit() noexcept;
    bool send_present() noexcept;
    bool choose_way() noexcept;
    bool send_by_ring() noexcept;
    bool put() noexcept;
    bool place(std::byte* to, const Posted& posted) noexcept;
    void end_placed() noexcept;
    void end_message() noexcept;
    Posted& posted(std::uint64_t message) const noexcept { return _partner->posted()[message % _slackness]; }
    void count_received() noexcept;

    // Of the hot path.
    std::uint64_t _started = 0; // messages
    std::uint64_t _sent = 0;
    std::uint64_t _chunk = 0; // the next one
    std::uint64_t _limit = 0; // chunks before this one have room
    // Messages up to this number are sent by send_quickly(). Where that is possible at all, each message is one chunk,
    // so that the number of messages is that of chunks.
    std::uint64_t _quick_limit = 0;
    std::byte* _chunks = nullptr;
    std::uint64_t _mask = 0;
    std::uint64_t _stride = 0;
    Doorbell* _bell = nullptr;
    Buffers _buffers;

    const std::uint32_t _slackness;
    const bool _synchronous;
    Mode _mode = Mode::ring;
    Way _way = Way::none;
    std::uint64_t _position = 0; // bytes of the present message that have been sent
    std::uint64_t _complete = 0; // of synchronous messages: those whose receive has been posted
    Geometry _geometry{};
    ReceiverBlock* _partner = nullptr;
    PayloadCopy _payload_copy;
    DirectWay _direct;
};

} // namespace patchbay::chan::sm
