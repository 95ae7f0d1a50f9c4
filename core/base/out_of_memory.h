// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

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

// The same for a function that returns a Result: Errc::out_of_memory. The error is made before, because its text takes
// memory; where that fails, std::bad_alloc leaves this function.
template <class Body>
std::invoke_result_t<Body&> unless_out_of_memory(Body&& body) {
    const Error exhausted{Errc::out_of_memory, "memory is exhausted"};
    return unless_out_of_memory(std::invoke_result_t<Body&>(exhausted), std::forward<Body>(body));
}

} // namespace patchbay
