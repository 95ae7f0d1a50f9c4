// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/info.h"

#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Runtime;

// The keys of MPI_INFO_ENV (MPI-5.0, 11.2.1) that can be known without a launcher: command, argv, host, arch, wdir.
// `arguments` is empty where the program did not say: then they are this process's own.
void fill_info_env(Info& info, const std::vector<std::string>& arguments);
// And those that need MPI to be running: maxprocs and thread_level.
void fill_info_env(Info& info, const Runtime& runtime, int thread_level);

} // namespace patchbay
