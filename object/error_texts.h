// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace patchbay {

// What a predefined error class means, beginning with its name: "MPI_ERR_TAG: invalid tag". Empty: no such class.
std::string_view predefined_error_text(int error_class) noexcept;

} // namespace patchbay
