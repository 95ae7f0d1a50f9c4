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

// An error whose text is so short that it takes no memory.
inline Error out_of_memory() noexcept {
    return {Errc::out_of_memory, "out of memory"};
}

// The same for a function that returns a Result or a Status: out_of_memory().
template <class Body>
std::invoke_result_t<Body&> unless_out_of_memory(Body&& body) noexcept {
    return unless_out_of_memory(std::invoke_result_t<Body&>(out_of_memory()), std::forward<Body>(body));
}

} // namespace patchbay
