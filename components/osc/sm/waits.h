// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/waiter.h"
#include "include/mpi.h"

#include <chrono>
#include <cstdint>

namespace patchbay::osc::sm {

// Stores the cause and returns MPI_ERR_PROC_ABORTED.
int report_ended() noexcept;

// The waits of a window, with the library's waiting policy: what they wait for rings this process's doorbell, and a
// process that fails does not. Therefore they look from time to time whether the processes still exist.
class Waits {
public:
    explicit Waits(Progress& progress) noexcept
        : _progress(progress) {}

    // Whether more processes wait than there are cores.
    bool shares_cores() const noexcept { return _progress.policy().spin.count() == 0; }

    // How often a wait looks before it polls. Where each process has a core, the other one answers within a cache
    // line's way.
    std::uint32_t first_looks() const noexcept { return _progress.policy().first_polls > 1 ? 100 : 0; }

    // Waits until done() is true, which stays true and may be called again after that. failed(): a process for
    // which this one waits has ended; then the result is MPI_ERR_PROC_ABORTED.
    template <class Done, class Failed>
    int until(const Done& done, const Failed& failed) const noexcept {
        if (done()) [[likely]] {
            return MPI_SUCCESS;
        }
        for (std::uint32_t looks = first_looks(); looks != 0; --looks) {
            if (done()) {
                return MPI_SUCCESS;
            }
        }
        for (std::uint32_t polls = _progress.policy().first_polls; polls != 0; --polls) {
            _progress.poll();
            if (done()) {
                return MPI_SUCCESS;
            }
        }
        while (!wait_for(_progress, between_looks, done)) {
            if (failed()) {
                return done() ? MPI_SUCCESS : report_ended();
            }
        }
        return MPI_SUCCESS;
    }

private:
    static constexpr std::chrono::milliseconds between_looks{200};
    Progress& _progress;
};

} // namespace patchbay::osc::sm
