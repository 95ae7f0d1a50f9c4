// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <string>

namespace patchbay {

// The content of a file. Errc::not_found: there is no such file. Errc::not_available: the permission is missing.
// Errc::system: it cannot be read for another reason. The error's text is the system's ("Permission denied"). Does not
// use the standard library's streams: the first stream of a process makes its locales, which costs each process of a
// job more than what it reads.
Result<std::string> read_file(const std::string& file);

} // namespace patchbay
