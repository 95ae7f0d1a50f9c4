// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace patchbay {

// The meaning of a predefined error class, after its name: "MPI_ERR_TAG: invalid tag". Empty: there is no such class.
std::string_view predefined_error_text(int error_class) noexcept;

} // namespace patchbay
