// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/errhandler.h"

#include <atomic>

namespace patchbay {

// What every binding looks at before it knows any object. Set from the parameters while the library is up, whoever
// brought it up; these are the values before and after.
struct Settings {
    std::atomic<bool> check_arguments{true};                                             // mpi_param_check
    std::atomic<Errhandler::Behaviour> initial_errhandler{Errhandler::Behaviour::fatal}; // mpi_initial_errhandler
};
[[gnu::visibility("hidden")]] extern Settings settings;

} // namespace patchbay
