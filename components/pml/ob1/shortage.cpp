// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/shortage.h"

#include "core/runtime/runtime.h"
#include "include/mpi.h"

namespace patchbay::pml::ob1 {

bool Shortage::lasts() noexcept {
    // The process may not have polled for a long time, in which nothing was attempted.
    constexpr auto longest_gap = std::chrono::seconds(1);
    const auto now = Clock::now();
    if (_began == Clock::time_point{} || now - _last > longest_gap) {
        _began = now;
    }
    _last = now;
    return now - _began >= _limit;
}

void Shortage::end_job(std::string_view text) noexcept {
    _runtime.abort(MPI_ERR_NO_MEM, text);
}

} // namespace patchbay::pml::ob1
