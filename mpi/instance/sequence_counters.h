// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// Counts how often each pair of a group_id and a text was used. It is never told to forget one, so each takes little:
// its text, 10 bytes, and a place in a table that is found by hash and compared byte by byte. Not thread-safe.
class SequenceCounters {
public:
    // How often it has been called with this pair before.
    std::uint32_t next(std::uint32_t group_id, std::string_view text);

private:
    using Place = std::uint32_t; // of an entry: its chunk, and the byte in there

    std::byte* at(Place place) const noexcept;
    Place append(std::uint32_t group_id, std::string_view text);
    bool is(Place place, std::uint32_t group_id, std::string_view text) const noexcept;
    std::size_t slot_of(std::uint32_t group_id, std::string_view text) const noexcept;
    void grow();

    std::vector<std::unique_ptr<std::byte[]>> _chunks;
    std::size_t _used = 0;      // bytes of the last chunk
    std::size_t _last_size = 0; // of the last chunk
    std::size_t _entries = 0;
    std::vector<Place> _slots; // a power of two of them, or none
};

} // namespace patchbay
