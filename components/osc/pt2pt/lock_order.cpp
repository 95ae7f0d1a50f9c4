// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/lock_order.h"

namespace patchbay::osc::pt2pt {

namespace {

struct Windows {
    std::mutex mutex;
    std::map<std::uint64_t, Pt2pt*> by_number;
    std::uint64_t last = 0;
};

Windows& windows() {
    static auto& all = *new Windows; // a program may free windows in its static destructors
    return all;
}

} // namespace

thread_local AskedLock LockOrder::last_asked;

std::uint64_t LockOrder::enter(Pt2pt& window) {
    Windows& all = windows();
    const std::lock_guard lock(all.mutex);
    all.by_number.emplace(all.last + 1, &window);
    return ++all.last;
}

void LockOrder::leave(std::uint64_t window) noexcept {
    Windows& all = windows();
    const std::lock_guard lock(all.mutex);
    all.by_number.erase(window);
}

LockOrder::Search::Search()
    : _lock(windows().mutex) {}

Pt2pt* LockOrder::Search::find(std::uint64_t window) const noexcept {
    const auto& all = windows().by_number;
    const auto found = all.find(window);
    return found != all.end() ? found->second : nullptr;
}

} // namespace patchbay::osc::pt2pt
