// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/op.h"

namespace patchbay {

// The codes of the predefined ops: handle - 0x20 (MPI-5.0 ABI). 0 stands for a user's op.
namespace op_code {
inline constexpr std::uint8_t sum = 0x01, min = 0x02, max = 0x03, prod = 0x04;
inline constexpr std::uint8_t band = 0x08, bor = 0x09, bxor = 0x0a;
inline constexpr std::uint8_t land = 0x10, lor = 0x11, lxor = 0x12;
inline constexpr std::uint8_t minloc = 0x18, maxloc = 0x19;
inline constexpr std::uint8_t replace = 0x1c, no_op = 0x1d;
} // namespace op_code

// The loop of a predefined op for values of a machine format; nullptr: there is none. This does not consider for which
// MPI types the op is defined.
Op::Kernel op_kernel(std::uint8_t code, Machine machine) noexcept;
// The same with the instructions that every processor has; the results are equal bit by bit. For tests.
Op::Kernel portable_op_kernel(std::uint8_t code, Machine machine) noexcept;

} // namespace patchbay
