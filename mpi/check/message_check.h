// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/checks.h"

#include <memory>

namespace patchbay {

class Progress;

namespace check {

// A module that checks the messages of the program, before any other one. Throws std::bad_alloc; then `module` is as it
// was. `buffers` is for all operations that are not one-sided.
void check_messages(const Checks& checks, std::shared_ptr<BufferCheck> buffers, Progress& progress,
    std::unique_ptr<pml::Module>& module);

} // namespace check
} // namespace patchbay
