// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/ready_list.h"

#include <utility>

namespace patchbay {

// Moves the linked items behind the taken ones, of which there are some only if an item polls.
void ReadyList::take(bool threaded) noexcept {
    ReadyItem* last_first = _linked.load(std::memory_order_relaxed);
    if (threaded) {
        last_first = _linked.exchange(nullptr, std::memory_order_acquire);
    } else {
        _linked.store(nullptr, std::memory_order_relaxed);
    }
    ReadyItem* items = nullptr;
    while (last_first != nullptr) {
        ReadyItem* item = std::exchange(last_first, last_first->next);
        item->next = std::exchange(items, item);
    }
    ReadyItem** end = &_taken;
    while (*end != nullptr) {
        end = &(*end)->next;
    }
    *end = items;
}

int ReadyList::run(bool threaded) noexcept {
    take(threaded);
    int items = 0;
    while (_taken != nullptr) {
        ReadyItem* item = std::exchange(_taken, _taken->next);
        item->run(*item);
        ++items;
    }
    return items;
}

} // namespace patchbay
