// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"
#include "mpi/check/checks.h"

#include <memory>

namespace patchbay {

class Progress;

namespace check {

// A module that checks the messages of the program, before any other one. Throws std::bad_alloc; then `module` is as it
// was.
void check_messages(const Checks& checks, Progress& progress, std::unique_ptr<pml::Module>& module);

} // namespace check
} // namespace patchbay
