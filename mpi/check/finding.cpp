// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/finding.h"

#include "core/log.h"

#include <new>

namespace patchbay::check {

void print_finding(const char* check, std::string_view text) noexcept {
    try {
        log_error("mpi_check " + std::string(check) + ": " + std::string(text));
    } catch (const std::bad_alloc&) {
        log_error("mpi_check: out of memory, a finding is lost");
    }
}

} // namespace patchbay::check
