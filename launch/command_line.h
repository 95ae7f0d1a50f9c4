// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"

#include <string>
#include <vector>

namespace patchbay::launch {

struct CommandLine {
    enum class Request { run, help, version };
    Request request = Request::run;
    JobSpec job; // complete when a run is requested
};

// mpirun's own arguments, without argv[0]. MPIEXEC_TIMEOUT is honoured where --timeout is not given.
// Errc::invalid: the text names the word that is wrong and, for an unknown option, the nearest known one.
Result<CommandLine> parse_command_line(const std::vector<std::string>& words);

// What --help prints.
std::string help_text();

} // namespace patchbay::launch
