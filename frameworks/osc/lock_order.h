// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"

#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {
namespace osc {

class Module;

// A program that takes several locks in an order that is the same everywhere must not wait in a circle, although
// Module::lock() may return before the lock is held, and the locks may be those of windows of several components. So a
// lock that a thread has asked for is held before the thread asks for the next one: MPI_Win_lock and MPI_Win_lock_all
// see to it. A module whose lock() returns before the lock is held has an object of this class and overrides
// Module::lacks_lock() and Module::hold_lock().
class LockOrder {
public:
    // Declared last in a module: no other thread finds the module while the rest is destroyed.
    explicit LockOrder(Module& module) noexcept;
    ~LockOrder();
    LockOrder(const LockOrder&) = delete;
    LockOrder& operator=(const LockOrder&) = delete;

    // The calling thread has asked for the lock of this member and may not hold it yet.
    void note_asked(int rank) const noexcept;

private:
    friend Module* module_of_asked_lock(const Module& next, int rank) noexcept;
    Module& _module;
    std::uint64_t _number = 0; // never used again: another thread may have freed the window since
    Link<LockOrder> _link;
    struct All;
};

} // namespace osc
} // namespace patchbay
