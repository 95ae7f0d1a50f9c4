// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/sm/sender.h"

#include <algorithm>
#include <array>

namespace patchbay::chan::sm {

void Sender::connect(const Shared& shared, Mode mode) noexcept {
    _geometry = shared.geometry;
    _chunks = shared.own->chunks();
    _mask = _geometry.chunks - 1;
    _stride = _geometry.stride;
    _limit = _geometry.chunks;
    _partner = shared.partner;
    _bell = shared.bell;
    _mode = mode;
    set_quick_limit();
}

bool Sender::refresh_limit() noexcept {
    _limit = _partner->consumed.load(std::memory_order_acquire) + _geometry.chunks;
    set_quick_limit();
    return _chunk < _limit;
}

void Sender::set_quick_limit() noexcept {
    const bool quick = _mode == Mode::ring && !_synchronous && _buffers.is_block() && _geometry.whole_messages != 0;
    _quick_limit = quick ? _limit : 0;
}

bool Sender::advance() noexcept {
    while (_sent != _started && send_present()) {
    }
    if (_synchronous) {
        count_received();
    }
    return complete() == _started;
}

// A later lap of a place implies this one.
void Sender::count_received() noexcept {
    while (_complete != _sent && posted(_complete).number.load(std::memory_order_acquire) > _complete) {
        ++_complete;
    }
}

// false: it has to wait.
bool Sender::send_present() noexcept {
    if (_way == Way::none) {
        return choose_way();
    }
    return _way == Way::ring ? send_by_ring() : put();
}

// A message that goes directly waits until the receive has been posted, which says where its buffer is. A receive may
// be rebound to a buffer that cannot be reached.
bool Sender::choose_way() noexcept {
    if (_mode == Mode::direct) {
        const Posted& posted = this->posted(_sent);
        if (posted.number.load(std::memory_order_acquire) <= _sent || !has_room()) {
            return false;
        }
        if (std::byte* const to = _direct.mapped(posted)) {
            return place(to, posted);
        }
        if (_direct.can_put(posted) && _buffers.is_block()) {
            _way = Way::putting;
            const std::uint64_t bytes = std::min(_buffers.bytes(), posted.bytes);
            const iovec local{_buffers.data(), bytes};
            const auto outcome = _direct.put(posted, std::span(&local, 1), bytes);
            if (outcome != DirectWay::Outcome::refused) {
                return outcome == DirectWay::Outcome::done ? (end_placed(), true) : false;
            }
        }
    }
    _way = Way::ring;
    return send_by_ring();
}

bool Sender::put() noexcept {
    switch (_direct.continue_put()) {
    case DirectWay::Outcome::pending:
        return false;
    case DirectWay::Outcome::done:
        end_placed();
        return true;
    case DirectWay::Outcome::refused:
        break;
    }
    _way = Way::ring;
    return send_by_ring();
}

bool Sender::place(std::byte* to, const Posted& posted) noexcept {
    const auto bytes = std::size_t(std::min(_buffers.bytes(), posted.bytes));
    if (_buffers.is_block()) {
        _payload_copy.copy_exactly(to, _buffers.data(), bytes);
    } else {
        _buffers.stream().pack(to, bytes);
    }
    end_placed();
    return true;
}

// The chunk tells the whole length: a receiver with less room has to know that.
void Sender::end_placed() noexcept {
    std::byte* const chunk = _chunks + (_chunk & _mask) * _stride;
    const std::uint64_t bytes = _buffers.bytes();
    std::memcpy(chunk + sizeof(Word), &bytes, sizeof bytes);
    publish(chunk, ChunkWord::last | ChunkWord::placed);
    end_message();
}

bool Sender::send_by_ring() noexcept {
    const std::uint64_t total = _buffers.bytes();
    Convertor* stream = nullptr;
    if (!_buffers.is_block()) {
        stream = &_buffers.stream();
        stream->seek(std::size_t(_position));
    }
    for (;;) {
        if (!has_room()) {
            return false;
        }
        const auto bytes = std::size_t(std::min<std::uint64_t>(total - _position, _geometry.payload_bytes));
        std::byte* const chunk = _chunks + (_chunk & _mask) * _stride;
        std::byte* const payload = chunk + _geometry.payload_offset;
        if (stream != nullptr) {
            stream->pack(payload, bytes);
        } else {
            write_payload(payload, _buffers.data() + _position, bytes);
        }
        _position += bytes;
        const bool last = _position == total;
        publish(chunk, (last ? ChunkWord::last : 0) | bytes);
        if (last) {
            end_message();
            return true;
        }
    }
}

void Sender::end_message() noexcept {
    _position = 0;
    _way = Way::none;
    ++_sent;
    _buffers.advance();
}

} // namespace patchbay::chan::sm
