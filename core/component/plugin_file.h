// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace patchbay {

// Why a file must not be given to dlopen(): it is a FIFO, whose writer dlopen() would wait for, or is shorter than its
// headers say, which is a SIGBUS there. nullptr: dlopen() itself reports whatever may be wrong.
const char* fault_of_plugin_file(const std::string& file) noexcept;

} // namespace patchbay
