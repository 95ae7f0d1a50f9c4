// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <new>
#include <type_traits>
#include <utility>

namespace patchbay {

// What `body` returns, or `otherwise` where it throws because memory is exhausted. For functions that throw nothing.
template <class Body>
std::invoke_result_t<Body&> unless_out_of_memory(std::invoke_result_t<Body&> otherwise, Body&& body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return otherwise;
    }
}

} // namespace patchbay
