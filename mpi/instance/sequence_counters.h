// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A counter for each pair of a group id and a text. Counters are never deleted, so that each one must be small: it
// takes the text, 10 bytes, and a slot of a hash table, whose look-up compares the text byte by byte. Not thread-safe.
class SequenceCounters {
public:
    // The number of earlier calls with this pair, or `least` where that is higher: then it is as if there had been so
    // many.
    std::uint32_t next(std::uint32_t group_id, std::string_view text, std::uint32_t least = 0);

private:
    using Place = std::uint32_t; // of an entry: the chunk in the high bits, the byte in the chunk in the low bits

    std::byte* at(Place place) const noexcept;
    Place append(std::uint32_t group_id, std::string_view text);
    bool is(Place place, std::uint32_t group_id, std::string_view text) const noexcept;
    std::size_t slot_of(std::uint32_t group_id, std::string_view text) const noexcept;
    void grow();

    std::vector<std::unique_ptr<std::byte[]>> _chunks;
    std::size_t _used = 0;      // bytes of the last chunk
    std::size_t _last_size = 0; // of the last chunk
    std::size_t _entries = 0;
    std::vector<Place> _slots; // its size is a power of two, or 0
};

} // namespace patchbay
