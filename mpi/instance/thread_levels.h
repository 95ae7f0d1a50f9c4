// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// The name of a thread level ("MPI_THREAD_MULTIPLE" and so on), as info key thread_level has it (MPI-5.0, 11.3.1).
const char* thread_level_name(int level) noexcept;
// nullopt: no thread level has this name.
std::optional<int> thread_level_named(std::string_view name) noexcept;

} // namespace patchbay
