// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/window_check.h"

#include "mpi/check/checked_window.h"

namespace patchbay::check {

void WindowCheck::wrap(const Window& window, std::unique_ptr<osc::Module>& module) {
    void* const memory = ::operator new(sizeof(CheckedWindow));
    module.reset(::new (memory) CheckedWindow(_checks, *_buffers, window, std::move(module)));
}

} // namespace patchbay::check
