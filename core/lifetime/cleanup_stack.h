// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/lifetime/fault_plan.h"

#include <functional>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// The clean-ups of what an init has done so far. Passed on by reference to each step; never global. Destroying the
// stack runs what is on it, last in first out.
class CleanupStack {
public:
    // `faults` lets a test fail one step; it may be null and must outlive the stack.
    explicit CleanupStack(FaultPlan* faults = nullptr);
    CleanupStack(const CleanupStack&) = delete;
    CleanupStack& operator=(const CleanupStack&) = delete;
    ~CleanupStack();

    // One step of an init: does `act`, and when that succeeded remembers `undo` (which must not fail; may be empty).
    // `name` is a literal, for error texts and fault injection.
    Status step(const char* name, const std::function<Status()>& act, std::function<void()> undo);

    // Remembers a clean-up for something that is done already and cannot fail.
    void push(std::function<void()> undo);

    // Runs and forgets everything on the stack, in reverse order. A clean-up may not push.
    void run() noexcept;

    std::size_t size() const noexcept { return _undo.size(); }
    FaultPlan* faults() const noexcept { return _faults; }

private:
    FaultPlan* _faults;
    std::vector<std::function<void()>> _undo;
};

} // namespace patchbay
