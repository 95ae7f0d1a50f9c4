// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

namespace patchbay {

// When a launcher without PMIx has started this process as one of several: what to tell the user. Otherwise nothing.
std::optional<std::string> started_without_pmix();

} // namespace patchbay
