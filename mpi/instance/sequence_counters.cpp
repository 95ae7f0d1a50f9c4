// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/sequence_counters.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>

namespace patchbay {

namespace {

constexpr unsigned chunk_bits = 12;
constexpr std::size_t chunk_size = std::size_t(1) << chunk_bits; // a longer entry gets a chunk of its own
constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

// An entry consists of the group id, the count, the length of the text, and the text. It is not aligned.
constexpr std::size_t count_at = sizeof(std::uint32_t);
constexpr std::size_t length_at = count_at + sizeof(std::uint32_t);
constexpr std::size_t text_at = length_at + sizeof(std::uint16_t);

template <class T>
T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void store(std::byte* to, T value) noexcept {
    std::memcpy(to, &value, sizeof value);
}

std::string_view text_of(const std::byte* entry) noexcept {
    return {reinterpret_cast<const char*>(entry) + text_at, load<std::uint16_t>(entry + length_at)};
}

} // namespace

std::byte* SequenceCounters::at(Place place) const noexcept {
    return _chunks[place >> chunk_bits].get() + place % chunk_size;
}

bool SequenceCounters::is(Place place, std::uint32_t group_id, std::string_view text) const noexcept {
    const std::byte* entry = at(place);
    return load<std::uint32_t>(entry) == group_id && text_of(entry) == text;
}

// The slot of this pair, or the free slot where it is to be inserted.
std::size_t SequenceCounters::slot_of(std::uint32_t group_id, std::string_view text) const noexcept {
    const std::size_t hash = std::hash<std::string_view>()(text) + group_id * std::size_t(0x9e3779b97f4a7c15);
    std::size_t slot = (hash ^ hash >> 32) & (_slots.size() - 1);
    while (_slots[slot] != nothing && !is(_slots[slot], group_id, text)) {
        slot = (slot + 1) & (_slots.size() - 1);
    }
    return slot;
}

std::uint32_t SequenceCounters::next(std::uint32_t group_id, std::string_view text, std::uint32_t least) {
    if (4 * (_entries + 1) > 3 * _slots.size()) {
        grow();
    }
    Place& place = _slots[slot_of(group_id, text)];
    if (place == nothing) {
        place = append(group_id, text);
        ++_entries;
    }
    std::byte* count = at(place) + count_at;
    const auto before = std::max(load<std::uint32_t>(count), least);
    store(count, before + 1);
    return before;
}

void SequenceCounters::grow() {
    std::vector<Place> before(std::max<std::size_t>(8, 2 * _slots.size()), nothing);
    before.swap(_slots);
    for (const Place place : before) {
        if (place != nothing) {
            const std::byte* entry = at(place);
            _slots[slot_of(load<std::uint32_t>(entry), text_of(entry))] = place;
        }
    }
}

SequenceCounters::Place SequenceCounters::append(std::uint32_t group_id, std::string_view text) {
    const std::size_t size = text_at + text.size();
    if (text.size() > std::numeric_limits<std::uint16_t>::max() || _chunks.size() == nothing >> chunk_bits) {
        throw std::bad_alloc();
    }
    if (_last_size - _used < size) {
        const std::size_t room = std::max(size, chunk_size);
        _chunks.push_back(std::make_unique_for_overwrite<std::byte[]>(room));
        _last_size = room;
        _used = 0;
    }
    const auto place = Place((_chunks.size() - 1) << chunk_bits | _used);
    std::byte* entry = at(place);
    store(entry, group_id);
    store(entry + count_at, std::uint32_t(0));
    store(entry + length_at, std::uint16_t(text.size()));
    if (!text.empty()) {
        std::memcpy(entry + text_at, text.data(), text.size());
    }
    _used += size;
    return place;
}

} // namespace patchbay
