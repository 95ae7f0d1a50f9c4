// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/job.h"

#include <string>
#include <string_view>

namespace patchbay::launch {

// The options that list hosts. A job runs on one machine, so that each host must be this one. Numbers of slots add up
// in AppSpec::slots. The text of an error does not contain the option.

// Of --host: HOST or HOST:N, separated by commas.
Status use_hosts(std::string_view list, AppSpec& app);

// Of --hostfile: a host in each line, as HOST, HOST:N or HOST slots=N; '#' begins a comment.
Status use_host_file(const std::string& file, AppSpec& app);

} // namespace patchbay::launch
