// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

// Bits that no other process can guess, from the operating system. Blocks only while the machine starts.
std::uint64_t random_bits() noexcept;
// `digits` hexadecimal digits of them, each of which is four bits.
std::string random_hex(std::size_t digits);

} // namespace patchbay
