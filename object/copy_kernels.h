// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/copy.h"
#include "object/layout.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The loops that copy blocks between memory and a packed stream. Each exists for every common size of a block, which is
// then a constant of its loop, and for ranges of sizes, where two copies of constant size that may overlap each other
// make one of any size.
namespace patchbay::kernels {

enum class Direction { pack, unpack };

// Copies from `half` to twice as many bytes.
template <std::size_t half>
inline void move_ends(void* to, const void* from, std::size_t size) noexcept {
    std::memcpy(to, from, half);
    std::memcpy(static_cast<std::byte*>(to) + size - half, static_cast<const std::byte*>(from) + size - half, half);
}

// A number of that many bytes, for blocks that are copied four at a time; void: they are copied one by one.
template <std::size_t bytes>
struct WordOf {
    using type = void;
};
template <>
struct WordOf<1> {
    using type = std::uint8_t;
};
template <>
struct WordOf<2> {
    using type = std::uint16_t;
};
template <>
struct WordOf<4> {
    using type = std::uint32_t;
};
template <>
struct WordOf<8> {
    using type = std::uint64_t;
};

// How to copy a block: of a size that is known when the library is compiled, or of one in a range.
template <std::size_t bytes>
struct Fixed {
    using Word = typename WordOf<bytes>::type;
    static std::size_t size(std::size_t) noexcept { return bytes; }
    static void copy(void* to, const void* from, std::size_t) noexcept { std::memcpy(to, from, bytes); }
};

struct UpTo7 {
    using Word = void;
    static std::size_t size(std::size_t bytes) noexcept { return bytes; }
    static void copy(void* to, const void* from, std::size_t bytes) noexcept {
        if (bytes >= 4) {
            return move_ends<4>(to, from, bytes);
        }
        if (bytes >= 2) {
            return move_ends<2>(to, from, bytes);
        }
        std::memcpy(to, from, 1);
    }
};

template <std::size_t half>
struct Between {
    using Word = void;
    static std::size_t size(std::size_t bytes) noexcept { return bytes; }
    static void copy(void* to, const void* from, std::size_t bytes) noexcept { move_ends<half>(to, from, bytes); }
};

// Up to a few hundred bytes a call of memcpy costs more than it gains, but for the range of sizes that glibc's memcpy
// copies with the widest registers and without a loop.
constexpr std::size_t longest_in_line = 512;
constexpr bool better_by_memcpy(std::size_t bytes) noexcept {
    return bytes > longest_in_line || (bytes > 128 && bytes <= 256);
}

struct InLine {
    using Word = void;
    static std::size_t size(std::size_t bytes) noexcept { return bytes; }
    static void copy(void* to, const void* from, std::size_t bytes) noexcept {
        auto* target = static_cast<std::byte*>(to);
        const auto* source = static_cast<const std::byte*>(from);
        std::size_t at = 0;
        for (; at + 64 < bytes; at += 64) {
            std::memcpy(target + at, source + at, 64);
        }
        std::memcpy(target + bytes - 64, source + bytes - 64, 64);
    }
};

struct ByMemcpy {
    using Word = void;
    static std::size_t size(std::size_t bytes) noexcept { return bytes; }
    static void copy(void* to, const void* from, std::size_t bytes) noexcept { copy_bytes(to, from, bytes); }
};

// Calls visit(how) with the way to copy blocks of that size, which is not zero.
template <class Visit>
inline void choose(std::size_t size, Visit&& visit) noexcept {
    switch (size) {
    case 1:
        return visit(Fixed<1>());
    case 2:
        return visit(Fixed<2>());
    case 4:
        return visit(Fixed<4>());
    case 8:
        return visit(Fixed<8>());
    case 12:
        return visit(Fixed<12>());
    case 16:
        return visit(Fixed<16>());
    case 24:
        return visit(Fixed<24>());
    case 32:
        return visit(Fixed<32>());
    case 48:
        return visit(Fixed<48>());
    case 64:
        return visit(Fixed<64>());
    default:
        break;
    }
    if (size < 8) {
        visit(UpTo7());
    } else if (size < 16) {
        visit(Between<8>());
    } else if (size < 32) {
        visit(Between<16>());
    } else if (size < 64) {
        visit(Between<32>());
    } else if (better_by_memcpy(size)) {
        visit(ByMemcpy());
    } else {
        visit(InLine());
    }
}

// A block whose size differs from that of the one before it: few branches, most of them of the sizes that are frequent.
inline void copy_any(void* to, const void* from, std::size_t size) noexcept {
    if (size - 8 <= 8) {
        move_ends<8>(to, from, size);
    } else if (size - 16 <= 16) {
        move_ends<16>(to, from, size);
    } else if (size - 32 <= 32) {
        move_ends<32>(to, from, size);
    } else if (size < 8) {
        UpTo7::copy(to, from, size);
    } else if (size <= longest_in_line) {
        InLine::copy(to, from, size);
    } else {
        copy_bytes(to, from, size);
    }
}

template <Direction direction, class How>
inline void copy_one(How, std::byte* stream, std::byte* memory, std::size_t size) noexcept {
    if constexpr (direction == Direction::pack) {
        How::copy(stream, memory, size);
    } else {
        How::copy(memory, stream, size);
    }
}

// Copies blocks 0 to 3 of one word each; stream(i) and memory(i) are where they are. All loads precede all stores,
// which is a third faster than in turns.
template <Direction direction, class Word, class Stream, class Memory>
inline void copy_four(Stream&& stream, Memory&& memory) noexcept {
    const auto load = [&](std::size_t i) {
        Word word;
        std::memcpy(&word, direction == Direction::pack ? memory(i) : stream(i), sizeof word);
        return word;
    };
    const auto store = [&](std::size_t i, Word word) {
        std::memcpy(direction == Direction::pack ? stream(i) : memory(i), &word, sizeof word);
    };
    const Word word0 = load(0);
    const Word word1 = load(1);
    const Word word2 = load(2);
    const Word word3 = load(3);
    store(0, word0);
    store(1, word1);
    store(2, word2);
    store(3, word3);
}

// Copies `count` blocks, which lie `stride` bytes apart in memory and `step` bytes apart in the stream.
template <Direction direction, class How>
inline void copy_row(How how, std::byte* stream, std::size_t step, std::uintptr_t address, std::uintptr_t stride,
    std::size_t count, std::size_t size) noexcept {
    if constexpr (!std::is_void_v<typename How::Word>) {
        for (; count >= 4; count -= 4, stream += 4 * step, address += 4 * stride) {
            copy_four<direction, typename How::Word>([=](std::size_t i) { return stream + i * step; },
                [=](std::size_t i) { return reinterpret_cast<std::byte*>(address + i * stride); });
        }
    }
    for (; count > 0; --count, stream += step, address += stride) {
        copy_one<direction>(how, stream, reinterpret_cast<std::byte*>(address), size);
    }
}

template <Direction direction>
void copy_blocks(std::byte* stream, std::size_t step, std::uintptr_t address, std::uintptr_t stride, std::size_t count,
    std::size_t size) noexcept {
    choose(size, [=](auto how) { copy_row<direction>(how, stream, step, address, stride, count, size); });
}

// Copies blocks without gaps in the stream.
template <Direction direction>
void copy_blocks(
    std::byte* stream, std::uintptr_t address, std::uintptr_t stride, std::size_t count, std::size_t size) noexcept {
    choose(size, [=](auto how) { copy_row<direction>(how, stream, how.size(size), address, stride, count, size); });
}

// Copies `rows` rows of `count` blocks each, without gaps in the stream.
template <Direction direction>
void copy_rows(std::byte* stream, std::uintptr_t address, std::uintptr_t row_stride, std::size_t rows,
    std::uintptr_t stride, std::size_t count, std::size_t size) noexcept {
    choose(size, [=](auto how) {
        std::byte* to = stream;
        std::uintptr_t at = address;
        for (std::size_t row = 0; row < rows; ++row, to += count * size, at += row_stride) {
            copy_row<direction>(how, to, how.size(size), at, stride, count, size);
        }
    });
}

// Copies `count` blocks of `size` bytes each at those offsets.
template <Direction direction>
void copy_equal(std::byte* stream, std::uintptr_t address, const std::int32_t* offsets, std::size_t count,
    std::size_t size) noexcept {
    choose(size, [=](auto how) {
        const std::size_t step = how.size(size);
        const auto memory = [=](std::int32_t offset) {
            return reinterpret_cast<std::byte*>(address + static_cast<std::uintptr_t>(std::intptr_t(offset)));
        };
        std::byte* to = stream;
        const std::int32_t* at = offsets;
        const std::int32_t* const end = offsets + count;
        if constexpr (!std::is_void_v<typename decltype(how)::Word>) {
            for (; end - at >= 4; at += 4, to += 4 * step) {
                copy_four<direction, typename decltype(how)::Word>(
                    [=](std::size_t i) { return to + i * step; }, [=](std::size_t i) { return memory(at[i]); });
            }
        }
        for (; at != end; ++at, to += step) {
            copy_one<direction>(how, to, memory(*at), size);
        }
    });
}

// How many blocks ahead the next ones of a long table are fetched into the cache: the branches on the sizes of the
// blocks keep the processor from looking ahead by itself. What a short table refers to is in the cache after its first
// use.
constexpr std::size_t ahead = 8;
constexpr std::size_t least_to_prefetch = 1000;

// Copies `count` blocks at those places; the entry after the last one is their end.
template <Direction direction>
void copy_various(std::byte* stream, std::uintptr_t address, const Layout::Place* places, std::size_t count) noexcept {
    const std::uint32_t first = places[0].before;
    const auto memory = [=](std::size_t i) {
        return address + static_cast<std::uintptr_t>(std::intptr_t(places[i].offset));
    };
    const auto block = [=](std::size_t i) {
        std::byte* const to = stream + (places[i].before - first);
        const std::size_t size = places[i + 1].before - places[i].before;
        if constexpr (direction == Direction::pack) {
            copy_any(to, reinterpret_cast<const void*>(memory(i)), size);
        } else {
            copy_any(reinterpret_cast<void*>(memory(i)), to, size);
        }
    };
    std::size_t i = 0;
    for (; count >= least_to_prefetch && i + ahead < count; ++i) {
        __builtin_prefetch(reinterpret_cast<const void*>(memory(i + ahead)), direction == Direction::unpack);
        block(i);
    }
    for (; i < count; ++i) {
        block(i);
    }
}

} // namespace patchbay::kernels
