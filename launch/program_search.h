// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job.h"

#include <string>

namespace patchbay::launch {

// Where a program was found, or the line and the exit status to end with.
struct FoundProgram {
    std::string path;
    std::string error;   // empty: found
    int exit_status = 0; // 126 or 127 when not
};

// As a shell would: a name with a slash is a path seen from the working directory of the ranks, any other name is
// looked for in --path and then in `path_variable`. Directories and files without the execute right are passed over,
// but named when nothing else is found.
FoundProgram find_program(const AppSpec& app, const char* path_variable);

} // namespace patchbay::launch
