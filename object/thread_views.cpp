// SPDX-License-Identifier: BSD-3-Clause
#include "object/thread_views.h"

namespace patchbay {

namespace {
// In the static block of thread-local storage, where a load finds it.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadViews* views_of_thread = nullptr;
} // namespace

Communicator* thread_view(std::uintptr_t value) noexcept {
    const ThreadViews* views = views_of_thread;
    return views != nullptr ? (*views)[value - first_thread_handle] : nullptr;
}

void set_thread_views(ThreadViews* views) noexcept {
    views_of_thread = views;
}

} // namespace patchbay
