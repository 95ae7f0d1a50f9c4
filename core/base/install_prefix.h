// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

// Where Patchbay MPI is installed, found from the file that this code was loaded from (library or program), so that an
// installation can be moved: <prefix>/lib/libmpi_abi.so.1, <prefix>/bin/mpirun. Empty when that cannot be found out.
std::string install_prefix();

// Where its components are: <prefix>/lib/patchbay, or beside the library under whatever lib directory it is in.
std::string install_component_directory();

} // namespace patchbay
