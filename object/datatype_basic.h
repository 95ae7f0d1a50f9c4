// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

#include <cstddef>
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

// The machine format of a value of a predefined type, for reductions and data conversion.
enum class Machine : std::uint8_t {
    none,  // an optional type that is not supported
    bytes, // never interpreted: characters, MPI_BYTE, MPI_PACKED
    i8,
    i16,
    i32,
    i64,
    i128,
    u8,
    u16,
    u32,
    u64,
    f32,
    f64,
    f80,
    f128, // f80: the x87 format of long double, in 16 bytes
    c32,
    c64,
    c80,
    c128,    // complex, two of the above
    boolean, // of C: zero is false
    l8,
    l16,
    l32,
    l64,
    l128, // LOGICAL of Fortran (fortran_logicals.h)
    pair_f32_i32,
    pair_f64_i32,
    pair_i64_i32,
    pair_i32_i32,
    pair_i16_i32,
    pair_f80_i32,
    pair_f32_f32,
    pair_f64_f64,
    count,
};

// The groups of types by which the standard defines the operands of predefined reductions (MPI-5.0, 6.9.2).
enum class TypeGroup : std::uint8_t {
    none,
    character,
    c_integer,
    fortran_integer,
    floating,
    logical,
    complex,
    byte,
    packed,
    multi_language,
    pair,
};

// A predefined datatype (MPI-5.0, 3.2.2 and the ABI's table of handles). Its index is the low byte of its handle.
struct BasicType {
    std::uint16_t handle = 0;
    char name[24] = {};    // without the prefix MPI_; no pointer, so that the table is the same memory in all processes
    std::uint8_t size = 0; // bytes of data
    std::uint8_t extent = 0; // sizeof the C type
    std::uint8_t alignment = 1;
    Machine machine = Machine::none;
    TypeGroup group = TypeGroup::none;
    std::uint8_t external_size = 0; // bytes in external32 (MPI-5.0, 14.5.2)
    // Of a pair: the indices of its two members and the offset of the second one. Of other types: 0.
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    std::uint8_t second_offset = 0;

    constexpr bool exists() const noexcept { return machine != Machine::none; }
    constexpr bool is_pair() const noexcept { return second != 0; }
};

// The index of a predefined type in the table. Index 0 is none of them, and stands for a derived type.
using BasicIndex = std::uint8_t;
const BasicType& basic_type(BasicIndex index) noexcept;
inline constexpr std::size_t basic_type_count = 70; // so many indices are those of a type; the others have no handle

inline BasicIndex basic_index(MPI_Datatype handle) noexcept {
    return static_cast<BasicIndex>(reinterpret_cast<std::uintptr_t>(handle) & 0xff);
}

} // namespace patchbay
