// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/osc/selector.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/checks.h"

namespace patchbay::check {

// Checks the one-sided operations of the program: a module that stands before that of each window.
class WindowCheck final : public osc::Outermost {
public:
    explicit WindowCheck(const Checks& checks) noexcept
        : _checks(checks),
          _buffers(checks.buffers) {}

    void wrap(const Window& window, std::unique_ptr<osc::Module>& module) override;

private:
    const Checks _checks;
    BufferCheck _buffers; // of all windows
};

} // namespace patchbay::check
