// SPDX-License-Identifier: BSD-3-Clause
#include "object/external32.h"

#include "object/fortran_logicals.h"
#include "object/layout.h"
#include "object/layout_walk.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace patchbay {
namespace {

static_assert(std::endian::native == std::endian::little);

std::uint16_t reverse(std::uint16_t value) noexcept {
    return __builtin_bswap16(value);
}
std::uint32_t reverse(std::uint32_t value) noexcept {
    return __builtin_bswap32(value);
}
std::uint64_t reverse(std::uint64_t value) noexcept {
    return __builtin_bswap64(value);
}
unsigned __int128 reverse(unsigned __int128 value) noexcept {
    const std::uint64_t low = reverse(std::uint64_t(value >> 64));
    return static_cast<unsigned __int128>(reverse(std::uint64_t(value))) << 64 | low;
}

// Copies `count` values of the size of Word and reverses the bytes of each. Packing and unpacking are the same.
template <class Word>
void reverse_each(const std::byte* from, std::byte* to, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i, from += sizeof(Word), to += sizeof(Word)) {
        Word value;
        std::memcpy(&value, from, sizeof value);
        value = reverse(value);
        std::memcpy(to, &value, sizeof value);
    }
}

void reverse_each(std::size_t width, const std::byte* from, std::byte* to, std::size_t count) noexcept {
    switch (width) {
    case 1:
        std::memcpy(to, from, count);
        return;
    case 2:
        return reverse_each<std::uint16_t>(from, to, count);
    case 4:
        return reverse_each<std::uint32_t>(from, to, count);
    case 8:
        return reverse_each<std::uint64_t>(from, to, count);
    default:
        return reverse_each<unsigned __int128>(from, to, count);
    }
}

bool is_complex(Machine machine) {
    return machine == Machine::c32 || machine == Machine::c64 || machine == Machine::c80 || machine == Machine::c128;
}

// Converts values between two formats of different width; the external one is a native format with reversed bytes.
template <class From, class To>
bool change_each(const std::byte* from, std::byte* to, std::size_t count, bool reverse_source) noexcept {
    bool fits = true;
    for (std::size_t i = 0; i < count; ++i, from += sizeof(From), to += sizeof(To)) {
        std::byte bytes[sizeof(From)];
        reverse_source ? reverse_each(sizeof(From), from, bytes, 1) : (void)std::memcpy(bytes, from, sizeof(From));
        From value;
        std::memcpy(&value, bytes, sizeof value);
        const auto changed = static_cast<To>(value);
        if constexpr (std::numeric_limits<From>::is_integer) {
            fits = fits && static_cast<From>(changed) == value;
        }
        std::byte result[sizeof(To)];
        std::memcpy(result, &changed, sizeof changed);
        reverse_source ? (void)std::memcpy(to, result, sizeof(To)) : reverse_each(sizeof(To), result, to, 1);
    }
    return fits;
}

template <class Native, class External>
bool change(const std::byte* from, std::byte* to, std::size_t count, bool packing) noexcept {
    return packing ? change_each<Native, External>(from, to, count, false)
                   : change_each<External, Native>(from, to, count, true);
}

// LOGICALs of Fortran whose values are registered: there 0 is false, and 1 is true.
template <class T>
void convert_logicals(const std::byte* from, std::byte* to, std::size_t count, bool packing) noexcept {
    const auto values = FortranLogicals::values<T>();
    for (std::size_t i = 0; i < count; ++i, from += sizeof(T), to += sizeof(T)) {
        T value;
        std::memcpy(&value, from, sizeof value);
        value = packing ? T(value != values.no) : (value != 0 ? values.yes : values.no);
        packing ? reverse_each(sizeof(T), reinterpret_cast<const std::byte*>(&value), to, 1)
                : (void)std::memcpy(to, &value, sizeof value);
    }
}

void convert_logicals(
    std::size_t size, const std::byte* from, std::byte* to, std::size_t count, bool packing) noexcept {
    switch (size) {
    case 1:
        return convert_logicals<std::uint8_t>(from, to, count, packing);
    case 2:
        return convert_logicals<std::uint16_t>(from, to, count, packing);
    case 4:
        return convert_logicals<std::uint32_t>(from, to, count, packing);
    case 8:
        return convert_logicals<std::uint64_t>(from, to, count, packing);
    default:
        return convert_logicals<unsigned __int128>(from, to, count, packing);
    }
}

bool is_registered_logical(const BasicType& type) noexcept {
    return type.machine >= Machine::l8 && type.machine <= Machine::l128 && type.size == FortranLogicals::size();
}

// Converts `count` values. false: a value did not fit.
bool convert(const BasicType& type, const std::byte* from, std::byte* to, std::size_t count, bool packing) noexcept {
    const std::size_t parts = is_complex(type.machine) ? 2 : 1;
    if (type.machine == Machine::f80 || type.machine == Machine::c80) {
        return change<long double, __float128>(from, to, count * parts, packing);
    }
    if (is_registered_logical(type)) {
        convert_logicals(type.size, from, to, count, packing);
        return true;
    }
    if (type.size == type.external_size) {
        reverse_each(type.machine == Machine::bytes ? 1 : type.size / parts, from, to,
            type.machine == Machine::bytes ? count * type.size : count * parts);
        return true;
    }
    switch (type.machine) {
    case Machine::i64:
        return change<std::int64_t, std::int32_t>(from, to, count, packing);
    case Machine::u64:
        return change<std::uint64_t, std::uint32_t>(from, to, count, packing);
    default: // MPI_WCHAR
        return change<std::uint32_t, std::uint16_t>(from, to, count, packing);
    }
}

struct Converter {
    std::byte* stream;
    bool packing;
    std::size_t budget = std::numeric_limits<std::size_t>::max();
    bool fits = true;

    bool run(std::uintptr_t address, MPI_Aint stride, std::size_t count, const Layout::Node& node) noexcept {
        const BasicType& type = basic_type(node.basic);
        const std::size_t values = node.bytes / type.size;
        for (std::size_t i = 0; i < count; ++i, address += static_cast<std::uintptr_t>(stride)) {
            auto* memory = reinterpret_cast<std::byte*>(address);
            const bool fine =
                packing ? convert(type, memory, stream, values, true) : convert(type, stream, memory, values, false);
            fits = fits && fine;
            stream += values * type.external_size;
        }
        return true;
    }
    // The whole stream is converted in one pass from its beginning, so that no block is split.
    bool part(std::uintptr_t, std::size_t, const Layout::Node&) noexcept { return false; }
};

int convert_all(std::uintptr_t memory, MPI_Count count, const Datatype& type, void* stream, bool packing) {
    if (count == 0 || type.size == 0) {
        return MPI_SUCCESS;
    }
    const Layout& layout = type.typed_layout();
    const Layout::Node all = layout.repeat(count, type.extent);
    Converter converter{static_cast<std::byte*>(stream), packing};
    walk_node(layout, all, memory, 0, converter);
    return converter.fits ? MPI_SUCCESS : MPI_ERR_CONVERSION;
}

} // namespace

std::uint64_t external32_size(const Datatype& type) {
    const Layout& layout = type.typed_layout();
    const Layout::Node* nodes = layout.nodes();
    // The sizes of one iteration of each node. A body precedes its loop in the list of nodes.
    std::vector<std::uint64_t> sizes(layout.node_count());
    const auto sum = [&](std::uint32_t first, std::uint32_t count) {
        std::uint64_t total = 0;
        for (std::uint32_t i = first; i < first + count; ++i) {
            total += sizes[i] * static_cast<std::uint64_t>(nodes[i].count);
        }
        return total;
    };
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const BasicType& basic = basic_type(nodes[i].basic);
        sizes[i] = nodes[i].is_block() ? nodes[i].bytes / basic.size * basic.external_size
                                       : sum(nodes[i].first_child, nodes[i].children);
    }
    return sum(layout.first_root(), layout.roots());
}

int external32_pack(const void* memory, MPI_Count count, const Datatype& type, void* stream) {
    return convert_all(reinterpret_cast<std::uintptr_t>(memory), count, type, stream, true);
}

int external32_unpack(const void* stream, void* memory, MPI_Count count, const Datatype& type) {
    return convert_all(reinterpret_cast<std::uintptr_t>(memory), count, type, const_cast<void*>(stream), false);
}

} // namespace patchbay
