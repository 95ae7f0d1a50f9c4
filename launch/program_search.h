// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job.h"

#include <string>

namespace patchbay::launch {

// The path of a program, or the line to print and the exit status.
struct FoundProgram {
    std::string path;
    std::string error;   // empty: found
    int exit_status = 0; // 126 or 127 when not
};

// Searches as a shell does: a name with a slash is a path relative to the working directory of the ranks; any other
// name is searched in --path and then in `path_variable`. Directories and files without the execute permission are
// skipped, but reported if nothing else is found.
FoundProgram find_program(const AppSpec& app, const char* path_variable);

// A directory as a path from the root; empty: that of this process.
std::string absolute(const std::string& directory);

} // namespace patchbay::launch
