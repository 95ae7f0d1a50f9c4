// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"
#include "core/progress/lock.h"
#include "core/progress/waiter.h"
#include "object/request.h"

#include <mutex>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

// Requests whose handles were released while other processes may still need this one's part of their operations. Their
// owner adds one in Request::prepare_release(), and removes it in retire(). Thread-safe.
class ReleasedList {
public:
    // The place of a request, which is a member of it.
    struct Entry {
        explicit Entry(Request& of) noexcept
            : request(of) {}
        Request& request;
        Link<Entry> link{};
        bool listed = false; // protected by the lock of the list
    };

    void add(Entry& entry) noexcept {
        const std::lock_guard lock(_lock);
        entry.listed = true;
        _entries.push_back(entry);
    }
    // If it is in the list.
    void remove(Entry& entry) noexcept {
        const std::lock_guard lock(_lock);
        if (std::exchange(entry.listed, false)) {
            _entries.erase(entry);
        }
    }
    // Calls act(request) for each, with the lock held.
    template <class Act>
    void for_each(const Act& act) noexcept {
        const std::lock_guard lock(_lock);
        for (Entry* entry = _entries.first(); entry != nullptr; entry = decltype(_entries)::next(*entry)) {
            act(entry->request);
        }
    }
    // Waits until is_needed(request) is false for each request of the session (nullptr: of the world model). Blocks.
    template <class Needed>
    void wait(Progress& progress, const Session* session, const Needed& is_needed) noexcept {
        wait_until(progress, [&] {
            bool needed = false;
            for_each([&](Request& request) { needed = needed || (request.session == session && is_needed(request)); });
            return !needed;
        });
    }

private:
    ProgressLock _lock{true};
    List<Entry, &Entry::link> _entries;
};

} // namespace patchbay
