// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/thread_level_upgrade.h"

#include "core/progress/doorbell.h"

#include <algorithm>
#include <sched.h>

namespace patchbay {

SingleThreadSection::SingleThreadSection(ThreadLevelUpgrade& threads)
    : _threaded(false),
      _switch(&threads) {
    threads.add(*this);
}

SingleThreadSection::~SingleThreadSection() {
    if (_switch != nullptr) {
        _switch->remove(*this);
    }
}

void ThreadLevelUpgrade::add(SingleThreadSection& section) {
    const std::lock_guard lock(_mutex);
    _sections.push_back(&section);
    section._threaded.store(on(), std::memory_order_relaxed);
}

void ThreadLevelUpgrade::remove(SingleThreadSection& section) noexcept {
    const std::lock_guard lock(_mutex);
    std::erase(_sections, &section);
}

void ThreadLevelUpgrade::turn_on(void (*wake)(void*), void* context) noexcept {
    if (_settled.load(std::memory_order_acquire)) {
        return;
    }
    const std::lock_guard lock(_mutex);
    if (on()) {
        return;
    }
    for (SingleThreadSection* section : _sections) {
        section->_threaded.store(true, std::memory_order_relaxed);
    }
    _on.store(true, std::memory_order_release);
    all_cores_barrier();
    // A thread in a section polls or changes a list, which is short, or sleeps, which `wake` ends.
    for (SingleThreadSection* section : _sections) {
        while (section->_inside.load(std::memory_order_acquire)) {
            wake(context);
            sched_yield();
        }
    }
    _settled.store(true, std::memory_order_release);
}

void ThreadLevelUpgrade::turn_off() noexcept {
    const std::lock_guard lock(_mutex);
    _settled.store(false, std::memory_order_release);
    _on.store(false, std::memory_order_release);
    for (SingleThreadSection* section : _sections) {
        section->_threaded.store(false, std::memory_order_relaxed);
    }
}

} // namespace patchbay
