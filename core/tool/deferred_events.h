// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/ready_list.h"
#include "core/tool/source.h"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace [[gnu::visibility("default")]] patchbay {

class Progress;

// Events that happen while their module is locked: they are kept with their time, and the poll under way, or the next
// one, raises them after its pollers, without a lock. The module locks the calls of add().
class DeferredEvents : private ReadyItem {
public:
    explicit DeferredEvents(Progress& progress) noexcept
        : ReadyItem{&ReadyItem::call<DeferredEvents, &DeferredEvents::raise_all>, nullptr},
          _progress(progress) {}
    // No poll runs any more. What is left is not raised.
    ~DeferredEvents();
    DeferredEvents(const DeferredEvents&) = delete;
    DeferredEvents& operator=(const DeferredEvents&) = delete;

    // `point` must be wanted, and exist as long as this object. `object` need not exist when the event is raised: tools
    // compare its address.
    void add(EventPoint& point, const void* object, std::initializer_list<std::int64_t> values) noexcept;

private:
    friend struct ReadyItem;
    struct Kept {
        Kept* next;
        EventPoint* point;
        const void* object;
        std::int64_t time;
        std::array<std::int64_t, most_event_elements> values;
        std::size_t count;
    };
    void raise_all() noexcept;

    Progress& _progress;
    std::atomic<Kept*> _last{nullptr}; // the last one first; not null: this item is linked
};

} // namespace patchbay
