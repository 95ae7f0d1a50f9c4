// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

namespace patchbay {

// The message for the user when a launcher without PMIx has started this process as one of several; otherwise nothing.
std::optional<std::string> started_without_pmix();

} // namespace patchbay
