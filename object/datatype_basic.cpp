// SPDX-License-Identifier: BSD-3-Clause
#include "object/datatype_basic.h"

#include <algorithm>
#include <array>
#include <cwchar>
#include <string_view>

namespace patchbay {
namespace {

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

constexpr std::uint8_t external_size_of(Machine machine, std::size_t size) {
    switch (machine) {
    case Machine::none:
        return 0;
    case Machine::f80:
        return 16;
    case Machine::c80:
        return 32;
    default:
        return static_cast<std::uint8_t>(size);
    }
}

constexpr void set_name(BasicType& type, std::string_view name) {
    if (name.size() >= sizeof type.name) {
        throw "a name is too long"; // while the table is compiled
    }
    std::copy(name.begin(), name.end(), type.name);
}

template <class T>
constexpr BasicType type(std::uint16_t handle, const char* name, Machine machine, TypeGroup group) {
    BasicType t;
    t.handle = handle;
    set_name(t, name);
    t.size = t.extent = sizeof(T);
    t.alignment = alignof(T);
    t.machine = machine;
    t.group = group;
    t.external_size = external_size_of(machine, sizeof(T));
    return t;
}

// A type whose size in external32 is smaller than its native size.
constexpr BasicType shortened(BasicType t, std::uint8_t external_size) {
    t.external_size = external_size;
    return t;
}

constexpr BasicType absent(std::uint16_t handle, const char* name) {
    BasicType t;
    t.handle = handle;
    set_name(t, name);
    return t;
}

template <class Value, class Index>
constexpr BasicType pair(
    std::uint16_t handle, const char* name, Machine machine, std::uint16_t first, std::uint16_t second) {
    using P = Pair<Value, Index>;
    BasicType t = type<P>(handle, name, machine, TypeGroup::pair);
    t.size = sizeof(Value) + sizeof(Index);
    t.external_size = 0; // each member is converted by itself
    t.first = first & 0xff;
    t.second = second & 0xff;
    t.second_offset = offsetof(P, index);
    return t;
}

template <class T>
struct Complex {
    T re, im;
};

using M = Machine;
using G = TypeGroup;

constexpr BasicType all_types[] = {
    type<MPI_Aint>(0x201, "AINT", M::i64, G::multi_language),
    type<MPI_Count>(0x202, "COUNT", M::i64, G::multi_language),
    type<MPI_Offset>(0x203, "OFFSET", M::i64, G::multi_language),
    type<char>(0x207, "PACKED", M::bytes, G::packed),

    type<short>(0x208, "SHORT", M::i16, G::c_integer),
    type<int>(0x209, "INT", M::i32, G::c_integer),
    shortened(type<long>(0x20a, "LONG", M::i64, G::c_integer), 4),
    // Where the standard has two names for a type, this is the one that it does not call a synonym.
    type<long long>(0x20b, "LONG_LONG_INT", M::i64, G::c_integer),
    type<unsigned short>(0x20c, "UNSIGNED_SHORT", M::u16, G::c_integer),
    type<unsigned>(0x20d, "UNSIGNED", M::u32, G::c_integer),
    shortened(type<unsigned long>(0x20e, "UNSIGNED_LONG", M::u64, G::c_integer), 4),
    type<unsigned long long>(0x20f, "UNSIGNED_LONG_LONG", M::u64, G::c_integer),
    type<float>(0x210, "FLOAT", M::f32, G::floating),
    type<Complex<float>>(0x212, "C_COMPLEX", M::c32, G::complex),
    type<Complex<float>>(0x213, "CXX_FLOAT_COMPLEX", M::c32, G::complex),
    type<double>(0x214, "DOUBLE", M::f64, G::floating),
    type<Complex<double>>(0x216, "C_DOUBLE_COMPLEX", M::c64, G::complex),
    type<Complex<double>>(0x217, "CXX_DOUBLE_COMPLEX", M::c64, G::complex),
    type<long double>(0x220, "LONG_DOUBLE", M::f80, G::floating),
    type<Complex<long double>>(0x224, "C_LONG_DOUBLE_COMPLEX", M::c80, G::complex),
    type<Complex<long double>>(0x225, "CXX_LONG_DOUBLE_COMPLEX", M::c80, G::complex),
    type<bool>(0x238, "C_BOOL", M::boolean, G::logical),
    type<bool>(0x239, "CXX_BOOL", M::boolean, G::logical),
    shortened(type<wchar_t>(0x23c, "WCHAR", M::u32, G::character), 2),

    // The sizes of Fortran types are those of gfortran without options.
    type<std::int32_t>(0x218, "LOGICAL", M::l32, G::logical),
    type<std::int32_t>(0x219, "INTEGER", M::i32, G::fortran_integer),
    type<float>(0x21a, "REAL", M::f32, G::floating),
    type<Complex<float>>(0x21b, "COMPLEX", M::c32, G::complex),
    type<double>(0x21c, "DOUBLE_PRECISION", M::f64, G::floating),
    type<Complex<double>>(0x21d, "DOUBLE_COMPLEX", M::c64, G::complex),
    type<char>(0x21e, "CHARACTER", M::bytes, G::character),

    pair<float, int>(0x228, "FLOAT_INT", M::pair_f32_i32, 0x210, 0x209),
    pair<double, int>(0x229, "DOUBLE_INT", M::pair_f64_i32, 0x214, 0x209),
    pair<long, int>(0x22a, "LONG_INT", M::pair_i64_i32, 0x20a, 0x209),
    pair<int, int>(0x22b, "2INT", M::pair_i32_i32, 0x209, 0x209),
    pair<short, int>(0x22c, "SHORT_INT", M::pair_i16_i32, 0x208, 0x209),
    pair<long double, int>(0x22d, "LONG_DOUBLE_INT", M::pair_f80_i32, 0x220, 0x209),
    pair<float, float>(0x230, "2REAL", M::pair_f32_f32, 0x21a, 0x21a),
    pair<double, double>(0x231, "2DOUBLE_PRECISION", M::pair_f64_f64, 0x21c, 0x21c),
    pair<std::int32_t, std::int32_t>(0x232, "2INTEGER", M::pair_i32_i32, 0x219, 0x219),

    type<std::int8_t>(0x240, "INT8_T", M::i8, G::c_integer),
    type<std::uint8_t>(0x241, "UINT8_T", M::u8, G::c_integer),
    // The standard defines it as a character, but Open MPI and MPICH reduce it as an integer, and so does this library.
    type<char>(0x243, "CHAR", M::i8, G::c_integer),
    type<signed char>(0x244, "SIGNED_CHAR", M::i8, G::c_integer),
    type<unsigned char>(0x245, "UNSIGNED_CHAR", M::u8, G::c_integer),
    type<unsigned char>(0x247, "BYTE", M::bytes, G::byte),
    type<std::int16_t>(0x248, "INT16_T", M::i16, G::c_integer),
    type<std::uint16_t>(0x249, "UINT16_T", M::u16, G::c_integer),
    type<std::int32_t>(0x250, "INT32_T", M::i32, G::c_integer),
    type<std::uint32_t>(0x251, "UINT32_T", M::u32, G::c_integer),
    type<std::int64_t>(0x258, "INT64_T", M::i64, G::c_integer),
    type<std::uint64_t>(0x259, "UINT64_T", M::u64, G::c_integer),

    type<std::int8_t>(0x2c0, "LOGICAL1", M::l8, G::logical),
    type<std::int8_t>(0x2c1, "INTEGER1", M::i8, G::fortran_integer),
    type<std::int16_t>(0x2c8, "LOGICAL2", M::l16, G::logical),
    type<std::int16_t>(0x2c9, "INTEGER2", M::i16, G::fortran_integer),
    // Half precision needs a type that not every supported compiler has.
    absent(0x2ca, "REAL2"),
    absent(0x2d3, "COMPLEX4"),
    type<std::int32_t>(0x2d0, "LOGICAL4", M::l32, G::logical),
    type<std::int32_t>(0x2d1, "INTEGER4", M::i32, G::fortran_integer),
    type<float>(0x2d2, "REAL4", M::f32, G::floating),
    type<std::int64_t>(0x2d8, "LOGICAL8", M::l64, G::logical),
    type<std::int64_t>(0x2d9, "INTEGER8", M::i64, G::fortran_integer),
    type<double>(0x2da, "REAL8", M::f64, G::floating),
    type<Complex<float>>(0x2db, "COMPLEX8", M::c32, G::complex),
    type<__int128>(0x2e0, "LOGICAL16", M::l128, G::logical),
    type<__int128>(0x2e1, "INTEGER16", M::i128, G::fortran_integer),
    type<__float128>(0x2e2, "REAL16", M::f128, G::floating),
    type<Complex<double>>(0x2e3, "COMPLEX16", M::c64, G::complex),
    type<Complex<__float128>>(0x2eb, "COMPLEX32", M::c128, G::complex),
};

constexpr std::array<BasicType, 256> by_index() {
    std::array<BasicType, 256> table{};
    for (const BasicType& t : all_types) {
        table[t.handle & 0xff] = t;
    }
    return table;
}

constexpr std::array<BasicType, 256> table = by_index();

// The handles of these types contain their size (MPI-5.0 ABI).
constexpr bool sizes_agree_with_handles() {
    for (const BasicType& t : all_types) {
        const bool sized = (t.handle >= 0x240 && t.handle < 0x280) || t.handle >= 0x2c0;
        if (sized && t.exists() && t.size != 1 << ((t.handle >> 3) & 7)) {
            return false;
        }
    }
    return true;
}
static_assert(sizes_agree_with_handles());
static_assert(std::size(all_types) == basic_type_count);

} // namespace

const BasicType& basic_type(BasicIndex index) noexcept {
    return table[index];
}

} // namespace patchbay
