// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"

#include <array>

namespace [[gnu::visibility("default")]] patchbay {

// The communicators of one thread behind the handles of active thread communicators, by (handle - first_thread_handle).
using ThreadViews = std::array<Communicator*, thread_handles>;

// Sets the table of the calling thread, which the caller owns; nullptr: the thread has none.
void set_thread_views(ThreadViews* views) noexcept;

} // namespace patchbay
