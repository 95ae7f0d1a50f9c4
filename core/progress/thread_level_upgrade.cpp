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

void ThreadLevelUpgrade::set(bool on) noexcept {
    const std::lock_guard lock(_mutex);
    for (SingleThreadSection* section : _sections) {
        section->_threaded.store(on, std::memory_order_relaxed);
    }
    _on.store(on, std::memory_order_release);
}

bool ThreadLevelUpgrade::any_inside() noexcept {
    const std::lock_guard lock(_mutex);
    return std::ranges::any_of(
        _sections, [](const SingleThreadSection* section) { return section->_inside.load(std::memory_order_acquire); });
}

void ThreadLevelUpgrade::turn_on(void (*wake)(void*), void* context) noexcept {
    if (_settled.load(std::memory_order_acquire)) {
        return;
    }
    const std::lock_guard lock(_turning);
    if (on()) {
        return;
    }
    set(true);
    all_cores_barrier();
    // A thread in a section polls or changes a list, which is short, or sleeps, which `wake` ends. Sections that are
    // made from now on exclude nothing.
    while (any_inside()) {
        wake(context);
        sched_yield();
    }
    _settled.store(true, std::memory_order_release);
}

void ThreadLevelUpgrade::turn_off() noexcept {
    const std::lock_guard lock(_turning);
    _settled.store(false, std::memory_order_release);
    set(false);
}

} // namespace patchbay
