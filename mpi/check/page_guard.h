// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>

namespace patchbay::check {

// Write protection of the whole pages inside a send buffer. A write is not prevented: it is noted, with the
// instruction, the pages are made writable again, and the program goes on. Only memory that the program may write to
// anyway is protected.
//
// Between start() and stop(), which the library calls where the check is on, and while the program has not replaced the
// signal handler of core/base/faults.h: otherwise nothing is protected.
class PageGuard {
public:
    struct Write {
        std::uintptr_t address = 0; // 0: there was none
        std::uintptr_t instruction = 0;
    };

    // Errc::system: faults cannot be handled.
    static Status start() noexcept;
    // Everything is writable again.
    static void stop() noexcept;

    PageGuard() = default;
    ~PageGuard() { release(); }
    PageGuard(const PageGuard&) = delete;
    PageGuard& operator=(const PageGuard&) = delete;

    // Nothing is protected where the memory has too few whole pages, or is not writable, or too much is protected
    // already.
    void protect(std::uintptr_t begin, std::uintptr_t end) noexcept;
    // The first write since protect().
    Write release() noexcept;

private:
    static constexpr std::size_t none = SIZE_MAX;
    std::size_t _slot = none;
};

} // namespace patchbay::check
