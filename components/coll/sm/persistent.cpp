// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/sm/persistent.h"

#include <time.h>

namespace patchbay::coll::sm {

void Start::start(int, Completion& done) noexcept {
    if (place().has_failed()) [[unlikely]] {
        done.end(failed_process());
        return;
    }
    begin();
    int code = MPI_SUCCESS;
    if (advance(code)) {
        done.end(code);
        return;
    }
    place().publish_all(); // others may wait for what this member has completed
    _done = &done;
    _starts->add(*this);
}

void Starts::add(Start& start) noexcept {
    const std::lock_guard lock(_lock);
    _waiting.push_back(start);
    if (!_poller) {
        _poller = _progress.add_poller(&Starts::poll, this);
    }
}

// A member that has failed rings no doorbell; a process that sleeps polls once a second at least.
bool Starts::is_time_to_look() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const std::int64_t ms = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
    if (ms - _last_look < between_looks.count()) {
        return false;
    }
    _last_look = ms;
    return true;
}

// Only polls take starts out of the list, so that the next one of an element stays what it is.
int Starts::advance_all() noexcept {
    const auto locked = [this](const auto& read) {
        const std::lock_guard lock(_lock);
        return read();
    };
    Start* start = locked([this] {
        _idle_polls = _waiting.empty() ? _idle_polls + 1 : 0;
        if (_idle_polls > most_idle_polls) {
            _poller.reset();
            _idle_polls = 0;
        }
        return _waiting.first();
    });
    if (start == nullptr) {
        return 0;
    }
    const bool looks = is_time_to_look();
    int events = 0;
    while (start != nullptr) {
        Start* const next = locked([start] { return List<Start, &Start::_link>::next(*start); });
        int code = MPI_SUCCESS;
        bool ended = start->advance(code);
        if (!ended && looks && start->place().look_for_failures()) {
            code = failed_process();
            ended = true;
        }
        if (ended) {
            locked([this, start] {
                _waiting.erase(*start);
                return 0;
            });
            ++events;
            start->_done->end(code); // the operation may be started again, or be gone
        }
        start = next;
    }
    return events;
}

} // namespace patchbay::coll::sm
