// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/info.h"

#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Runtime;

// Sets the keys of MPI_INFO_ENV (MPI-5.0, 11.2.1) that need no launcher: command, argv, host, arch, wdir. `arguments`
// are those of the command; if it is empty, the arguments of this process are taken.
void fill_info_env(Info& info, const std::vector<std::string>& arguments);
// Sets the keys that need an initialized library: maxprocs and thread_level.
void fill_info_env(Info& info, const Runtime& runtime, int thread_level);

} // namespace patchbay
