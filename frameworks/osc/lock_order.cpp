// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/lock_order.h"

#include "frameworks/osc/asked_lock.h"
#include "frameworks/osc/osc.h"

#include <mutex>

namespace patchbay::osc {

// Without destructors: a program may free windows in its static ones, after those of this library.
struct LockOrder::All {
    static constinit std::mutex mutex;
    static constinit List<LockOrder, &LockOrder::_link> modules;
    static constinit std::uint64_t last_number;
};

constinit thread_local AskedLock asked_lock;
constinit std::mutex LockOrder::All::mutex;
constinit List<LockOrder, &LockOrder::_link> LockOrder::All::modules;
constinit std::uint64_t LockOrder::All::last_number = 0;

LockOrder::LockOrder(Module& module) noexcept
    : _module(module) {
    const std::lock_guard lock(All::mutex);
    _number = ++All::last_number;
    All::modules.push_back(*this);
}

LockOrder::~LockOrder() {
    const std::lock_guard lock(All::mutex);
    All::modules.erase(*this);
}

void LockOrder::note_asked(int rank) const noexcept {
    asked_lock = {_number, rank};
}

// The module whose lock the calling thread has to wait for; nullptr: there is none. Its epoch is open, so that it
// stays.
Module* module_of_asked_lock(const Module& next, int rank) noexcept {
    const std::lock_guard lock(LockOrder::All::mutex);
    LockOrder* found = LockOrder::All::modules.first();
    while (found != nullptr && found->_number != asked_lock.module) {
        found = decltype(LockOrder::All::modules)::next(*found);
    }
    if (found == nullptr || (&found->_module == &next && asked_lock.rank == rank) ||
        !found->_module.lacks_lock(asked_lock.rank)) {
        return nullptr;
    }
    return &found->_module;
}

void hold_asked_lock(const Module& next, int rank, AskedLock asked) noexcept {
    if (Module* const module = module_of_asked_lock(next, rank)) {
        module->hold_lock(asked.rank);
    }
    asked_lock = {};
}

} // namespace patchbay::osc
