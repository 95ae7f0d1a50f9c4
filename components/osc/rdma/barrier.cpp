// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/barrier.h"

#include "components/osc/rdma/await.h"
#include "components/osc/rdma/errors.h"

namespace patchbay::osc::rdma {

int Barrier::wait() noexcept {
    const std::uint64_t times = ++_times;
    Word round = 0;
    for (std::int64_t distance = 1; distance < _words.size; distance *= 2, ++round) {
        const int behind = int((_words.rank + distance) % _words.size);
        if (const int code = _words.set_and_wake(behind, _arrived + round, times); code != MPI_SUCCESS) {
            return code;
        }
        const Words::Place& arrived = _words.own(_arrived + round);
        const auto have_come = [&] { return arrived.load(std::memory_order_acquire) >= times; };
        await(_progress, [&] { return have_come() || _failures.count() != 0; });
        if (!have_come()) {
            return report_failed_member(_failures.first());
        }
    }
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::rdma
