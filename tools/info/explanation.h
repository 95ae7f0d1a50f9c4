// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/explain.h"

#include <string>
#include <vector>

namespace patchbay::info {

// The selections of the library after its initialization as a singleton, as in a program without mpirun.
struct Explanation {
    std::vector<Decision> decisions;
    std::string text;    // the tables that --explain prints
    std::string failure; // what MPI_Init would have failed with; usually empty
};

// Initializes the library, constructs the predefined communicators, and finalizes it. The caller has a lease on the
// core.
Explanation explain();

} // namespace patchbay::info
