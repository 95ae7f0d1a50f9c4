// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/explain.h"

#include <string>
#include <vector>

namespace patchbay::info {

// What the library chose when it was started here, alone, as for a program without mpirun.
struct Explanation {
    std::vector<Decision> decisions;
    std::string text;    // the tables that --explain prints
    std::string failure; // what MPI_Init would have failed with; usually empty
};

// Brings the library up, makes the predefined communicators, takes it down again. The caller has a lease on the core.
Explanation explain();

} // namespace patchbay::info
