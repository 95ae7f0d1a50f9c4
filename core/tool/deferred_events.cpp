// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/deferred_events.h"

#include "core/progress/progress.h"

#include <algorithm>
#include <new>
#include <utility>

namespace patchbay {

DeferredEvents::~DeferredEvents() {
    for (Kept* kept = _last.exchange(nullptr); kept != nullptr;) {
        delete std::exchange(kept, kept->next);
    }
}

void DeferredEvents::add(EventPoint& point, const void* object, std::initializer_list<std::int64_t> values) noexcept {
    auto* kept = new (std::nothrow) Kept{nullptr, &point, object, EventPoint::now(), {}, values.size()};
    if (kept == nullptr) {
        point.drop(object);
        return;
    }
    std::copy(values.begin(), values.end(), kept->values.begin());
    kept->next = _last.load(std::memory_order_relaxed);
    while (!_last.compare_exchange_weak(kept->next, kept, std::memory_order_release, std::memory_order_relaxed)) {
    }
    if (kept->next == nullptr) { // no other thread links this item until raise_all() has taken the list
        _progress.with_thread_level([this](bool threaded) { _progress.ready_list().link(*this, threaded); });
    }
}

void DeferredEvents::raise_all() noexcept {
    Kept* first = nullptr;
    for (Kept* kept = _last.exchange(nullptr, std::memory_order_acquire); kept != nullptr;) {
        Kept* following = kept->next;
        kept->next = std::exchange(first, kept);
        kept = following;
    }
    while (first != nullptr) {
        first->point->raise_at(first->time, first->object, {first->values.data(), first->count});
        delete std::exchange(first, first->next);
    }
}

} // namespace patchbay
