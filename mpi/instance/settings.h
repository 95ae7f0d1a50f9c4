// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/errhandler.h"

#include <atomic>

namespace patchbay {

// Settings that every binding reads before it has any object. The parameters set them while the library is initialized;
// before and after that they have the values that stand here.
struct Settings {
    std::atomic<bool> check_arguments{true};                                             // mpi_param_check
    std::atomic<Errhandler::Behaviour> initial_errhandler{Errhandler::Behaviour::fatal}; // mpi_initial_errhandler
};
[[gnu::visibility("hidden")]] extern Settings settings;

} // namespace patchbay
