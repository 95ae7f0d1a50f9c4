// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <concepts>
#include <type_traits>

namespace patchbay {

// The lowest multiple of `unit`, which is positive, that is not below `value`, which is not negative.
template <std::integral Number>
constexpr Number round_up(Number value, std::type_identity_t<Number> unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

} // namespace patchbay
