// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <new>
#include <string>
#include <string_view>

namespace patchbay::check {

// Prints what a check has found: "mpi_check CHECK: TEXT".
void print_finding(const char* check, std::string_view text) noexcept;

// The cause of an error that follows a finding, which has been printed with all details. A text that is never
// destroyed.
inline constexpr std::string_view printed_cause = "mpi_check has printed what is wrong";

// Runs something that makes texts. When memory is exhausted, the finding is lost.
template <class Act>
void unless_exhausted(Act&& act) noexcept {
    try {
        act();
    } catch (const std::bad_alloc&) {
        print_finding("error", "out of memory, a finding is lost");
    }
}

} // namespace patchbay::check
