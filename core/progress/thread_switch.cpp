// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/thread_switch.h"

#include "core/progress/doorbell.h"

#include <algorithm>
#include <sched.h>

namespace patchbay {

LoneSection::LoneSection(ThreadSwitch& threads)
    : _threaded(false),
      _switch(&threads) {
    threads.add(*this);
}

LoneSection::~LoneSection() {
    if (_switch != nullptr) {
        _switch->remove(*this);
    }
}

void ThreadSwitch::add(LoneSection& section) {
    const std::lock_guard lock(_mutex);
    _sections.push_back(&section);
    section._threaded.store(on(), std::memory_order_relaxed);
}

void ThreadSwitch::remove(LoneSection& section) noexcept {
    const std::lock_guard lock(_mutex);
    std::erase(_sections, &section);
}

void ThreadSwitch::turn_on(void (*wake)(void*), void* context) noexcept {
    if (_settled.load(std::memory_order_acquire)) {
        return;
    }
    const std::lock_guard lock(_mutex);
    if (on()) {
        return;
    }
    for (LoneSection* section : _sections) {
        section->_threaded.store(true, std::memory_order_relaxed);
    }
    _on.store(true, std::memory_order_release);
    all_cores_barrier();
    // Who is inside polls or changes a list, which is short, or sleeps, which `wake` ends.
    for (LoneSection* section : _sections) {
        while (section->_inside.load(std::memory_order_acquire)) {
            wake(context);
            sched_yield();
        }
    }
    _settled.store(true, std::memory_order_release);
}

} // namespace patchbay
