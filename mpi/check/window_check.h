// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/osc/selector.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/checks.h"

#include <memory>
#include <utility>

namespace patchbay::check {

// Checks the one-sided operations of the program: a module that stands before that of each window.
class WindowCheck final : public osc::Outermost {
public:
    // `buffers`: of all messages and windows.
    WindowCheck(const Checks& checks, std::shared_ptr<BufferCheck> buffers) noexcept
        : _checks(checks),
          _buffers(std::move(buffers)) {}

    void wrap(const Window& window, std::unique_ptr<osc::Module>& module) override;

private:
    const Checks _checks;
    const std::shared_ptr<BufferCheck> _buffers;
};

} // namespace patchbay::check
