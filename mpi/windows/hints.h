// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/window.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay {

// The hints of a window (MPI-5.0, 12.2.1 to 12.2.3): the keys of the info that its constructor or MPI_Win_set_info got,
// where their values are valid. Keys that this library does not know, and values that are none, are ignored (MPI-5.0,
// 10).

// The hints for a new window; `info` may be null.
Ref<Info> hints_for_window(const Communicator& parent, const Info* info);
std::string hint_of_window(const Window& window, std::string_view key);
bool flag_of_window(const Window& window, std::string_view key);
// Of mpi_minimum_memory_alignment, or the library's own.
std::size_t alignment_of_window(const Window& window);

// MPI_Win_set_info: replaces the values of the keys in `info`; those that only a constructor reads do not change.
// Collective.
int set_window_hints(Window& window, const Info& info);
// MPI_Win_get_info: a new object with the values in effect.
Ref<Info> window_hints(const Window& window);

} // namespace patchbay
