// SPDX-License-Identifier: BSD-3-Clause
#include "core/lifetime/cleanup_stack.h"

#include <utility>

namespace patchbay {

CleanupStack::CleanupStack(FaultPlan* faults)
    : _faults(faults) {}

CleanupStack::~CleanupStack() {
    run();
}

Status CleanupStack::step(const char* name, const std::function<Status()>& act, std::function<void()> undo) {
    if (_faults != nullptr) {
        if (Status failed = _faults->check(name); !failed) {
            return failed;
        }
    }
    if (undo) {
        // Before the act: once it is done, remembering how to undo it must not fail for want of memory.
        _undo.reserve(_undo.size() + 1);
    }
    if (Status done = act(); !done) {
        return done;
    }
    if (undo) {
        _undo.push_back(std::move(undo));
    }
    return {};
}

void CleanupStack::push(std::function<void()> undo) {
    _undo.push_back(std::move(undo));
}

void CleanupStack::run() noexcept {
    while (!_undo.empty()) {
        const std::function<void()> undo = std::move(_undo.back());
        _undo.pop_back();
        undo();
    }
}

} // namespace patchbay
