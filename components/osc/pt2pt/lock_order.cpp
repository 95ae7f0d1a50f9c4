// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/lock_order.h"

namespace patchbay::osc::pt2pt {

thread_local AskedLock NumberedWindow::last_asked;
constinit std::mutex NumberedWindow::_mutex;
constinit List<NumberedWindow, &NumberedWindow::_link> NumberedWindow::_all;
constinit std::uint64_t NumberedWindow::_last = 0;

NumberedWindow::NumberedWindow(Pt2pt& window) noexcept
    : _window(window) {
    const std::lock_guard lock(_mutex);
    _number = ++_last;
    _all.push_back(*this);
}

NumberedWindow::~NumberedWindow() {
    const std::lock_guard lock(_mutex);
    _all.erase(*this);
}

NumberedWindow::Search::Search() noexcept
    : _lock(_mutex) {}

Pt2pt* NumberedWindow::Search::find(std::uint64_t number) const noexcept {
    NumberedWindow* found = _all.first();
    while (found != nullptr && found->_number != number) {
        found = decltype(_all)::next(*found);
    }
    return found != nullptr ? &found->_window : nullptr;
}

} // namespace patchbay::osc::pt2pt
