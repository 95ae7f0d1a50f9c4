// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/convertor.h"
#include "object/datatype.h"

#include <cstddef>
#include <cstdint>

namespace patchbay::chan::sm {

// The buffers of one side of a channel, one for each start of its slackness, as a circle. What the datatype needs is
// computed when it is bound.
class Buffers {
public:
    Buffers(void* buffer, MPI_Count count, const Datatype& type, std::uint32_t slackness, MPI_Aint increment) noexcept
        : _type(type),
          _slackness(slackness),
          _increment(increment) {
        rebind(buffer, count);
    }

    // Of one message.
    std::uint64_t bytes() const noexcept { return _bytes; }
    // Whether the data is one block; in the present buffer it begins at data().
    bool is_block() const noexcept { return _type.dense || _bytes == 0; }
    std::byte* data() const noexcept { return _data; }
    // Which buffer of the circle is the present one.
    std::uint32_t index() const noexcept { return _index; }

    // The present message as a stream of bytes, from its beginning. Where it is not one block.
    Convertor& stream() noexcept {
        if (_stale) {
            _stream = Convertor(_type, _count, _data - _type.true_lower_bound);
            _stale = false;
        }
        _stream.seek(0);
        return _stream;
    }

    // To the buffer of the next message.
    void advance() noexcept {
        if (_slackness != 1) {
            advance_around();
        }
    }
    // The data of the message `ahead` messages after the present one; ahead < slackness.
    std::byte* data_ahead(std::uint64_t ahead) const noexcept {
        std::uint64_t index = _index + ahead;
        index -= index >= _slackness ? _slackness : 0;
        return _data + (MPI_Aint(index) - MPI_Aint(_index)) * _increment;
    }

    void rebind(void* buffer, MPI_Count count) noexcept {
        _count = count;
        _bytes = std::uint64_t(_type.size) * std::uint64_t(count);
        // Arithmetic on addresses: the buffer may be MPI_BOTTOM.
        _data = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
            std::uintptr_t(_type.true_lower_bound) + std::uintptr_t(MPI_Aint(_index) * _increment));
        _stale = true;
    }

private:
    void advance_around() noexcept {
        if (++_index == _slackness) {
            _index = 0;
            _data -= MPI_Aint(_slackness - 1) * _increment;
        } else {
            _data += _increment;
        }
        _stale = true;
    }

    const Datatype& _type;
    const std::uint32_t _slackness;
    std::uint32_t _index = 0;
    const MPI_Aint _increment;
    std::byte* _data = nullptr;
    std::uint64_t _bytes = 0;
    MPI_Count _count = 0;
    bool _stale = true; // _stream is of another buffer
    Convertor _stream;
};

} // namespace patchbay::chan::sm
