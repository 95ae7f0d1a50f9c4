// SPDX-License-Identifier: BSD-3-Clause
#include "object/window.h"

namespace patchbay {

Window::Window()
    : Object(ObjectKind::window) {}

Window::~Window() = default;

std::string Window::describe() const {
    std::lock_guard lock(mutex);
    return name.empty() ? "a window of " + std::to_string(size) + " processes" : "window " + name;
}

} // namespace patchbay
