// SPDX-License-Identifier: BSD-3-Clause
#include "object/several_starts.h"

#include <mutex>

namespace patchbay {

SeveralStarts::SeveralStarts(Progress& waits, std::uint16_t most)
    : _lock(waits.threads()),
      _results(std::make_unique<Result[]>(most)) {
    progress = &waits;
    persistent = true;
    most_starts = most;
}

SeveralStarts::~SeveralStarts() = default;

void SeveralStarts::add_start() noexcept {
    const std::lock_guard lock(_lock);
    if (_started++ == 0) {
        set_active();
    }
}

void SeveralStarts::complete_start(const MPI_Status& result, int code) noexcept {
    const std::lock_guard lock(_lock);
    _results[(_first + _complete++) % most_starts] = {result, code};
    if (_retiring) {
        if (_complete == _started) {
            retire_later(progress->threaded());
        }
    } else if (_complete == 1) {
        show_first();
        complete();
    }
}

// The status and the error of the request are those of its oldest start.
void SeveralStarts::show_first() noexcept {
    const Result& result = _results[_first];
    status = result.status;
    error = result.error;
}

std::uint32_t SeveralStarts::outstanding_starts() const noexcept {
    const std::lock_guard lock(_lock);
    return _started;
}

bool SeveralStarts::has_later_communication() noexcept {
    const std::lock_guard lock(_lock);
    return _complete != _started;
}

void SeveralStarts::end_first_start() noexcept {
    const std::lock_guard lock(_lock);
    _first = (_first + 1) % most_starts;
    --_started;
    --_complete;
    if (_complete != 0) {
        show_first(); // the request stays complete
    } else if (_started != 0) {
        set_active();
    } else {
        set_inactive();
    }
}

int SeveralStarts::retire() noexcept {
    {
        const std::lock_guard lock(_lock);
        if (!_retiring && _complete != _started) {
            _retiring = true;
            return MPI_SUCCESS;
        }
    }
    retire_last();
    return MPI_SUCCESS;
}

} // namespace patchbay
